"""A question's arguments as they are given, and what the settings say where one was not given. Light to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobs.errors import JobError

from ..argument_table import ARGUMENTS

if TYPE_CHECKING:
    from ..settings import Settings


def with_settings(arguments: dict[str, Any], settings: Settings | None) -> dict[str, Any]:
    """The arguments, with what the settings say where one was not given: no question needs settings any more.

    Names may be in camelCase, as TypeScript writes them. Without settings that is all that is done. Raises
    ARGUMENT_INVALID for one that is given in both forms.
    """
    found: dict[str, Any] = {}
    for given, value in arguments.items():
        name = snake_case(given)
        if value is not None and name in found:
            raise JobError("ARGUMENT_INVALID", f"{name} is given twice, as snake_case and as camelCase.")
        if value is not None:
            found[name] = value
    for name, argument in ARGUMENTS.items() if settings else ():
        if name not in found and argument.setting and (value := getattr(settings, argument.setting)) is not None:
            found[name] = value
    return found


def snake_case(name: str) -> str:
    """``half_life_days`` for ``halfLifeDays``; a name without capitals is what it was."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
