"""The installers of each tool's hook, by the tool's name, one of ``CAPTURE_TOOLS``: one for each file of the tool."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from bridge.capture.readers.reader import Home
from jobs.errors import JobError

from . import installation, json_hooks
from .installation import PROGRAM, Edit
from .opencode import OpenCode

_SECONDS = 10  # after which a tool ends the hook
_NOTIFICATION = re.compile(rf"^notify = \[[^\n]*{PROGRAM}[^\n]*\]\r?\n?", re.MULTILINE)


class _JsonHooks:
    def removed(self, text: str) -> str:
        return json_hooks.removed(text)


class ClaudeCode(_JsonHooks):
    """The hooks of Claude Code, in its ``settings.json``."""

    name = "claude-code"
    events = ("SessionStart", "PreCompact", "SessionEnd")
    moments = {
        "prompts": ("UserPromptSubmit", ""),
        "files": ("PreToolUse", "Read|Edit|MultiEdit|Write|NotebookEdit"),
        "failures": ("PostToolUseFailure", "Bash"),
    }

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        return Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "settings.json"

    def added(self, text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
        ours = {"type": "command", "command": json_hooks.shell_line(command), "timeout": _SECONDS}
        return json_hooks.added(text, json_hooks.entries(ours, self.events, self.moments, moments))


class Codex:
    """The notification of Codex, in ``config.toml``: it calls one program after each answer.

    There is room for one program, so with one of somebody else the file stays as it is. It is edited as text, since it
    may hold comments: our line is at its beginning, before any table.
    """

    name = "codex"
    moments = ()  # they are hooks

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        return Path(environment.get("CODEX_HOME") or home / ".codex") / "config.toml"

    def added(self, text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
        rest = self.removed(text)
        before = _parsed(rest)
        if "notify" in before:
            return rest
        line = f"notify = {json.dumps(list(command), ensure_ascii=False)}\n"
        changed = line + rest
        if _parsed(changed) != before | {"notify": list(command)}:
            raise ValueError("it has a form that this command does not edit.")
        return changed

    def removed(self, text: str) -> str:
        _parsed(text)
        return _NOTIFICATION.sub("", text, count=1)


def _parsed(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"it is no TOML ({error}).") from error


class CodexHooks(_JsonHooks):
    """The hooks of Codex, in its ``hooks.json``. Codex runs them once the user has trusted them there."""

    name = "codex-hooks"
    events = {"SessionStart": _SECONDS, "PreCompact": _SECONDS, "SessionEnd": 3}  # and the seconds of each
    moments = {
        "prompts": ("UserPromptSubmit", ""),
        "files": ("PreToolUse", "apply_patch"),
        "failures": ("PostToolUse", "Bash"),
    }

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        return Codex().file(home, environment).with_name("hooks.json")

    def added(self, text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
        ours = {"type": "command", "command": json_hooks.shell_line(command), "timeout": _SECONDS}
        found = json_hooks.entries(ours, (), self.moments, moments)
        for event, seconds in self.events.items():
            found[event] = {"hooks": [{**ours, "timeout": seconds}]}
        return json_hooks.added(text, found)


class Cursor(_JsonHooks):
    """The hooks of Cursor, in the user's ``hooks.json``."""

    name = "cursor"
    events = ("sessionStart", "preCompact", "stop", "sessionEnd")
    moments = ()  # its hooks for prompts and files can stop them, and add nothing

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        return home / ".cursor" / "hooks.json"

    def added(self, text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
        ours = {"command": json_hooks.shell_line(command), "timeout": _SECONDS}
        return json_hooks.added(text, dict.fromkeys(self.events, ours), {"version": 1})


class GeminiCli:
    """The hooks of Gemini CLI, in its ``settings.json``."""

    name = "gemini-cli"
    events = ("SessionStart", "PreCompress", "SessionEnd")
    moments = {
        "prompts": ("BeforeAgent", ""),
        "files": ("AfterTool", "read_file|write_file|replace"),
        "failures": ("AfterTool", "run_shell_command"),
    }

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        return Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini" / "settings.json"

    def added(self, text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
        # On Windows the shell is PowerShell, which runs a quoted path only after &.
        line = ("& " if os.name == "nt" else "") + json_hooks.shell_line(command)
        ours = {"name": "cognee-memory", "type": "command", "command": line, "timeout": _SECONDS * 1000}
        entries = json_hooks.entries(ours, self.events, self.moments, moments)
        return json_hooks.added(text, entries, comments=True)

    def removed(self, text: str) -> str:
        return json_hooks.removed(text, comments=True)


class VSCode:
    """The hooks of VS Code's agents, in a file of our own among the user's hook files. Without them it is empty."""

    name = "vscode"
    events = ("SessionStart", "PreCompact", "Stop")
    # A hook for prompts cannot add to them; the others are of any tool, since there is no choice.
    moments = {"files": "PreToolUse", "failures": "PostToolUse"}

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        return home / ".copilot" / "hooks" / "cognee-memory.json"

    def added(self, text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
        ours = {"type": "command", "command": json_hooks.shell_line(command), "timeout": _SECONDS}
        events = [*self.events, *(self.moments[moment] for moment in moments)]
        return json_hooks.added(text, dict.fromkeys(events, ours))

    def removed(self, text: str) -> str:
        left = json_hooks.removed(text)
        return "" if left != text and left.strip() == "{}" else left


Installer = ClaudeCode | Codex | CodexHooks | Cursor | GeminiCli | OpenCode | VSCode
"""Our hook in one file of a tool. What the file held before is kept under ``name``.

``moments``: those at which the tool takes notes, of ``consent.MOMENTS``. ``file``: the file. ``added``: its text with
our hook, also for some ``moments``, instead of earlier ones of ours. ``removed``: its text without our hook. Both raise
ValueError, with a sentence.
"""

INSTALLERS: dict[str, tuple[Installer, ...]] = {
    "claude-code": (ClaudeCode(),),
    "codex": (Codex(), CodexHooks()),
    "cursor": (Cursor(),),
    "gemini-cli": (GeminiCli(),),
    "opencode": (OpenCode(),),
    "vscode": (VSCode(),),
}

# What a person still has to do, or should know, after an installation.
NOTES = {
    "codex": (
        "Codex runs the hooks of hooks.json only after you have trusted them: it asks at its next start, or call /hooks"
        " there. Until then, only the notification after each answer is in force."
    ),
    "vscode": "VS Code calls hooks for agents of GitHub Copilot, unless the setting chat.useHooks is off.",
}


def moments_of(tool: str) -> list[str]:
    """The moments at which the tool takes notes, of ``consent.MOMENTS``."""
    return [moment for each in INSTALLERS[tool] for moment in each.moments]


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


def is_installed(tool: str) -> bool:
    """Whether the hook is in one of the tool's files now, whoever wrote or removed it; not in one that cannot be
    read."""
    for each in INSTALLERS[tool]:
        with suppress(JobError):
            without = installation.planned(_file(each), each.removed)
            if without.before is not None and without.is_needed:
                return True
    return False


def write(tool: str, edits: Sequence[Edit], config_folder: Path) -> None:
    """Carry out what ``install`` planned. Raises JobError: TOOL_CONFIG_UNUSABLE."""
    for each, edit in zip(INSTALLERS[tool], edits, strict=True):
        installation.write(edit, _kept(each, config_folder), each.removed)


def uninstall(tool: str, config_folder: Path) -> list[Edit]:
    """The changes that take the hook back. Changes nothing. Raises as ``install``."""
    return [installation.taken_back(_file(each), _kept(each, config_folder), each.removed) for each in INSTALLERS[tool]]


def restore(tool: str, edits: Sequence[Edit], config_folder: Path) -> None:
    """Carry out what ``uninstall`` planned. Raises JobError: TOOL_CONFIG_UNUSABLE."""
    for each, edit in zip(INSTALLERS[tool], edits, strict=True):
        installation.restore(edit, _kept(each, config_folder))


def _file(installer: Installer) -> Path:
    home = Home.of_this_user()
    return installer.file(home.folder, home.environment)


def _kept(installer: Installer, config_folder: Path) -> Path:
    """What a file held before."""
    return config_folder / "hooks" / f"{installer.name}.json"
