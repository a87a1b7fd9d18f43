"""What a script says about itself at its top: inline metadata, PEP 723. Pure."""

import re
import tomllib

from bot.sandbox.port import CanNotRun

BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""PEP 723's own expression."""
REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9])"
    r"\s*(\[[A-Za-z0-9._, -]*\])?\s*([<>=!~]=?=?\s*[A-Za-z0-9.*+!_-]+\s*(,\s*[<>=!~]=?=?\s*[A-Za-z0-9.*+!_-]+\s*)*)?"
)
"""A name with extras and versions. No address, no path, no marker, no option of an installer."""
MOST = 20


def dependencies(code: str) -> tuple[str, ...]:
    """The libraries that a script asks for, () where it asks for none. Raises CanNotRun where it does so wrongly."""
    blocks = [found for found in BLOCK.finditer(code) if found["type"] == "script"]
    if not blocks:
        return ()
    if len(blocks) > 1:
        raise CanNotRun("The script has more than one block of metadata: keep one.")
    lines = blocks[0]["content"].splitlines()
    try:
        wanted = tomllib.loads("\n".join(line[2:] for line in lines)).get("dependencies", [])
    except tomllib.TOMLDecodeError as error:
        raise CanNotRun(f"The script's metadata is no TOML: {error}.") from None
    if not isinstance(wanted, list) or len(wanted) > MOST:
        raise CanNotRun(f"dependencies must be a list of at most {MOST} requirements.")
    for each in wanted:
        if not isinstance(each, str) or not REQUIREMENT.fullmatch(each.strip()):
            raise CanNotRun(f"{each!r} can not be asked for: only names with versions, such as 'rich>=13'.")
    return tuple(each.strip() for each in wanted)


def name_of(requirement: str) -> str:
    """As names of distributions are compared (PEP 503)."""
    found = REQUIREMENT.fullmatch(requirement)
    return re.sub(r"[-_.]+", "-", found["name"]).lower() if found else ""
