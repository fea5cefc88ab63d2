"""The table of arguments, and that every interface takes what it says from there."""

from __future__ import annotations

import argparse
import re
from typing import Any, get_args

import pytest

from bridge.argument_table import ARGUMENTS, DEFAULT_PRESET, EXPLAIN_ARGUMENTS, PRESETS, Argument, Preset
from bridge.interface.arguments import Parser, add_explain_options
from bridge.memory import Status
from bridge.settings import Settings, default_of, names, table

NUMBERS = [name for name, argument in EXPLAIN_ARGUMENTS.items() if argument.kind in ("whole", "number")]


def options() -> dict[str, argparse.Action]:
    parser = Parser()
    add_explain_options(parser)
    return {action.dest: action for action in parser._actions if action.dest != "help"}


def test_each_argument_but_the_query_is_an_option_with_the_help_of_the_table() -> None:
    found = options()
    assert set(found) == set(EXPLAIN_ARGUMENTS) - {"query"}
    for name, action in found.items():
        assert action.help == EXPLAIN_ARGUMENTS[name].shown_help
        assert not set(action.help or "{") & set("{}%"), name


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_has_a_range_and_its_default_is_within(name: str) -> None:
    least, most = EXPLAIN_ARGUMENTS[name].range
    default = EXPLAIN_ARGUMENTS[name].default
    assert float("-inf") < least < most < float("inf")
    assert default is None or least <= default <= most


def test_a_choice_offers_its_default() -> None:
    choices = [argument for argument in ARGUMENTS.values() if argument.kind == "choice"]
    assert len(choices) == 4
    assert all(argument.default in argument.choices for argument in choices if argument.default is not None)
    assert ARGUMENTS["preset"].default is None, "it depends on who asks"
    assert DEFAULT_PRESET in ARGUMENTS["preset"].shown_help


def test_the_presets_are_within_the_ranges_of_what_they_stand_for() -> None:
    assert tuple(PRESETS) == get_args(Preset)
    for values in PRESETS.values():
        for value, name in zip(values, ("half_life_days", "recency_floor"), strict=True):
            least, most = ARGUMENTS[name].range
            assert least <= value <= most


def test_the_statuses_that_are_offered_are_those_of_a_memory() -> None:
    assert set(ARGUMENTS["status"].choices) == set(get_args(Status))


def test_a_setting_has_the_default_of_its_argument() -> None:
    of_settings = {name: argument for name, argument in ARGUMENTS.items() if argument.setting}
    assert len(of_settings) == 10
    for argument in of_settings.values():
        assert argument.setting in names()
        adapts = argument.setting == "relevance_floor"  # a given floor is fixed, the default is not
        assert default_of(argument.setting) == (None if adapts else argument.default)


def test_a_text_that_says_what_the_presets_are_says_it_right() -> None:
    helps = {row.name: row.help for row in table(Settings())}
    (week, none), (quarter, floor) = PRESETS["contract"], PRESETS["long-lived"]
    said: list[Any] = [float(number) for number in re.findall(r"[\d.]*\d", helps["ranking_preset"])]
    assert none == 0
    assert said == [week, quarter, floor]


def test_a_help_shows_numbers_as_people_write_them() -> None:
    found = Argument("whole", "N", "most (default {default}, {range})", (1, 1_000_000), default=2000)
    assert found.shown_help == "most (default 2000, 1 to 1000000)"
    assert Argument("number", "N", "{range}", (0.5, 90)).shown_help == "0.5 to 90"
    assert Argument("choice", "A|B", "{choices}, {default}", choices=("a", "b"), default="a").shown_help == "a, b, a"
