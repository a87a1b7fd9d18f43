"""What the bot answers by itself."""

import pytest

from bot.commands import Told, answer
from bot.messages import Person
from tests.say import ANN, BUDI, inbound


def told(command: str, text: str = "", sender: Person = ANN) -> Told | None:
    return answer(inbound(text, command=command, sender=sender))


@pytest.mark.parametrize("command", ["start", "help"])
def test_help_names_every_command(command: str) -> None:
    page = told(command, "payload")
    assert page is not None
    assert all(each in page.text for each in ("/new", "/stop", "/meanwhile", "/usage", "/help"))


@pytest.mark.parametrize("command", ["new", "reset"])
def test_a_new_conversation_begins_with_nothing_said_before(command: str) -> None:
    page = told(command)
    assert page is not None
    assert page.fresh


@pytest.mark.parametrize("choice", ["steer", "queue", "interrupt"])
def test_what_a_message_does_meanwhile_can_be_chosen(choice: str) -> None:
    page = told("meanwhile", f" {choice.upper()} ")
    assert page is not None
    assert page.meanwhile == choice


@pytest.mark.parametrize("text", ["", "later", "steer queue"])
def test_a_choice_that_there_is_not_changes_nothing_and_names_those_there_are(text: str) -> None:
    page = told("meanwhile", text)
    assert page is not None
    assert page.meanwhile is None
    assert all(f"/meanwhile {each}" in page.text for each in ("steer", "queue", "interrupt"))


def test_usage_is_a_page_that_only_the_store_can_fill() -> None:
    assert told("usage") == Told("", page="usage")


def test_answers_come_in_the_language_of_who_asks() -> None:
    page = told("stop", sender=BUDI)
    assert page == Told("Tidak ada yang sedang berjalan.")


@pytest.mark.parametrize("command", ["", "draw", "quit"])
def test_what_is_not_ours_is_left_to_the_model(command: str) -> None:
    assert told(command, "hello") is None
