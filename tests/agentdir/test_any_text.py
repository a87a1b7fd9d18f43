"""Whatever stands in an owner's files: reading them ends, raises nothing, and names a line that is there."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agentdir.folder import read_folder
from tests.agentdir.tree import tree

PIECES = (
    *("@", "@a.md", "@../b", "@/etc/passwd", "@~", "@a.md#x", "\\ ", "`", "```", "~~~\n", "    ", "\n", "\n\n"),
    *("---\n", "# ", "name: a\n", "description: x\n", "metadata:\n  b: &c [*c]\n", "? [x]\n: y\n", "1: 2\n", "- "),
    *("[x](", ")", "](a.md)", "[x](%00)", "x" * 300, "@" + "y" * 300, "\x00", "\u2028", "é", "🙂", "\t", "<!--", "-->"),
)
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map("".join)


@settings(deadline=None)
@given(main=TEXT, other=TEXT, front=TEXT, body=TEXT)
def test_reading_never_fails_and_every_fault_is_in_a_line_of_its_file(
    main: str, other: str, front: str, body: str
) -> None:
    files = {
        "AGENTS.md": main,
        "a.md": other,
        "skills/a/SKILL.md": f"---\nname: a\ndescription: x\n{front}\n---\n{body}",
        "skills/b/SKILL.md": f"{front}{body}",
    }
    with TemporaryDirectory() as folder:
        owned = read_folder(tree(Path(folder), {name: text.encode("utf-8", "replace") for name, text in files.items()}))
    for fault in owned.faults:
        text = files.get(fault.file, "")
        assert 0 <= fault.line <= text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1, fault
        assert fault.message.strip() == fault.message and "\n" not in fault.message, fault
