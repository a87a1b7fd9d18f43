"""A long answer on the whole way from the model to people, under the platforms' limits."""

import asyncio

from benchmarks.streaming import SCENES, Answer, answered, essay, numbers

TWO_MESSAGES = {"telegram": 5_000, "slack": 12_500}
"""Characters."""


async def test_a_long_answer_is_seen_whole_in_every_place_and_no_platform_is_asked_too_often() -> None:
    def answer(characters: int) -> Answer:
        return Answer(essay(characters), seconds=2.0, refused_from=0.0, retry_after=1)

    scenes = SCENES.values()
    seen = await asyncio.gather(*(answered(scene, answer(TWO_MESSAGES[scene.platform])) for scene in scenes))
    assert [(figures["whole"], figures["limit_exceeded"]) for figures in seen] == [(True, 0)] * len(SCENES)
    assert all(figures["messages"] > 1 for figures in seen)


def test_the_words_of_the_long_answer_are_numbered_without_a_gap() -> None:
    found = numbers(essay(5_000))
    assert found == [f"n{number:05}" for number in range(1, len(found) + 1)]
