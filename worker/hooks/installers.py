"""The installers of each tool's hook, by the tool's name, one of ``CAPTURE_TOOLS``: one for each file of the tool."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

from bridge.capture.readers.reader import Home

from . import claude_code, codex, codex_hooks, cursor, gemini_cli, installation, opencode, vscode
from .installation import Edit

INSTALLERS: dict[str, tuple[ModuleType, ...]] = {
    claude_code.TOOL: (claude_code,),
    codex.TOOL: (codex, codex_hooks),
    cursor.TOOL: (cursor,),
    gemini_cli.TOOL: (gemini_cli,),
    opencode.TOOL: (opencode,),
    vscode.TOOL: (vscode,),
}

# What a person still has to do, or should know, after an installation.
NOTES: dict[str, str] = {
    codex.TOOL: (
        "Codex runs the hooks of hooks.json only after you have trusted them: it asks at its next start, or call /hooks"
        " there. Until then, only the notification after each answer is in force."
    ),
    vscode.TOOL: "VS Code calls hooks for agents of GitHub Copilot, unless the setting chat.useHooks is off.",
}


def moments_of(tool: str) -> list[str]:
    """The moments at which the tool takes notes, of ``consent.MOMENTS``."""
    return [moment for each in INSTALLERS[tool] for moment in each.MOMENTS]


def install(tool: str, config_folder: Path, moments: Collection[str] = ()) -> list[Edit]:
    """The changes of the tool's files that install the hook, also for these ``moments``. Changes nothing.

    Raises JobError: TOOL_CONFIG_UNUSABLE.
    """
    # By its path and without installed packages (-S), since that starts in half the time; and without the script's
    # folder on the path of modules (-P).
    program = str(Path(__file__).with_name("hook.py"))
    command = [sys.executable, "-S", "-P", program, "--config", str(config_folder), "--tool", tool]
    return [
        installation.planned(_file(each), partial(each.added, command=command, moments=moments))
        for each in INSTALLERS[tool]
    ]


def write(tool: str, edits: Sequence[Edit], config_folder: Path) -> None:
    """Carry out what ``install`` planned. Raises JobError: TOOL_CONFIG_UNUSABLE."""
    for each, edit in zip(INSTALLERS[tool], edits, strict=True):
        installation.write(edit, _kept(each, config_folder))


def uninstall(tool: str, config_folder: Path) -> list[Edit]:
    """The changes that take the hook back. Changes nothing. Raises as ``install``."""
    return [installation.taken_back(_file(each), _kept(each, config_folder), each.removed) for each in INSTALLERS[tool]]


def restore(tool: str, edits: Sequence[Edit], config_folder: Path) -> None:
    """Carry out what ``uninstall`` planned. Raises JobError: TOOL_CONFIG_UNUSABLE."""
    for each, edit in zip(INSTALLERS[tool], edits, strict=True):
        installation.restore(edit, _kept(each, config_folder))


def _file(installer: ModuleType) -> Path:
    home = Home.of_this_user()
    path: Path = installer.file(home.folder, home.environment)
    return path


def _kept(installer: ModuleType, config_folder: Path) -> Path:
    """What a file held before."""
    name = installer.__name__.rpartition(".")[2].replace("_", "-")
    return config_folder / "hooks" / f"{name}.json"
