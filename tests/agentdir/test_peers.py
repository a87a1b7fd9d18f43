"""The other agents that an owner names: what is used of the file, and the line of what is wrong in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.agentdir.card import CONVERSATION, Card, Skill, read_card
from bot.agentdir.peers import read_peers
from bot.peers import Peer


def folder(tmp_path: Path, name: str, text: str) -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path


def written(tmp_path: Path, **peers: Any) -> Path:
    return folder(tmp_path, "peers.json", json.dumps({"peers": peers}, indent=1))


def test_agents_are_read_in_the_order_of_their_names_with_what_they_are_not_told_at_its_usual(tmp_path: Path) -> None:
    whole = {
        "url": "https://b.example/agent",
        "description": "Bees",
        "key": "k",
        "headers": {"X-Team": "a"},
        "seconds": 5,
        "ask": False,
    }
    peers, faults = read_peers(written(tmp_path, b=whole, a={"url": "http://10.0.0.1:8080"}))

    headers = {"authorization": "Bearer k", "x-team": "a"}
    assert faults == []
    assert peers == (
        Peer("a", "http://10.0.0.1:8080"),
        Peer("b", "https://b.example/agent", "Bees", headers, 5, asks=False),
    )


def test_no_file_is_no_agents(tmp_path: Path) -> None:
    assert read_peers(tmp_path) == ((), [])
    assert read_card(tmp_path) == (Card(), [])


def test_names_stand_for_values_and_one_without_a_value_is_named_and_never_shown(tmp_path: Path) -> None:
    given = {
        "a": {"url": "${HOST:-https://a.example}", "key": "${KEY}"},
        "b": {"url": "https://b.example", "headers": {"x-key": "${NO_SUCH}"}},
    }
    peers, faults = read_peers(written(tmp_path, **given), {"KEY": "hidden"})

    assert peers == (Peer("a", "https://a.example", headers={"authorization": "Bearer hidden"}),)
    assert [str(fault) for fault in faults] == ["peers.json:10: b: NO_SUCH is not set."]
    assert len(read_peers(tmp_path)[0]) == 2


FAULTS = [
    ('{"peers": [}', 1, "It is not JSON"),
    ("[]", 1, "one JSON object"),
    ('{"agents": {}}', 1, 'It must hold "peers"'),
    ('{"peers": [],\n"x": 1}', 1, 'It must hold "peers"'),
    ('{"peers": {},\n"peer": {}}', 2, "There is no field 'peer' here"),
    ('{"peers": {\n"A b": {"url": "https://x.example"}}}', 2, "is no name"),
    ('{"peers": {\n"a": {}}}', 2, "missing required field `url`"),
    ('{"peers": {\n"a": []}}', 2, "Expected `object`"),
    ('{"peers": {"a": {\n"url": 5}}}', 2, "Expected `str`"),
    ('{"peers": {"a": {\n"url": "ftp://x"}}}', 2, "must look like"),
    ('{"peers": {"a": {\n"url": "x.example"}}}', 2, "must look like"),
    ('{"peers": {"a": {"url": "https://x.example",\n"sec": 5}}}', 2, "There is no field 'sec' here"),
    ('{"peers": {"a": {"url": "https://x.example",\n"seconds": 1}}}', 2, ">= 5"),
    ('{"peers": {"a": {"url": "https://x.example",\n"seconds": 900}}}', 2, "<= 240"),
    ('{"peers": {"a": {"url": "https://x.example",\n"ask": "no"}}}', 2, "Expected `bool`"),
    ('{"peers": {"a": {"url": "https://x.example",\n"headers": {"a b": "x"}}}}', 2, "can not be set as a header"),
    ('{"peers": {"a": {"url": "https://x.example",\n"headers": {"Host": "x"}}}}', 2, "can not be set as a header"),
    ('{"peers": {"a": {"url": "https://x.example",\n"headers": {"x": "a\\nb"}}}}', 2, "a header can not carry"),
    ('{"peers": {"a": {"url": "https://x.example",\n"key": "kü"}}}', 2, "a header can not carry"),
    (
        '{"peers": {"a": {"url": "https://x.example",\n"key": "k", "headers": {"Authorization": "x"}}}}',
        2,
        "one of them is enough",
    ),
]


@pytest.mark.parametrize(("text", "line", "words"), FAULTS)
def test_what_is_wrong_is_named_with_its_line_and_left_out(tmp_path: Path, text: str, line: int, words: str) -> None:
    peers, [fault] = read_peers(folder(tmp_path, "peers.json", text), {})

    assert peers == ()
    assert (fault.file, fault.line) == ("peers.json", line)
    assert words in fault.message


def test_a_faulty_agent_does_not_take_the_others_with_it_and_there_are_at_most_twenty(tmp_path: Path) -> None:
    many = {f"a{number:02}": {"url": "https://x.example"} for number in range(25)}
    peers, faults = read_peers(written(tmp_path, **{**many, "a03": {"url": ""}}))

    assert len(peers) == 19
    assert [fault.message.partition(":")[0] for fault in faults] == ["More than 20 agents", "a03"]


def test_a_card_says_what_the_owner_wrote(tmp_path: Path) -> None:
    skill = {"id": "stock", "name": "Stock", "description": "What there is."}
    card, faults = read_card(folder(tmp_path, "card.json", json.dumps({"name": "Warung", "skills": [skill]})))

    assert (card.name, card.description, faults) == ("Warung", Card().description, [])
    assert card.skills == (Skill("stock", "Stock", "What there is."),)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"name": ""}', 1, "length >= 1"),
        ('{"skills":\n[]}', 1, "length >= 1"),
        ('{"skills": [\n{"id": "a", "name": "A"}]}', 2, "missing required field `description`"),
        ('{"nam": "x"}', 1, "There is no field 'nam' here"),
        (
            '{"skills": [{"id": "a", "name": "A", "description": "a"},\n{"id": "a", "name": "B", "description": "b"}]}',
            2,
            "two skills with the id 'a'",
        ),
    ],
)
def test_a_faulty_card_is_named_and_the_usual_one_is_shown(tmp_path: Path, text: str, line: int, words: str) -> None:
    card, [fault] = read_card(folder(tmp_path, "card.json", text))

    assert (card, card.skills) == (Card(), (CONVERSATION,))
    assert fault.line == line and words in fault.message
