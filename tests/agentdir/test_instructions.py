"""The owner's instructions, with the files they include."""

from itertools import pairwise
from pathlib import Path

import pytest

from bot.agentdir.documents import Fault
from bot.agentdir.instructions import DEEPEST, LONGEST, Instructions, read_instructions
from tests.agentdir.tree import tree


def test_no_instructions_are_fine(tmp_path: Path) -> None:
    assert read_instructions(tmp_path) == (Instructions(), [])


def test_a_line_that_only_includes_gives_way_and_another_is_followed_by_what_it_includes(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "AGENTS.md": "# Who\n\n@who.md\n- Prices: see @data/prices.md, and ask.\nEnd.\n",
            "who.md": "You are Ann.\n",
            "data/prices.md": "Tea 3\n@more.md\n",
            "data/more.md": "Coffee 5\n",
        },
    )
    assert read_instructions(tmp_path) == (
        Instructions(
            "# Who\n\nYou are Ann.\n- Prices: see @data/prices.md, and ask.\nTea 3\nCoffee 5\nEnd.\n",
            ("AGENTS.md", "who.md", "data/prices.md", "data/more.md"),
        ),
        [],
    )


@pytest.mark.parametrize(
    "line",
    [
        "`@who.md`",
        "Say ``a ` @who.md``.",
        "```\n@who.md\n```",
        "~~~md\n@who.md",
        "\n    @who.md\n",
        "ann@who.md",
        "Ask @ann or @budi_99.",
        "@",
        "@@",
        "A span `that ends\nin the next line @who.md` too.",
    ],
)
def test_code_addresses_and_names_of_people_include_nothing(tmp_path: Path, line: str) -> None:
    tree(tmp_path, {"AGENTS.md": line, "who.md": "WHO"})
    assert read_instructions(tmp_path) == (Instructions(line, ("AGENTS.md",)), [])


@pytest.mark.parametrize("word", ["@who.md", "@./who.md", "@sub/../who.md", "@who", "@who.md#part", "@my\\ file.md"])
def test_every_way_to_name_a_file_of_the_folder_includes_it(tmp_path: Path, word: str) -> None:
    tree(tmp_path, {"AGENTS.md": word, "who.md": "IN", "who": "IN", "my file.md": "IN", "sub/": ""})
    instructions, faults = read_instructions(tmp_path)
    assert (instructions.text, faults) == ("IN", [])


def test_claude_md_is_read_where_there_is_no_agents_md_and_included_where_that_says_so(tmp_path: Path) -> None:
    tree(tmp_path, {"CLAUDE.md": "Be kind."})
    assert read_instructions(tmp_path) == (Instructions("Be kind.", ("CLAUDE.md",)), [])
    tree(tmp_path, {"AGENTS.md": "@CLAUDE.md\n"})
    assert read_instructions(tmp_path) == (Instructions("Be kind.\n", ("AGENTS.md", "CLAUDE.md")), [])


@pytest.mark.parametrize("second", ["->AGENTS.md", "@AGENTS.md\n"])
def test_a_claude_md_that_only_leads_to_agents_md_is_no_second_voice(tmp_path: Path, second: str) -> None:
    tree(tmp_path, {"AGENTS.md": "Be kind.", "CLAUDE.md": second})
    assert read_instructions(tmp_path) == (Instructions("Be kind.", ("AGENTS.md",)), [])


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("@gone.md", "There is no file gone.md"),
        ("@sub/", "There is no file sub/"),
        ("@../secret.md", "leads out of the folder"),
        ("@/etc/passwd", "leads out of the folder"),
        ("@~/.ssh/config", "leads out of the folder"),
        ("@link.md", "leads out of the folder"),
        ("@folder/secret.md", "leads out of the folder"),
    ],
)
def test_what_can_not_be_included_is_named_and_its_line_stays(tmp_path: Path, word: str, words: str) -> None:
    (tmp_path / "secret.md").write_text("SECRET")
    folder = tree(
        tmp_path / "agent",
        {
            "AGENTS.md": f"One\n{word}\n",
            "link.md": "->../secret.md",
            "folder": "->..",
            "sub/": "",
        },
    )
    instructions, faults = read_instructions(folder)
    assert instructions.text == f"One\n{word}\n"
    assert [(fault.file, fault.line) for fault in faults if words in fault.message] == [("AGENTS.md", 2)]


def test_an_include_that_is_no_text_is_named_itself_and_its_line_stays(tmp_path: Path) -> None:
    tree(tmp_path, {"AGENTS.md": "@a.png\n@a.png", "a.png": b"\x89PNG\xff"})
    instructions, faults = read_instructions(tmp_path)
    assert instructions.text == "@a.png\n@a.png"
    assert faults == [Fault("a.png", 1, "It is not UTF-8 text.")]


def test_a_circle_is_named_with_its_way_and_ends(tmp_path: Path) -> None:
    tree(tmp_path, {"AGENTS.md": "A\n@b.md\n", "b.md": "B\n@c.md\n", "c.md": "C\n\n@b.md\n"})
    instructions, faults = read_instructions(tmp_path)
    assert instructions.text == "A\nB\nC\n\n@b.md\n"
    assert faults == [Fault("c.md", 3, "b.md includes c.md includes b.md: it would never end.")]


def test_files_include_each_other_only_so_deep(tmp_path: Path) -> None:
    names = [f"{number}.md" for number in range(DEEPEST + 2)]
    tree(tmp_path, {name: f"{name}\n@{after}\n" for name, after in pairwise(names)})
    tree(tmp_path, {"AGENTS.md": "@0.md"})
    instructions, faults = read_instructions(tmp_path)
    assert instructions.text.splitlines()[-2:] == [f"{DEEPEST - 1}.md", f"@{DEEPEST}.md"]
    assert [(fault.file, fault.line) for fault in faults] == [(f"{DEEPEST - 1}.md", 2)]


def test_all_together_stay_within_a_bound_however_often_something_is_included(tmp_path: Path) -> None:
    tree(tmp_path, {"AGENTS.md": "@a.md\n" * 20, "a.md": "@b.md\n" * 20, "b.md": "word " * 500})
    instructions, faults = read_instructions(tmp_path)
    assert 0.9 * LONGEST < len(instructions.text) <= LONGEST + 5_000
    assert faults and all("would have more than" in fault.message for fault in faults)


def test_main_instructions_that_are_too_long_are_cut_at_a_line_that_is_named(tmp_path: Path) -> None:
    tree(tmp_path, {"AGENTS.md": "0123456789 sentence\n" * 6_000})
    instructions, [fault] = read_instructions(tmp_path)
    assert instructions.text.count("\n") + 2 == fault.line == 5_001
    assert instructions.text.endswith("sentence")
