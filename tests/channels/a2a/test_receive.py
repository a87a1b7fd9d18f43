"""Who calls is told by a key, and no key is ever told back."""

import pytest

from bot.channels.a2a.receive import caller, read_keys
from bot.errors import ConfigError

KEYS = {"weather": "0123456789abcdef", "boss": "fedcba9876543210"}


def test_keys_are_pairs_with_spaces_where_people_put_them_and_may_hold_colons() -> None:
    assert read_keys(" weather:0123456789abcdef ,boss: fedcba9876543210,, ") == KEYS
    assert read_keys("a:12345678:90123456") == {"a": "12345678:90123456"}
    assert read_keys(" , ") == {}


@pytest.mark.parametrize(
    "pair",
    ["secretsecretsecret", "a:short", "A b:0123456789abcdef", f"{'a' * 33}:0123456789abcdef", "a:0123456789abcdeé"],
)
def test_a_pair_that_can_not_be_used_is_named_by_its_place_and_not_shown(pair: str) -> None:
    with pytest.raises(ConfigError, match="pair 2 must be") as failed:
        read_keys(f"ok:0123456789abcdef,{pair}")
    assert pair not in str(failed.value)


def test_a_name_has_one_key() -> None:
    with pytest.raises(ConfigError, match="pair 2"):
        read_keys("a:0123456789abcdef,a:fedcba9876543210")


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Bearer 0123456789abcdef", "weather"),
        ("bearer  fedcba9876543210 ", "boss"),
        ("Bearer 0123456789abcdeg", ""),
        ("Bearer ", ""),
        ("", ""),
        ("0123456789abcdef", ""),
        ("Basic 0123456789abcdef", ""),
        ("Bearer \ud800", ""),
    ],
)
def test_a_key_names_its_caller_and_only_as_a_bearer_s(header: str, name: str) -> None:
    assert caller(KEYS, header) == name


def test_no_keys_mean_nobody() -> None:
    assert (caller({}, "Bearer "), caller({}, "")) == ("", "")
