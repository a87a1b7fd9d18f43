"""Files that an owner wrote: what they hold, and the line of what is wrong in them."""

from pathlib import Path

import pytest
from msgspec import Struct

from bot.agentdir.documents import Document, Fault, as_json, fitted, text_of, with_front_matter


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    model_calls: int = 5


class Helper(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    tools: tuple[str, ...] = ()
    limits: Limits = Limits()


def front(yaml: str, body: str = "Do it.\n") -> Document | Fault:
    return with_front_matter(f"---\n{yaml}---\n{body}", "agents/a.md")


def helper(yaml: str) -> Helper | Fault:
    document = front(yaml)
    assert isinstance(document, Document)
    return fitted(document, Helper)


def test_front_matter_is_data_and_what_follows_is_the_body() -> None:
    document = front("name: a\ntools:\n  - calculator\n", "# Title\n")
    assert isinstance(document, Document)
    assert fitted(document, Helper) == Helper("a", ("calculator",))
    assert (document.body, document.body_line) == ("# Title\n", 6)


@pytest.mark.parametrize(
    ("yaml", "line", "words"),
    [
        ("name: 1\n", 2, "Expected `str`, got `int` (name)"),
        ("tools: []\n", 2, "missing required field `name`"),
        ("name: a\ntools:\n  - x\n  - 3\n", 5, "Expected `str`, got `int` (tools[1])"),
        ("name: a\nlimits:\n  model_call: 3\n", 4, "There is no field 'model_call' here."),
        ("name: a\nlimits:\n  model_calls: many\n", 4, "Expected `int`, got `str` (limits.model_calls)"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(yaml: str, line: int, words: str) -> None:
    fault = helper(yaml)
    assert isinstance(fault, Fault)
    assert fault.line == line and words in fault.message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: a\n", 1),
        ("---\nname: a\n", 1),
        ("---\nname: [a\n---\n", 3),
        ("---\nname: a\n  b: c\n---\n", 3),
        ("---\n- a\n---\n", 2),
        ("---\nwhen: 2026-13-40\n---\n", 2),
        ("---\na: !!python/object/apply:os.system [id]\n---\n", 2),
        ("", 1),
    ],
)
def test_what_is_no_front_matter_is_a_fault_with_its_line(text: str, line: int) -> None:
    fault = with_front_matter(text, "x.md")
    assert isinstance(fault, Fault)
    assert fault.line == line, fault


def test_names_for_names_for_names_take_no_time() -> None:
    levels = "".join(f"l{number}: &l{number} [{', '.join([f'*l{number - 1}'] * 9)}]\n" for number in range(1, 30))
    document = front(f"l0: &l0 [x]\n{levels}")
    assert isinstance(document, Document)
    assert document.line(".l29") == 31


def test_json_knows_the_lines_of_its_parts_also_behind_tabs() -> None:
    document = as_json('{\n\t"a": {\n\t\t"b": [1,\n\t\t\t{"c": 2}]\n\t}\n}\n', "mcp.json")
    assert isinstance(document, Document)
    assert [document.line(path) for path in (".a", ".a.b", ".a.b[1].c", ".a.b[7].d", "")] == [2, 3, 4, 3, 1]


@pytest.mark.parametrize(("text", "line"), [('{"a": 1,\n}', 2), ("[]", 1), ("", 1), ("[" * 100_000, 0)])
def test_what_is_no_json_object_is_a_fault_with_its_line(text: str, line: int) -> None:
    fault = as_json(text, "mcp.json")
    assert isinstance(fault, Fault)
    assert fault.line == line


def test_a_file_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"one\ntwo \xff\n")
    (tmp_path / "b.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r")
    assert text_of(tmp_path, "a.md") == Fault("a.md", 2, "It is not UTF-8 text.")
    assert text_of(tmp_path, "b.md") == "one\ntwo\n"
    assert isinstance(text_of(tmp_path, "c.md"), Fault)
    assert str(Fault("c.md", 0, "Gone.")) == "c.md: Gone."
