"""The reader of each tool, loaded when it is first needed."""

from __future__ import annotations

from importlib import import_module

from .reader import Reader

# The tool's name on the command line -> its module here, which has the reader as ``READER``.
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
    reader: Reader = import_module(f".{_MODULES[tool]}", __package__).READER
    return reader
