"""A reply put together event by event: whatever the pieces were, it can be stored."""

import pytest

from bot.adapters.anthropic_model import Draft
from bot.messages import Json, decode_entry, encode
from tests.say import answered


def draft_of(kind: str, *pieces: str) -> Json:
    draft = Draft()
    draft.add({"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: ""}})
    for piece in pieces:
        delta = {"type": f"{kind}_delta", kind: piece}
        draft.add({"type": "content_block_delta", "index": 0, "delta": delta})
    draft.add({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
    draft.add({"type": "message_stop"})
    (block,) = draft.reply().content
    return block


@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_an_emoji_whose_halves_come_in_two_events_is_one_character(kind: str) -> None:
    assert draft_of(kind, "hi \ud83d", "\ude00 there")[kind] == "hi 😀 there"


@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_half_a_character_does_not_keep_the_reply_from_being_stored(kind: str) -> None:
    block = draft_of(kind, "hi \ud83d", " there")
    assert block[kind] == "hi \ufffd there"
    assert decode_entry(encode(answered(block))) == answered(block)


def test_a_text_without_halves_stays_as_it_is() -> None:
    assert draft_of("text", "🙂 é\n", "\U0001f1ee\U0001f1e9")["text"] == "🙂 é\n\U0001f1ee\U0001f1e9"
