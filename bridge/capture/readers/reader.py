"""The interface of a reader of one tool's transcripts, the home in which it looks, and the module of each tool."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from ...settings import USER_HOME, inherited_environment
from ..session import Findings, Transcript, Turn


@dataclass(frozen=True, slots=True)
class Home:
    """The user's folders, in which tools keep their files, and the environment that may move them."""

    folder: Path
    environment: Mapping[str, str]
    platform: str = sys.platform

    @classmethod
    def of_this_user(cls) -> Home:
        """The home of the user who runs this process, or whose worker runs it."""
        environment = inherited_environment()
        return cls(Path(environment.get(USER_HOME) or Path.home()), environment)

    def moved(self, variable: str, *usual: str) -> Path:
        """The folder that a variable of the environment names, or the usual one below the user's."""
        return Path(self.environment.get(variable) or self.folder.joinpath(*usual))


class Reader(Protocol):
    """Reads the transcripts of one tool. It opens regular files of this user only, follows no symbolic link out of the
    tool's folders, and holds no more than one record in memory.
    """

    def transcripts(self, home: Home, workspace: Path) -> Iterator[Transcript]:
        """The sessions that may have run in this folder, in no order; cheap, without reading them whole.

        A session that ran elsewhere as well may be among them: each turn says in which folder it was said.
        """

    def turns(self, transcript: Transcript, findings: Findings) -> Iterator[Turn]:
        """The session's turns in order, and everything else in ``findings``.

        An unknown record is counted and skipped; a last record without its end is left for the next time. Raises
        OSError when the transcript is gone or cannot be read.
        """


# The tool's name on the command line -> its module here, which is the reader.
_MODULES = {
    "claude-code": "claude_code",
    "codex": "codex",
    "cursor": "cursor",
    "gemini-cli": "gemini_cli",
    "opencode": "opencode",
    "vscode": "vscode_chat",
    "export": "exports",
}


def reader_of(tool: str) -> Reader:
    """The reader of a tool's transcripts. Raises KeyError for an unknown tool."""
    return cast("Reader", import_module(f".{_MODULES[tool]}", __package__))
