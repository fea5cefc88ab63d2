"""Writes settings into the user's ``config.toml`` or into a workspace's ``.env``, and leaves their other lines as they
are."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from jobs import files
from jobs.errors import JobError

from .settings import WORKSPACE_ENV, Settings, variable

Value = str | int | float

_REMEDY = "Write the settings into the file yourself: docs/settings.md."


def write_user_file(path: Path, values: Mapping[str, Value]) -> None:
    """Set these settings, by name, in the user's ``config.toml``; other lines and comments stay.

    Raises JobError: SETTING_INVALID for a file that cannot be read or edited, CONFIG_UNWRITABLE.
    """
    before = _read(path)
    after = _edited(before, {name: f"{name} = {json.dumps(value)}" for name, value in values.items()})
    try:
        is_edited = tomllib.loads(after) == tomllib.loads(before) | dict(values)
    except tomllib.TOMLDecodeError:
        is_edited = False
    if not is_edited:  # such as a text of several lines
        raise JobError("SETTING_INVALID", f"{path} has a form that this command does not edit.", remediation=_REMEDY)
    _write(path, after)


def write_workspace_env(path: Path, values: Mapping[str, Value]) -> None:
    """Set these settings, by name, in a workspace's ``.env``, under the names of their variables; other lines stay.

    Raises as ``write_user_file``.
    """
    lines = {variable(name): f"{variable(name)}={value}" for name, value in values.items()}
    _write(path, _edited(_read(path), lines))


def require_effect(settings: Settings, values: Mapping[str, Value], path: Path) -> None:
    """Raises JobError: ARGUMENT_INVALID if another source sets one of the settings to another value, and wins."""
    stronger = {"environment"} if path.name == ".env" else {"environment", WORKSPACE_ENV}
    for name, value in values.items():
        source = settings.sources.get(name)
        if source in stronger and getattr(settings, name) != value:
            raise JobError(
                "ARGUMENT_INVALID",
                f"{variable(name)} is set by the {source}, which takes precedence over {path.name}."
                " Nothing was changed.",
                remediation=f"Remove {variable(name)} there, then repeat the command.",
            )


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise JobError("SETTING_INVALID", f"{path} cannot be read: {error}.", remediation=_REMEDY) from error


def _write(path: Path, text: str) -> None:
    try:
        if not path.parent.exists():
            files.make_folder(path.parent, links=True)
        files.replace(path.resolve(), text.encode())
    except OSError as error:
        raise JobError("CONFIG_UNWRITABLE", f"{path} cannot be written: {error.strerror}.") from error


def _edited(text: str, lines: Mapping[str, str]) -> str:
    """The text with each line that sets one of the names replaced by its new line, and the others appended."""
    left = dict(lines)
    kept = []
    for line in text.splitlines():
        found = re.match(r"\s*(?:export\s+)?(\w+)\s*=", line)
        if found is None or found[1] not in lines:
            kept.append(line)
        elif found[1] in left:
            kept.append(left.pop(found[1]))
    return "\n".join([*kept, *left.values()]) + "\n"
