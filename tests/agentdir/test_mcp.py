"""``agent/mcp.json``: what it configures, and the line of what is wrong in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.agentdir.documents import Fault
from bot.agentdir.mcp import read_servers
from bot.mcp.configured import Address, Auth, Command, Server


def written(folder: Path, text: str) -> Path:
    (folder / "mcp.json").write_text(text)
    return folder


def servers(folder: Path, **each: Any) -> Path:
    return written(folder, json.dumps({"mcpServers": each}))


def test_no_file_means_no_servers(tmp_path: Path) -> None:
    assert read_servers(tmp_path) == ((), [])


def test_programs_and_addresses_are_read_with_what_we_add_to_them(tmp_path: Path) -> None:
    auth = {"client_id": "us", "client_secret": "${SECRET}", "token_url": "https://id.example/token"}
    folder = servers(
        tmp_path,
        time={"command": "mcp-server-time", "args": ["--local-timezone", "UTC"], "env": {"A": "b"}, "ask": []},
        tickets={"type": "http", "url": "https://x.example/mcp", "auth": auth, "deny": ["delete_*"], "seconds": 5},
        off={"command": "x", "disabled": True},
    )
    (time, tickets), faults = read_servers(folder, {"SECRET": "s3cret"})
    assert faults == []
    assert time.at == Command("mcp-server-time", ("--local-timezone", "UTC"), {"A": "b"})
    assert (time.ask, time.seconds, time.result_chars) == ((), 60, 20_000)
    assert isinstance(tickets.at, Address)
    assert tickets.at.auth == Auth("us", "s3cret", "https://id.example/token")
    assert [tickets.allows(name) for name in ("find", "delete_all")] == [True, False]


def test_names_are_replaced_by_their_values_everywhere_and_a_default_stands_in(tmp_path: Path) -> None:
    folder = servers(
        tmp_path,
        a={"command": "${BIN:-run}", "args": ["--to", "${TO}${TO}"], "env": {"KEY": "k-${KEY}"}},
        b={"url": "${URL}", "headers": {"Authorization": "Bearer ${KEY}"}},
    )
    values = {"TO": "x", "KEY": "1", "URL": "https://y.example"}
    (a, b), faults = read_servers(folder, values)
    assert faults == []
    assert a.at == Command("run", ("--to", "xx"), {"KEY": "k-1"})
    assert b.at == Address("https://y.example", {"Authorization": "Bearer 1"})
    raw, faults = read_servers(folder)
    assert faults == [] and raw[1].at == Address("${URL}", {"Authorization": "Bearer ${KEY}"})


def test_a_name_without_a_value_leaves_its_server_out_and_is_named_with_its_line(tmp_path: Path) -> None:
    text = '{"mcpServers": {\n"a": {"command": "x",\n"env": {\n"K": "${MISSING}"}},\n"b": {"command": "${HERE}"}}}'
    found, faults = read_servers(written(tmp_path, text), {"HERE": "secret-value", "MISSING": ""})
    assert [server.name for server in found] == ["b"]
    assert faults == [Fault("mcp.json", 4, "a: MISSING is not set.")]


def test_what_is_kept_of_a_server_depends_on_its_configuration_and_on_no_secret(tmp_path: Path) -> None:
    def key(values: dict[str, str] | None = None, **more: Any) -> str:
        (server,), _ = read_servers(servers(tmp_path, a={"url": "https://x", "headers": {"X": "${S}"}, **more}), values)
        return server.key

    assert key({"S": "one"}) == key({"S": "two"}) == key() == key(deny=["x"], seconds=3)
    assert key({"S": "one"}) != key({"S": "one"}, headers={"X": "${T:-}"})


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("{", 1, "It is not JSON"),
        ("{}", 1, 'must hold "mcpServers"'),
        ('{"mcpServers": []}', 1, 'must hold "mcpServers"'),
        ('{"mcpServers": {\n"a": 3}}', 2, "Expected `object`"),
        ('{"mcpServers": {\n"": {"command": "x"}}}', 2, "1 to 64 characters"),
        ('{"mcpServers": {\n"a": {}}}', 2, "a: It needs either a command or a url."),
        ('{"mcpServers": {\n"a": {"command": "x",\n"url": "http://y"}}}', 2, "either a command or a url"),
        ('{"mcpServers": {"a": {"command": "x",\n"autoApprove": ["*"]}}}', 2, "There is no field 'autoApprove'"),
        ('{"mcpServers": {"a": {"command": "x",\n"args": "y"}}}', 2, "Expected `array`, got `str`"),
        ('{"mcpServers": {"a": {\n"type": "sse", "url": "https://x"}}}', 2, "streamable HTTP"),
        ('{"mcpServers": {"a": {\n"type": "http", "command": "x"}}}', 2, "of type stdio"),
        ('{"mcpServers": {"a": {"command": "x",\n"headers": {"A": "b"}}}}', 2, "with a command has no headers"),
        ('{"mcpServers": {"a": {"url": "https://x",\n"env": {"A": "b"}}}}', 2, "with a url has no env"),
        ('{"mcpServers": {"a": {\n"url": "file:///x"}}}', 2, "must begin with https://"),
        ('{"mcpServers": {"a": {"command": "x",\n"seconds": 0}}}', 2, "above 0 and at most 600"),
        ('{"mcpServers": {"a": {"url": "https://x",\n"auth": {"client_id": "a"}}}}', 2, "client_secret"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    found, faults = read_servers(written(tmp_path, text), {})
    assert found == ()
    assert [fault.line for fault in faults] == [line]
    assert words in faults[0].message, faults


def test_a_fault_leaves_the_other_servers(tmp_path: Path) -> None:
    found, faults = read_servers(servers(tmp_path, a={"command": "x", "x": 1}, b={"command": "y"}))
    assert [server.name for server in found] == ["b"] and len(faults) == 1
    assert all(isinstance(server, Server) for server in found)
