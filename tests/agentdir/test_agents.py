"""Agents that an owner wrote: what can be used of them, and the line of what can not."""

from pathlib import Path

import pytest

from bot.agentdir.agents import MOST, AgentFile, AgentLimits, read_agents
from bot.agentdir.documents import Fault
from scripts.imports import ROOT

TOOLS = {"calculator", "web_search"}
GOOD = "---\nname: scout\ndescription: Looks.\n---\nLook.\n"


def agents(folder: Path, tools: set[str] | None = None, **files: str) -> tuple[list[AgentFile], list[Fault]]:
    (folder / "agents").mkdir()
    for name, text in files.items():
        (folder / "agents" / f"{name}.md").write_text(text)
    return read_agents(folder, tools)


def test_an_agent_is_its_front_matter_and_its_instructions(tmp_path: Path) -> None:
    front = "name: scout\ndescription: |\n  Looks\n  ahead.\nmodel: m\ntools: [calculator]\nlimits: {seconds: 60}\n"
    scout = AgentFile("scout", "Looks ahead.", "Look.", "m", ("calculator",), AgentLimits(model_calls=12, seconds=60))
    assert agents(tmp_path, TOOLS, scout=f"---\n{front}---\n\nLook.\n") == ([scout], [])


def test_what_an_agent_leaves_out_is_left_to_us(tmp_path: Path) -> None:
    assert agents(tmp_path, scout=GOOD) == ([AgentFile("scout", "Looks.", "Look.")], [])


@pytest.mark.parametrize(
    ("front", "line", "words"),
    [
        ("name: Scout\ndescription: x", 2, "A name must be"),
        ("name: guide\ndescription: x", 2, "must be that of the file"),
        ("name: scout", 2, "missing required field `description`"),
        ("name: scout\ndescription: ''", 3, "length >= 1"),
        (f"name: scout\ndescription: {'x' * 501}", 3, "length <= 500"),
        ("name: scout\ndescription: x\ntool: [calculator]", 4, "There is no field 'tool' here."),
        ("name: scout\ndescription: x\ntools:\n- calculator\n- telescope", 6, "There is no tool 'telescope'."),
        ("name: scout\ndescription: x\ntools: [delegate]", 4, "can not give any"),
        ("name: scout\ndescription: x\ntools: calculator", 4, "Expected `array"),
        ("name: scout\ndescription: x\nlimits: {model_calls: 0}", 4, "`int` >= 1"),
        ("name: scout\ndescription: x\nlimits:\n  seconds: 9999", 5, "`int` <= 3600"),
        ("name: scout\ndescription: x\nlimits: {minutes: 1}", 4, "There is no field 'minutes' here."),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_the_agent_left_out(
    front: str, line: int, words: str, tmp_path: Path
) -> None:
    good = GOOD.replace("scout", "other")
    found, [fault] = agents(tmp_path, TOOLS, other=good, scout=f"---\n{front}\n---\nLook.\n")
    assert [each.name for each in found] == ["other"]
    assert (fault.file, fault.line) == ("agents/scout.md", line)
    assert words in fault.message


def test_an_agent_without_instructions_is_a_fault_below_its_front_matter(tmp_path: Path) -> None:
    _, [fault] = agents(tmp_path, scout="---\nname: scout\ndescription: x\n---\n\n")
    assert str(fault) == "agents/scout.md:5: Below the second line --- must be its instructions."


def test_every_unknown_tool_is_named_where_it_is_known_which_there_are(tmp_path: Path) -> None:
    text = "---\nname: scout\ndescription: x\ntools: [a, b]\n---\nLook.\n"
    assert len(agents(tmp_path, TOOLS, scout=text)[1]) == 2
    assert len(read_agents(tmp_path)[0]) == 1


def test_no_folder_is_no_agent_and_no_fault(tmp_path: Path) -> None:
    assert read_agents(tmp_path) == ([], [])


def test_there_is_room_for_so_many_and_the_others_are_named(tmp_path: Path) -> None:
    files = {f"a{number:02}": GOOD.replace("scout", f"a{number:02}") for number in range(MOST + 1)}
    found, [fault] = agents(tmp_path, None, **files)
    assert (len(found), fault.file) == (MOST, f"agents/a{MOST}.md")


def test_ours_are_good() -> None:
    found, faults = read_agents(ROOT / "agent")
    assert [agent.name for agent in found] == ["reader", "researcher"]
    assert faults == []
