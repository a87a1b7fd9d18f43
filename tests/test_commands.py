"""What the bot answers by itself."""

from typing import Any

import pytest
from msgspec.structs import replace

from bot.commands import MENU, Here, Told, answer, is_for_members, menu
from bot.messages import ChatSettings, Person, Place
from bot.settings_page import LONGEST_DATA, changed
from tests.say import ANN, BUDI, GROUP, HERE, inbound

MODELS = ("claude-sonnet-5-5", "claude-haiku-5-5")


def told(command: str, text: str = "", sender: Person = ANN, here: Here | None = None, **more: Any) -> Told | None:
    return answer(inbound(text, command=command, sender=sender, **more), here or Here(models=MODELS))


def test_help_names_every_command() -> None:
    page = told("help", "payload")
    assert page is not None
    assert all(f"/{each} " in page.text for each in MENU)


def test_the_first_hello_is_short() -> None:
    hello = told("start", "payload")
    assert hello is not None
    assert hello.text.startswith("Hello!") and len(hello.text) < 200


@pytest.mark.parametrize(
    ("place", "slash"),
    [(HERE, "/"), (Place("slack:T1:D1", "D1"), "/kabar "), (Place("slack:T1:C1:1.2", "C1", "1.2"), "!")],
)
def test_a_command_that_we_name_is_written_as_it_is_typed_there(place: Place, slash: str) -> None:
    page, hello = told("help", place=place), told("start", place=place)
    assert page is not None and hello is not None
    assert all(f"\n{slash}{each} " in page.text for each in MENU)
    assert hello.text.endswith(f"; {slash}help lists my commands.")


@pytest.mark.parametrize("language", ["en", "id"])
def test_the_menu_fits_into_a_platforms_own(language: str) -> None:
    assert all(0 < len(words) <= 100 and name.islower() and len(name) <= 32 for name, words in menu(language))


@pytest.mark.parametrize("command", ["new", "reset"])
def test_a_new_conversation_begins_with_nothing_said_before(command: str) -> None:
    page = told(command)
    assert page is not None
    assert page.fresh


@pytest.mark.parametrize("choice", ["steer", "queue", "interrupt"])
def test_what_a_message_does_meanwhile_can_be_chosen(choice: str) -> None:
    page = told("meanwhile", f" {choice.upper()} ")
    assert page is not None
    assert page.settings == {"meanwhile": choice}


@pytest.mark.parametrize("text", ["", "later", "steer queue"])
def test_a_choice_that_there_is_not_changes_nothing_and_names_those_there_are(text: str) -> None:
    page = told("meanwhile", text)
    assert page is not None
    assert page.settings == {}
    assert [each.data for each in page.buttons] == [f"set:meanwhile:{each}" for each in ("steer", "queue", "interrupt")]


def test_usage_is_a_page_that_only_the_store_can_fill() -> None:
    assert told("usage") == Told("", page="usage")


def test_answers_come_in_the_language_of_who_asks() -> None:
    page = told("stop", sender=BUDI)
    assert page == Told("Tidak ada yang sedang berjalan.")


@pytest.mark.parametrize("command", ["", "draw", "quit"])
def test_what_is_not_ours_is_left_to_the_model(command: str) -> None:
    assert told(command, "hello") is None


@pytest.mark.parametrize("command", ["retry", "undo"])
def test_what_needs_the_record_is_left_to_the_beginning_of_a_turn(command: str) -> None:
    assert told(command) is None


@pytest.mark.parametrize(("words", "language"), [("english", "en"), ("Bahasa Indonesia", "id"), ("ID", "id")])
def test_a_language_is_chosen_by_its_name_and_answered_in_it(words: str, language: str) -> None:
    page = told("language", words)
    assert page is not None
    assert page.settings == {"language": language}
    assert ("Indonesia" in page.text) is (language == "id")


def test_without_a_name_both_languages_are_offered() -> None:
    page = told("language")
    assert page is not None
    assert [button.data for button in page.buttons] == ["set:language:en", "set:language:id", "set:language:"]


@pytest.mark.parametrize(("words", "settings"), [(MODELS[1], {"model": MODELS[1]}), ("gpt", {}), ("", {})])
def test_only_a_model_of_the_list_can_be_chosen(words: str, settings: dict[str, str]) -> None:
    page = told("model", words)
    assert page is not None
    assert page.settings == settings
    assert MODELS[1] in page.text


def test_settings_are_rows_of_buttons_of_which_one_is_in_force() -> None:
    page = told("settings", here=Here(ChatSettings(meanwhile="queue", language="id"), MODELS))
    assert page is not None
    rows = [button.row for button in page.buttons]
    assert rows == sorted(rows) and set(rows) == {0, 1, 2}
    assert sum(button.label.startswith("✓") for button in page.buttons) == 3
    assert "**Indonesia**" in page.text and "**menunggu**" in page.text


def test_what_a_button_changes_is_checked_again_when_it_is_tapped() -> None:
    page = told("settings")
    assert page is not None
    for button in page.buttons:
        word, name, value = button.data.split(":", 2)
        assert word == "set" and changed(name, value, MODELS)
        assert len(button.data.encode()) <= LONGEST_DATA
    assert changed("model", "another", MODELS) == {}
    assert changed("closed", "on", MODELS) == {}


def test_everything_is_deleted_only_after_a_second_word() -> None:
    first, second = told("forget"), told("forget", "yes")
    assert first is not None and not first.forget and first.buttons[0].data == "do:forget"
    assert second is not None and second.forget


@pytest.mark.parametrize("words", ["me", "Me", "saya", "aku"])
def test_who_asks_to_be_forgotten_is_asked_again_and_the_conversation_stays(words: str) -> None:
    first, second = told("forget", words), told("forget", f"{words} yes")
    assert first is not None and (first.page, first.forget, first.buttons[0].data) == ("", False, "do:forget me yes")
    assert second is not None and (second.page, second.forget) == ("doorstep", False)


def test_a_guest_of_a_group_may_be_forgotten_but_not_have_the_group_s_conversation_deleted() -> None:
    guest = replace(ANN, role="guest")
    assert is_for_members(inbound("yes", sender=guest, place=GROUP, command="forget"))
    assert not is_for_members(inbound("me yes", sender=guest, place=GROUP, command="forget"))


def test_the_thread_setting_is_offered_where_there_are_threads() -> None:
    page = told("settings", place=GROUP)
    assert page is not None and not any("follow" in button.data for button in page.buttons)


def test_a_choice_made_anew_is_another_tap_than_the_same_one_sent_twice() -> None:
    pages = [told("settings", here=Here(models=MODELS, now=now)) for now in (1_800_000_000, 1_800_000_002)]
    (first, again) = ([button.data for button in page.buttons] for page in pages if page)
    assert not {*first} & {*again}
    for data in first:
        name, value = data.split(":", 2)[1:]
        assert changed(name, value, MODELS) and len(data.encode()) <= LONGEST_DATA
