"""The table of arguments, and that every interface takes what it says from there."""

import argparse
import re
from typing import Any, get_args

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, PRESETS, Argument
from bridge.interface.arguments import Parser, add_explain_options
from bridge.memory import Status
from bridge.settings import SETTINGS, Settings, table


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


def test_the_statuses_that_are_offered_are_those_of_a_memory() -> None:
    assert set(ARGUMENTS["status"].choices) == set(get_args(Status))


def test_a_setting_has_the_default_of_its_argument() -> None:
    of_settings = {name: argument for name, argument in ARGUMENTS.items() if argument.setting}
    assert len(of_settings) == 10
    for argument in of_settings.values():
        assert argument.setting in SETTINGS
        adapts = argument.setting == "relevance_floor"  # a given floor is fixed, the default is not
        assert SETTINGS[argument.setting].default == (None if adapts else argument.default)


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
