"""docs/runbook.md: whoever is woken by an alarm finds what to do, and what it says to look for is there."""

import ast
import re
from functools import cache

import pytest

from bot.logs import KEYED
from scripts.imports import ROOT
from tests.packages.template import read_template

RUNBOOK = (ROOT / "docs/runbook.md").read_text()
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", RUNBOOK, re.DOTALL | re.MULTILINE))
RESOURCES = read_template()["Resources"]
ALARMS = {name: each for name, each in RESOURCES.items() if each["Type"] == "AWS::CloudWatch::Alarm"}
DASHBOARD: str = RESOURCES["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
QUERIES = re.findall(r"^```\n(fields .*?)^```", RUNBOOK, re.DOTALL | re.MULTILINE)
QUERIES += re.findall(r"fields @timestamp[^\"]*", DASHBOARD)
FUNCTIONS = {"count", "max", "sum"}
GRAMMAR = {"fields", "filter", "stats", "sort", "limit", "by", "as", "and", "in", "like", "desc"}


@cache
def lines_of_ours() -> list[str]:
    """Every template of a line of the log."""
    return [
        node.value
        for top in ("bot", "handlers")
        for file in (ROOT / top).rglob("*.py")
        if " | " in (source := file.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " | " in node.value
    ]


ALWAYS = {"@timestamp", "level", "logger", "message", "trace", "turn", "conversation"}


def test_every_alarm_has_a_section_and_every_section_an_alarm() -> None:
    assert list(SECTIONS) == list(ALARMS)


@pytest.mark.parametrize("name", ALARMS)
def test_an_alarm_names_its_section_which_says_what_people_see_what_to_do_and_when_it_is_over(name: str) -> None:
    assert f"docs/runbook.md, {name}." in ALARMS[name]["Properties"]["AlarmDescription"]
    for part in ("**In the chat:**", "**Look at**", "**Mend", "**Over when**"):
        assert part in SECTIONS[name]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_only_for_what_our_lines_have(query: str) -> None:
    texts = re.findall(r'"([^"]*)"|\'([^\']*)\'', query)
    named = set(re.findall(r"@?[a-z_]+", re.sub(r'"[^"]*"|\'[^\']*\'', "", query)))
    made = set(re.findall(r" as (\w+)", query))

    lines = [line.partition(" | ") for line in lines_of_ours()]
    keys = {key for fields, _, _ in lines for key, _ in KEYED.findall(fields)}
    assert named - GRAMMAR - FUNCTIONS - made <= ALWAYS | keys
    said = [sentence for _, _, sentence in lines]
    for text in filter(None, (double or single for double, single in texts)):
        assert text == "ERROR" or any(text in line for line in said)


def test_what_it_names_is_there() -> None:
    parameters = read_template()["Parameters"]
    named = set(re.findall(r"`([A-Z][A-Za-z]+)`", RUNBOOK))
    elsewhere = {"DeadLettersUrl", "StoreUnavailable", "ConfigError", "AccessDenied", "REPORT"}
    errors = {"ModelUnavailable", "ModelRefusedRequest", "PromptTooLong"}

    assert named - elsewhere - errors <= set(parameters)
    titles = set(re.findall(r'"([A-Z][^"]+)"', RUNBOOK))
    assert {"What came in", "What goes wrong", "How long people wait", "Turns by how they ended"} <= titles
    assert all(title in DASHBOARD for title in titles & {"What came in", "What goes wrong", "How long people wait"})
