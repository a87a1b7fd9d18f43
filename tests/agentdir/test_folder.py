"""``kabar check``: every kind of mistake in the owner's folder is named with its file and line."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from bot.agentdir.folder import read_folder
from bot.cli.check import check
from tests.agentdir.tree import skill, tree
from tests.cli.process import kabar


class Case(NamedTuple):
    id: str
    files: Mapping[str, str | bytes]
    where: str
    words: str


def front(yaml: str, body: str = "Do it.") -> Mapping[str, str]:
    return {"skills/a/SKILL.md": f"---\n{yaml}\n---\n{body}\n"}


def agent(name: str, more: str = "model: x") -> str:
    return f"---\nname: {name}\ndescription: Does it.\n{more}\n---\nDo it.\n"


OK = "name: a\ndescription: Does it."

MISTAKES = (
    Case("instructions empty", {"AGENTS.md": " \n\n"}, "AGENTS.md:1", "is empty"),
    Case("instructions no text", {"AGENTS.md": b"one\n\xff\n"}, "AGENTS.md:2", "not UTF-8"),
    Case("instructions a folder", {"AGENTS.md/": ""}, "AGENTS.md", "can not be read"),
    Case("instructions a dead link", {"AGENTS.md": "->gone.md"}, "AGENTS.md", "can not be read"),
    Case("instructions a link out", {"AGENTS.md": "->../outside.md"}, "AGENTS.md", "leads out of the folder"),
    Case("instructions too long", {"AGENTS.md": "line\n" * 30_000}, "AGENTS.md:20001", "nothing is read"),
    Case("second instructions", {"AGENTS.md": "x", "CLAUDE.md": "y"}, "CLAUDE.md:1", "not read"),
    Case("include missing", {"AGENTS.md": "a\n\n@tone.md"}, "AGENTS.md:3", "There is no file tone.md"),
    Case("include outside", {"AGENTS.md": "a\n@../outside.md"}, "AGENTS.md:2", "leads out"),
    Case("include by a link out", {"AGENTS.md": "@in.md", "in.md": "->../outside.md"}, "AGENTS.md:1", "leads out"),
    Case("include in a circle", {"AGENTS.md": "@a.md", "a.md": "\n@AGENTS.md"}, "a.md:2", "never end"),
    Case("include no text", {"AGENTS.md": "@a.md", "a.md": b"x\n\xff"}, "a.md:2", "not UTF-8"),
    Case("include too large", {"AGENTS.md": "@a.md", "a.md": "x" * 200_000}, "AGENTS.md:1", "more than 100,000"),
    Case("name misspelled", {"skill/a/SKILL.md": skill("a")}, "skill", "meant to be skills?"),
    Case("name in small letters", {"agents.md": "x"}, "agents.md", "meant to be AGENTS.md?"),
    Case("servers misspelled", {"mcps.json": "{}"}, "mcps.json", "meant to be mcp.json?"),
    Case("file that nobody includes", {"tone.md": "x"}, "tone.md", "write @tone.md into AGENTS.md"),
    Case("skills no folder", {"skills": "x"}, "skills", "must be a folder"),
    Case("skill no folder", {"skills/a.md": skill("a")}, "skills/a.md", "A skill is a folder"),
    Case("skill without its file", {"skills/a/notes.md": "x"}, "skills/a", "There is no SKILL.md"),
    Case("skill file misspelled", {"skills/a/Skill.md": skill("a")}, "skills/a", "must be called SKILL.md"),
    Case("skill file a link out", {"skills/a/SKILL.md": "->../../../outside.md"}, "skills/a", "out of the skill's"),
    Case("skill without front matter", {"skills/a/SKILL.md": "# A\n"}, "skills/a/SKILL.md:1", "must begin with"),
    Case("front matter without end", {"skills/a/SKILL.md": "---\nname: a\n"}, "skills/a/SKILL.md:1", "must begin"),
    Case("no YAML", front("name: a\ndescription: [x"), "skills/a/SKILL.md:4", "not YAML"),
    Case("colon in a description", front("name: a\ndescription: Use when: now"), "skills/a/SKILL.md:3", "not YAML"),
    Case("name missing", front("description: Does it."), "skills/a/SKILL.md:2", "`name`"),
    Case("description missing", front("name: a"), "skills/a/SKILL.md:2", "`description`"),
    Case("description empty", front("name: a\ndescription: ''"), "skills/a/SKILL.md:3", "is empty"),
    Case("description no text", front("description: 3\nname: a"), "skills/a/SKILL.md:2", "Expected `str`"),
    Case("description long", front(f"name: a\ndescription: {'x ' * 600}"), "skills/a/SKILL.md:3", "1,024"),
    Case("name unlike the folder", front("name: b\ndescription: x"), "skills/a/SKILL.md:2", "not that of its folder"),
    Case("name in capitals", front("description: x\nname: A"), "skills/a/SKILL.md:3", "lowercase"),
    Case("name long", {f"skills/{'a' * 65}/SKILL.md": skill("a" * 65)}, f"skills/{'a' * 65}/SKILL.md:2", "64"),
    Case("field unknown", front(f"{OK}\nallowed_tools: Read"), "skills/a/SKILL.md:4", "no field 'allowed_tools'"),
    Case("compatibility long", front(f"{OK}\ncompatibility: {'x' * 501}"), "skills/a/SKILL.md:4", "500"),
    Case("metadata no mapping", front(f"{OK}\nmetadata: x"), "skills/a/SKILL.md:4", "Expected `object`"),
    Case("nothing to do", front(OK, " "), "skills/a/SKILL.md:5", "what is to be done"),
    Case("link to nothing", front(OK, "One\n[form](form.md)"), "skills/a/SKILL.md:6", "no file form.md"),
    Case("file a link out", {**front(OK), "skills/a/x.txt": "->../../../outside.md"}, "skills/a/x.txt", "leads"),
    Case("agent without front matter", {"agents/a.md": "# A"}, "agents/a.md:1", "must begin with"),
    Case("agent unlike its file", {"agents/a.md": agent("b")}, "agents/a.md:2", "must be that of the file"),
    Case("agent with an unknown tool", {"agents/a.md": agent("a", "tools: [web]")}, "agents/a.md:4", "no tool 'web'"),
    Case("agent that delegates", {"agents/a.md": agent("a", "tools: [delegate]")}, "agents/a.md:4", "can not give"),
    Case("agent with an unknown field", {"agents/a.md": agent("a", "tool: x")}, "agents/a.md:4", "no field 'tool'"),
    Case("agent without limits", {"agents/a.md": agent("a", "limits: {seconds: 1}")}, "agents/a.md:4", ">= 10"),
    Case("agent with nothing to do", {"agents/a.md": "---\nname: a\ndescription: x\n---\n"}, "agents/a.md:5", "Below"),
    Case("agent in another file", {"agents/a.txt": "x"}, "agents/a.txt", "ends in .md"),
    Case("files too large", {**front(OK), "skills/a/x.bin": b"x" * 10_000_001}, "skills/a/x.bin", "10 MB"),
)


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.id)
def test_every_kind_of_mistake_is_named_where_it_is(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outside.md").write_text("# Outside\n")
    folder = tree(tmp_path / "agent", {"README.md": "About this folder.", **case.files})
    assert check(folder) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(f"{folder}/{case.where}: ") and case.words in line], lines
    assert len(lines) == 1, lines


def test_a_folder_without_mistakes_is_told_in_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree(tmp_path, {"AGENTS.md": "@who.md", "who.md": "Ann", "skills/a/SKILL.md": skill("a"), ".hidden": "x"})
    assert check(tmp_path) == 0
    assert (
        capsys.readouterr().out
        == "instructions: 3 characters from AGENTS.md, who.md\nskills: a\nagents: none\nservers: none\npeers: none\n"
    )


def test_an_empty_folder_is_no_mistake_and_none_at_all_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path) == 0
    assert capsys.readouterr().out == "instructions: none\nskills: none\nagents: none\nservers: none\npeers: none\n"
    assert check(tmp_path / "gone") == 1
    assert capsys.readouterr().out == (
        f"{tmp_path}/gone: There is no such folder: the bot has no instructions and no skills.\n"
    )


def test_what_is_right_is_used_whatever_is_wrong_beside_it(tmp_path: Path) -> None:
    files = {name: text for case in MISTAKES[13:17] for name, text in case.files.items()}
    tree(tmp_path, {**files, "AGENTS.md": "Be kind.\n@gone.md", "skills/a/SKILL.md": skill("a"), "skills/b/x": "x"})
    owned = read_folder(tmp_path)
    assert owned.instructions.text == "Be kind.\n@gone.md"
    assert [each.name for each in owned.skills] == ["a"]
    assert list(owned.faults) == sorted(owned.faults)


async def test_the_command_names_mistakes_in_the_folder_of_the_settings_and_fails(tmp_path: Path) -> None:
    tree(tmp_path / "mine", {"AGENTS.md": "@gone.md"})
    async with kabar(tmp_path, "check", settings={"KABAR_AGENT_DIR": "mine"}) as command:
        assert await command.ends() == 1
        assert command.output.startswith("mine/AGENTS.md:1: There is no file gone.md")
    tree(tmp_path / "other", {"AGENTS.md": "Be kind."})
    async with kabar(tmp_path, "check", "other") as command:
        assert await command.ends() == 0
        assert (
            command.output
            == "instructions: 8 characters from AGENTS.md\nskills: none\nagents: none\nservers: none\npeers: none\n"
        )
