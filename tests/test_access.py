"""Nobody gets in by accident."""

import pytest

from bot.access import NEVER, Access, read_access
from bot.messages import Person
from tests.say import ANN


def lets_in(person_id: str, *, owner: str = "", allowed: str = "") -> bool:
    return read_access(owner, allowed).role(Person(person_id)) != ""


@pytest.mark.parametrize("allowed", ["", "  ", " , ", ",,"])
def test_an_empty_list_lets_nobody_in(allowed: str) -> None:
    assert not lets_in("telegram:12", allowed=allowed)
    assert not lets_in("slack:T1:U1", allowed=allowed)
    assert not lets_in("telegram:", allowed=allowed)


def test_a_list_lets_in_exactly_those_on_it() -> None:
    assert [lets_in(f"telegram:{number}", allowed="12, 34") for number in (12, 34, 1, 3, 123, 234)] == [
        *(True, True),
        *(False, False, False, False),
    ]


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("telegram:42", "telegram:42"),
        ("42", "telegram:42"),
        ("slack:T1:U1", "slack:T1:U1"),
        ("slack:U1", "slack:T1:U1"),
        ("terminal:ann", "terminal:ann"),
    ],
)
def test_the_owner_may_be_named_as_anybody_else_on_the_list(name: str, person: str) -> None:
    assert lets_in(person, owner=f" {name} ")
    assert lets_in(person, allowed=f"x, {name}")


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("slack:T1:U1", "slack:T2:U1"),
        ("telegram:42", "slack:T1:42"),
        ("42", "slack:T1:42"),
        ("42", "terminal:42"),
        ("U1", "slack:T1:U1"),
        ("slack:T1", "slack:T1:U1"),
        ("slack", "slack:T1:U1"),
        ("telegram", "telegram:42"),
    ],
)
def test_a_name_of_one_place_is_no_key_to_another(name: str, person: str) -> None:
    assert not lets_in(person, owner=name)
    assert not lets_in(person, allowed=name)


def test_everyone_is_let_in_by_a_star_that_stands_alone() -> None:
    assert lets_in("telegram:12", allowed=" * ")
    assert not lets_in("telegram:12", allowed="*, 34")
    assert not lets_in("telegram:12", owner="*")


@pytest.mark.parametrize("shared", sorted(NEVER))
def test_an_account_that_many_people_share_is_never_let_in(shared: str) -> None:
    number = shared.partition(":")[2]
    assert not lets_in(shared, owner=shared)
    assert not lets_in(shared, allowed=f"{shared}, {number}")
    assert Access(everyone=True).role(Person(shared), "member", "guest") == ""


def test_only_who_is_named_as_the_owner_is_it() -> None:
    assert read_access("42", "").role(Person("telegram:42")) == "owner"
    assert read_access("42", "43").role(Person("telegram:43")) == "member"
    assert read_access("", "*").role(Person("telegram:42")) == "member"


@pytest.mark.parametrize(
    ("given", "chat", "role"),
    [
        ("", "", ""),
        ("member", "", "member"),
        ("guest", "", "guest"),
        ("", "guest", "guest"),
        ("guest", "member", "guest"),
        ("banned", "guest", ""),
    ],
)
def test_a_group_makes_nobody_more_than_a_guest(given: str, chat: str, role: str) -> None:
    assert read_access("42", "").role(Person("telegram:7"), given, chat) == role


@pytest.mark.parametrize(
    ("owner", "person"), [("42", "telegram:42"), ("slack:T1:U1", "slack:T1:U1"), ("", ""), ("x", "")]
)
def test_the_owner_can_be_written_to_where_the_setting_names_one_account(owner: str, person: str) -> None:
    assert read_access(owner, "").owner_id == person


def test_where_the_app_is_in_many_workspaces_an_id_without_one_is_nobody_s() -> None:
    access = read_access("slack:U1", "slack:U2, slack:T1:U3, telegram:7, 8", exact=True)
    named = ("slack:T1:U1", "slack:T1:U2", "slack:T1:U3", "slack:T2:U3", "telegram:7", "telegram:8")
    assert [access.role(Person(person)) for person in named] == ["", "", "member", "", "member", "member"]
    assert read_access("slack:T1:U1", "", exact=True).role(Person("slack:T1:U1")) == "owner"


def test_the_owner_can_not_be_shut_out() -> None:
    assert Access(owner=ANN.id).role(ANN, "banned") == "owner"
