"""What was said about settings, by source, and what of it has no effect: misspelt, out of place, or apart from its key.

It explains what ``settings`` decides, and decides nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.settings import PREFIX, Settings, groups, may_stand_in_workspace, names, user_file, variable
from jobs.spelling import nearest

# Where cognee's stores lie, for a cognee of the user's own.
_COGNEES = ("SYSTEM_ROOT_DIRECTORY", "DATA_ROOT_DIRECTORY", "CACHE_ROOT_DIRECTORY", "GRAPH_DATABASE_PROVIDER",
            "VECTOR_DB_PROVIDER", "DB_PROVIDER")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unknown:
    """A variable that begins like ours. ``near`` is the one that may be meant."""

    variable: str
    source: str
    near: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """``ignored`` stand in the workspace's ``.env`` and may not. ``apart`` were dropped: what goes with them came from
    elsewhere. No value is in it."""

    unknown: tuple[Unknown, ...]
    ignored: tuple[str, ...]
    apart: tuple[str, ...]
    cognees: tuple[str, ...]


def survey(settings: Settings, environment: Mapping[str, str], workspace_env: Path | None, trusted: bool) -> Said:
    """What was said, beside the settings that came of it. Raises OSError, ValueError for a ``.env`` that is none."""
    in_file = _dotenv(workspace_env)
    unknown = [*_unknown(environment, "environment"), *_unknown(in_file, ".env of the workspace")]
    said_in_file = {name for name in names() if in_file.get(variable(name))}
    allowed = {name for name in said_in_file if may_stand_in_workspace(name, trusted)}
    said = {name for name in names() if environment.get(variable(name))} | allowed | _in_user_file(settings)
    apart = [
        name for group in groups() for name in group
        if name in said and name not in settings.sources and all(other in said for other in group)
    ]  # fmt: skip
    return Said(
        tuple(unknown),
        tuple(sorted(map(variable, said_in_file - allowed))),
        tuple(map(variable, apart)),
        tuple(name for name in _COGNEES if environment.get(name)),
    )


def _unknown(said: Mapping[str, str | None], source: str) -> list[Unknown]:
    known = [variable(name) for name in names()]
    strange = sorted(name for name in said if name.startswith(PREFIX) and name not in known)
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
        return set()  # what cannot be read has been said by whoever loaded the settings
