"""What waits, put in order."""

import pytest
from msgspec.structs import replace

from bot.inbox import (
    LONG,
    asked_in,
    edited,
    last_question,
    run_of,
    said_in,
    says_anew,
    still_arriving,
    to_us,
    turn_with,
    with_edits,
)
from bot.messages import Asked, Attachment, Ended, Inbound, Returned
from tests.bots import edit
from tests.say import BUDI, answered, asked, inbound, returned


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (inbound("hi"), False),
        (inbound("a" * (LONG - 1)), False),
        (inbound("a" * LONG), True),
        (inbound("", album="g1"), True),
        (replace(inbound("a" * LONG), kind="edit"), False),
    ],
)
def test_albums_and_long_pastes_may_have_more_to_come(first: Inbound, more: bool) -> None:
    assert still_arriving([first]) is more


def test_an_edit_replaces_what_waits_and_is_used_up_by_it() -> None:
    said, corrected, again = inbound("helo", 1), edit("hello", 1), replace(edit("hello!", 1), id="e1.2")
    messages, used = with_edits([said, corrected, again])
    assert [each.text for each in messages] == ["hello!"]
    assert messages[0].key == said.key
    assert used == [corrected, again]


def test_an_edit_of_what_does_not_wait_stays_in_its_place() -> None:
    other = edit("what?", 9)
    assert with_edits([inbound("hi", 1), other]) == ([inbound("hi", 1), other], [])


def test_an_edit_may_make_a_command_of_a_message() -> None:
    messages, _ = with_edits([inbound("nwe", 1), replace(edit("", 1), command="new")])
    assert (messages[0].command, messages[0].text) == ("new", "")


def test_a_run_ends_where_another_kind_begins() -> None:
    inbox = [inbound("a", 1), inbound("b", 2), inbound("", 3, command="new"), inbound("c", 4)]
    assert run_of(inbox, lambda each: each.command) == inbox[:2]


ALBUM = [
    inbound("", 1, album="g", addressed=False),
    inbound("look, bot", 2, album="g"),
    inbound("lunch?", 3, addressed=False),
]


@pytest.mark.parametrize(("follows", "heard"), [(False, ["1", "2"]), (True, ["1", "2", "3"])])
def test_an_album_is_to_us_as_a_whole_and_other_talk_where_we_follow_it(follows: bool, heard: list[str]) -> None:
    to, others = to_us(ALBUM, follows=follows)
    assert [each.native_id for each in to] == heard
    assert len(to) + len(others) == 3


RECORD = [
    asked("first", "t1", number=1),
    asked("second", "t2", number=2),
    returned("A", turn="t2", said=(inbound("added", 3),)),
    Ended("t2", "failed"),
]


def test_a_turn_is_found_by_any_message_said_in_it() -> None:
    assert [turn_with(edit("so", number), RECORD) for number in (1, 2, 3, 4)] == ["t1", "t2", "t2", ""]


def test_nobody_s_edit_is_of_what_somebody_else_asked_about_the_same_message() -> None:
    theirs = replace(edit("so", 1), sender=BUDI)
    assert turn_with(theirs, RECORD) == ""
    assert with_edits([inbound("", 1), theirs]) == ([inbound("", 1), theirs], [])


@pytest.mark.parametrize("native_id", ["", "7"])
def test_two_questions_about_one_message_or_about_none_wait_side_by_side(native_id: str) -> None:
    waiting = [replace(inbound(text, number), native_id=native_id) for number, text in enumerate(("one", "two"))]
    assert with_edits(waiting) == (waiting, [])


def test_a_turn_that_was_done_again_is_not_found() -> None:
    record = [*RECORD, Ended("t2", "undone")]
    assert (turn_with(edit("so", 2), record), asked_in("t2", record)) == ("", None)
    again = [*record, asked("second", "t3", number=2)]
    assert turn_with(edit("so", 2), again) == "t3"


def test_an_edit_that_steered_a_turn_is_not_the_message_it_edits() -> None:
    assert turn_with(edit("so", 9), [asked(turn="t1"), Returned("t1", (), said=(edit("what?", 9),))]) == ""


def test_what_was_said_in_a_turn_is_its_question_and_what_was_added() -> None:
    assert [each.text for each in said_in("t2", RECORD)] == ["second", "added"]
    assert said_in("t9", RECORD) == []


def test_a_reminder_is_no_question_to_answer_again() -> None:
    told = asked("tea", "t3", number=4)
    record = [asked("first", "t1", number=1), answered("One."), told, Ended("t3", "reminded", shown="⏰ tea")]
    assert last_question(record) == record[0]
    assert last_question(record[2:]) is None


def test_an_edit_that_changes_nothing_says_nothing_anew() -> None:
    again = [*RECORD, asked("second", "t3", number=2), Asked("t4", (edit("so", 2),))]
    assert [says_anew(edit(text, 2), RECORD) for text in ("second", "so")] == [False, True]
    assert [says_anew(edit(text, 2), again) for text in ("second", "so")] == [True, False]
    assert not says_anew(edit("added", 3), RECORD)


def test_an_edit_may_put_another_picture_in_a_message_and_what_was_read_of_one_that_stays_is_kept() -> None:
    read, other = Attachment("photo", "a", blob="k/1"), Attachment("photo", "b")
    said = inbound("which?", 1, attachments=(read,))
    same, swapped = (replace(edit("which?", 1), attachments=(Attachment("photo", id),)) for id in "ab")
    assert edited(said, same).attachments == (read,) and edited(said, swapped).attachments == (other,)
    assert not any(says_anew(each, [Asked("t", (said,))]) for each in (same, swapped))


def test_a_piece_of_an_album_that_comes_late_is_to_us_where_the_rest_of_it_was() -> None:
    late = inbound("", 3, album="g", addressed=False)
    assert to_us([late], follows=False, heard=ALBUM) == ([late], [])
