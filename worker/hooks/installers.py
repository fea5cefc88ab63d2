"""The installer of each tool's hook, by the tool's name, one of ``HOOKED_TOOLS``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import ModuleType

from bridge.capture.readers.reader import Home

from . import claude_code, codex, installation
from .installation import Edit

INSTALLERS: dict[str, ModuleType] = {claude_code.TOOL: claude_code, codex.TOOL: codex}


def install(tool: str, config_folder: Path) -> Edit:
    """The change of the tool's configuration that installs the hook. Changes nothing.

    Raises JobError: TOOL_CONFIG_UNUSABLE.
    """
    module = _module(tool)
    # By its path and without installed packages (-S), since that starts in half the time; and without the script's
    # folder on the path of modules (-P).
    program = str(Path(__file__).with_name("hook.py"))
    command = [sys.executable, "-S", "-P", program, "--config", str(config_folder), "--tool", tool]
    return installation.planned(_file(module), partial(module.added, command=command))


def write(tool: str, edit: Edit, config_folder: Path) -> None:
    """Carry out what ``install`` planned. Raises JobError: TOOL_CONFIG_UNUSABLE."""
    installation.write(edit, _kept(tool, config_folder))


def uninstall(tool: str, config_folder: Path) -> Edit:
    """The change that takes the hook back. Changes nothing. Raises as ``install``."""
    module = _module(tool)
    return installation.taken_back(_file(module), _kept(tool, config_folder), module.removed)


def restore(tool: str, edit: Edit, config_folder: Path) -> None:
    """Carry out what ``uninstall`` planned. Raises JobError: TOOL_CONFIG_UNUSABLE."""
    installation.restore(edit, _kept(tool, config_folder))


def _module(tool: str) -> ModuleType:
    return INSTALLERS[tool]


def _file(module: ModuleType) -> Path:
    home = Home.of_this_user()
    path: Path = module.file(home.folder, home.environment)
    return path


def _kept(tool: str, config_folder: Path) -> Path:
    """What a tool's file held before."""
    return config_folder / "hooks" / f"{tool}.json"
