"""The page of measurements: what it says follows from the figures alone."""

import importlib
import pkgutil
from types import ModuleType
from typing import Any

import pytest

import benchmarks
from benchmarks.__main__ import FIRST, ON_REQUEST
from benchmarks.performance_page import PERFORMANCE, Aim, at_most, section, table, written

MEASUREMENTS = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if "_" not in module.name)


def measurement(**members: Any) -> ModuleType:
    module = ModuleType("measured")
    for name, value in members.items():
        setattr(module, name, value)
    return module


def test_an_aim_that_is_missed_stands_out_among_those_that_hold() -> None:
    def aims(figures: Any) -> list[Aim]:
        return [at_most("a start", 1.3, figures["start"], " s"), at_most("a stop", 2, figures["stop"], " s")]

    told = written(PERFORMANCE, {"x": {"start": 1.25, "stop": 2.5}}, {"x": measurement(aims=aims)}, {"processors": 2})

    assert "| a start | at most 1.3 s | 1.25 s | yes |" in told
    assert "| a stop | at most 2 s | 2.5 s | **no** |" in told
    assert "| processors | 2 |" in told


def test_a_measurement_says_its_own_section_of_its_own_figures() -> None:
    modules = {
        "first": measurement(markdown=lambda figures: f"## First\n\n{figures['a']}\n"),
        "silent": measurement(),
        "second": measurement(markdown=lambda figures: f"## Second\n\n{figures['b']}"),
    }

    told = written(PERFORMANCE, {"first": {"a": "A"}, "silent": {}, "second": {"b": "B"}}, modules, {})

    assert told.endswith("## First\n\nA\n\n## Second\n\nB\n")


def test_figures_stand_to_the_right_and_words_to_the_left() -> None:
    assert table(["what", "ms"], [("a start", 1234.5), ("a stop", True)]).splitlines() == [
        "| what | ms |",
        "| --- | ---: |",
        "| a start | 1,234.5 |",
        "| a stop | yes |",
    ]


def test_a_section_s_words_may_be_wrapped_as_they_like() -> None:
    assert section("Starts", "One\n      two.", "| x |") == "## Starts\n\nOne two.\n\n| x |"


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_every_measurement_gives_figures_and_what_is_on_the_page_is_measured_for_it(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")

    assert callable(module.measure)
    assert set(FIRST) <= set(MEASUREMENTS) - ON_REQUEST
