"""An owner's folder for a test."""

from collections.abc import Mapping
from pathlib import Path

SKILL = "---\nname: {name}\ndescription: {description}\n---\n{body}\n"


def tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """``files`` by their names in it: one that begins with ``->`` is a link to what follows, and a name that ends with
    ``/`` is an empty folder."""
    for name, content in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content.startswith("->"):
            path.symlink_to(content[2:])
        else:
            path.write_text(content, encoding="utf-8")
    return folder


def skill(name: str, description: str = "Does it.", body: str = "Do it.") -> str:
    return SKILL.format(name=name, description=description, body=body)
