"""Finds settings that have no effect, with their source: misspelt variables, settings in the wrong file, and settings
whose group comes from different sources.

It explains the decisions of ``bridge.settings`` and makes none itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.settings import PREFIX, Settings, groups, is_allowed_in_workspace, names, user_file, variable
from jobs.spelling import nearest

# Variables of the cognee SDK about its stores; this program does not use them.
_COGNEES = ("SYSTEM_ROOT_DIRECTORY", "DATA_ROOT_DIRECTORY", "CACHE_ROOT_DIRECTORY", "GRAPH_DATABASE_PROVIDER",
            "VECTOR_DB_PROVIDER", "DB_PROVIDER")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown variable with this program's prefix. ``near`` is the known variable that is probably meant."""

    variable: str
    source: str
    near: str | None


@dataclass(frozen=True, slots=True)
class IneffectiveSettings:
    """Names of variables without effect; it contains no values.

    ``ignored`` are in the workspace's ``.env``, where they are not allowed. ``apart`` were dropped because the rest of
    their group came from another source.
    """

    unknown: tuple[Unknown, ...]
    ignored: tuple[str, ...]
    apart: tuple[str, ...]
    cognees: tuple[str, ...]


def survey(
    settings: Settings, environment: Mapping[str, str], workspace_env: Path | None, trusted: bool
) -> IneffectiveSettings:
    """The variables without effect. Raises OSError, or ValueError for an unreadable ``.env``."""
    in_file = _dotenv(workspace_env)
    unknown = [*_unknown(environment, "environment"), *_unknown(in_file, ".env of the workspace")]
    set_in_file = {name for name in names() if in_file.get(variable(name))}
    allowed = {name for name in set_in_file if is_allowed_in_workspace(name, trusted)}
    set_names = {name for name in names() if environment.get(variable(name))} | allowed | _in_user_file(settings)
    apart = [
        name for group in groups() for name in group
        if name in set_names and name not in settings.sources and all(other in set_names for other in group)
    ]  # fmt: skip
    return IneffectiveSettings(
        tuple(unknown),
        tuple(sorted(map(variable, set_in_file - allowed))),
        tuple(map(variable, apart)),
        tuple(name for name in _COGNEES if environment.get(name)),
    )


def _unknown(ineffective: Mapping[str, str | None], source: str) -> list[Unknown]:
    known = [variable(name) for name in names()]
    strange = sorted(name for name in ineffective if name.startswith(PREFIX) and name not in known)
    return [Unknown(name, source, next(iter(nearest(name, known)), None)) for name in strange]


def _dotenv(path: Path | None) -> Mapping[str, str | None]:
    if path is None or not path.is_file():
        return {}
    from dotenv import dotenv_values

    return dotenv_values(path, interpolate=False)


def _in_user_file(settings: Settings) -> set[str]:
    import tomllib

    try:
        return set(tomllib.loads(user_file(settings).read_text("utf-8"))) & set(names())
    except (OSError, ValueError):
        return set()  # the code that loads the settings reports an unreadable file
