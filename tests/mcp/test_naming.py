"""What servers' tools are called here."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.mcp.naming import command_names, tool_names
from bot.toolkit import NAME

pairs = st.lists(st.tuples(st.text(max_size=40), st.text(max_size=60)), max_size=12)


def test_a_tool_bears_its_server_s_name() -> None:
    assert tool_names([("time", "now"), ("web-2", "look.up")], ()) == {
        ("time", "now"): "time_now",
        ("web-2", "look.up"): "web-2_look_up",
    }


def test_a_name_that_is_taken_or_meant_twice_gets_a_digest_that_stays() -> None:
    names = tool_names([("web", "search"), ("a", "b_c"), ("a_b", "c")], {"web_search"})
    assert re.fullmatch(r"web_search_[0-9a-f]{8}", names["web", "search"])
    assert names["a", "b_c"] == "a_b_c" and re.fullmatch(r"a_b_c_[0-9a-f]{8}", names["a_b", "c"])
    assert tool_names([("web", "search")], {"web_search"}) == {("web", "search"): names["web", "search"]}


def test_a_command_is_what_telegram_takes() -> None:
    assert command_names([("My Docs", "Code-Review")], ()) == {("My Docs", "Code-Review"): "my_docs_code_review"}
    long = command_names([("documents", "x" * 60)], ())
    assert all(re.fullmatch(r"[a-z0-9_]{1,32}", name) for name in long.values())


@given(pairs)
def test_any_names_become_names_that_the_api_takes_each_once_in_any_order(pairs: list[tuple[str, str]]) -> None:
    names = tool_names(pairs, {"calculator"})
    assert set(names) == set(pairs)
    assert all(NAME.fullmatch(name) for name in names.values())
    assert len(set(names.values())) == len(names) and "calculator" not in names.values()
    assert tool_names(reversed(pairs), {"calculator"}) == names
