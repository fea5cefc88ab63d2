"""A question's raw arguments: their names in snake_case, completed with defaults from the settings. Light to import.

``bridge.search.question`` checks the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobs.errors import JobError

from ..argument_table import ARGUMENTS, DEFAULT_PRESET, Preset

if TYPE_CHECKING:
    from ..settings import Settings


def with_settings(
    arguments: dict[str, Any], settings: Settings | None, default_preset: Preset = DEFAULT_PRESET
) -> dict[str, Any]:
    """The arguments by their snake_case names, with the settings' values for those that are not given.

    Names may be in camelCase, as in TypeScript. ``default_preset`` depends on who asks; a setting overrides it, and the
    blend mode has its own half-life. Without settings, only the names change. After this call, answering the question
    needs no settings. Raises JobError: ARGUMENT_INVALID when an argument is given in both forms.
    """
    completed: dict[str, Any] = {}
    for given_name, value in arguments.items():
        name = snake_case(given_name)
        if value is not None and name in completed:
            raise JobError("ARGUMENT_INVALID", f"{name} is given twice, as snake_case and as camelCase.")
        if value is not None:
            completed[name] = value
    for name, argument in ARGUMENTS.items() if settings else ():
        value = getattr(settings, argument.setting) if argument.setting else None
        is_default = name == "max_results" and value == argument.default  # which depends on the question
        if name not in completed and value is not None and not is_default:
            completed[name] = value
    if settings and completed.get("ranking_mode") != "blend":
        completed.setdefault("preset", default_preset)
    return completed


def snake_case(name: str) -> str:
    """``half_life_days`` for ``halfLifeDays``; a name without capitals is unchanged."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
