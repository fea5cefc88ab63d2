"""The parser of ``capture`` and its subcommands."""

from __future__ import annotations

import argparse
from typing import Any

from jobs.kinds import CAPTURE_TOOLS

from .command_line import CommandLineBuilder, waiting

_TOOLS = ", ".join(CAPTURE_TOOLS)


def capture(builder: CommandLineBuilder) -> None:
    """Add ``capture`` with its subcommands."""
    verbs = builder.nested(
        "capture",
        "make memories of the sessions that other tools keep on this machine",
        ["cognee-memory capture preview", "cognee-memory capture enable claude-code", "cognee-memory capture run"],
    )
    _preview_and_run(builder, verbs)
    _consent(builder, verbs)
    listing = builder.add("list", "list the captured sessions", ["cognee-memory capture list"], parent=verbs)
    listing.add_argument("--tool", metavar="TOOL", choices=CAPTURE_TOOLS, help=f"only this tool: {_TOOLS}")
    forget = builder.add(
        "forget",
        "forget all that was captured from a session; it is not captured again",
        ["cognee-memory capture forget claude-code/5f0c"],
        more="This cannot be undone.",
        needs="starts",
        parent=verbs,
    )
    forget.add_argument("session", metavar="SESSION", help="the session, as tool/id; the beginning of the id is enough")
    forget.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    waiting(forget, default=True)
    undo = builder.add(
        "undo",
        "remove the memories that a capture added",
        ["cognee-memory capture undo RECEIPT"],
        needs="starts",
        parent=verbs,
    )
    undo.add_argument("undo", metavar="RECEIPT", help="the id of the capture's receipt, which its result names")
    waiting(undo, default=True)


def _preview_and_run(builder: CommandLineBuilder, verbs: Any) -> None:
    preview = builder.add(
        "preview",
        "show what a capture would keep, and store nothing",
        ["cognee-memory capture preview", "cognee-memory capture preview --tool codex --text"],
        more="Without an enabled tool, it looks at all of them.",
        needs="starts",
        parent=verbs,
    )
    _choice(preview)
    preview.add_argument("--text", action="store_true", help="show the texts that would be stored")
    waiting(preview, default=True)
    run = builder.add(
        "run",
        "capture what is new, from all enabled tools",
        ["cognee-memory capture run", "cognee-memory capture run --since 2026-11-01", "cognee-memory capture run a.md"],
        needs="starts",
        parent=verbs,
    )
    _choice(run)
    run.add_argument("--again", action="store_true", help="also capture sessions whose capture was undone")
    waiting(run, default=True)


def _choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="exported conversations instead (Markdown, JSON), or folders; - for stdin",
    )
    parser.add_argument(
        "--tool", dest="tools", metavar="TOOL", choices=CAPTURE_TOOLS, action="append", help=f"only this tool: {_TOOLS}"
    )
    parser.add_argument("--session", metavar="ID", help="only the session with this id")
    parser.add_argument("--since", metavar="TIME", help="only transcripts that changed since (ISO 8601)")
    parser.add_argument(
        "--include", metavar="PATTERN", action="append", help="only sessions whose tool/id, path or title matches"
    )
    parser.add_argument(
        "--exclude", metavar="PATTERN", action="append", help="not the sessions whose tool/id, path or title matches"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="read at most N sessions, the oldest first")


def _consent(builder: CommandLineBuilder, verbs: Any) -> None:
    enable = builder.add(
        "enable",
        "allow capture from a tool in this workspace",
        ["cognee-memory capture enable claude-code"],
        more="Capture is off until it is enabled, for each tool and workspace.",
        parent=verbs,
    )
    enable.add_argument("tool", metavar="TOOL", choices=CAPTURE_TOOLS, help=_TOOLS)
    disable = builder.add(
        "disable",
        "stop capture from a tool; what was captured stays",
        ["cognee-memory capture disable claude-code"],
        parent=verbs,
    )
    disable.add_argument("tool", metavar="TOOL", choices=CAPTURE_TOOLS, help=_TOOLS)
    install = builder.add(
        "install",
        "have a tool capture its sessions by itself, and begin them with notes",
        ["cognee-memory capture install claude-code"],
        more="It shows the change of the tool's configuration file first, and enables capture in this workspace.",
        parent=verbs,
    )
    install.add_argument("tool", metavar="TOOL", choices=CAPTURE_TOOLS, help=", ".join(CAPTURE_TOOLS))
    install.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    uninstall = builder.add(
        "uninstall",
        "take the change of a tool's configuration file back, and disable capture from it here",
        ["cognee-memory capture uninstall claude-code"],
        parent=verbs,
    )
    uninstall.add_argument("tool", metavar="TOOL", choices=CAPTURE_TOOLS, help=", ".join(CAPTURE_TOOLS))
    builder.add(
        "status",
        "show which tools are enabled, and what was captured from each",
        ["cognee-memory capture status"],
        parent=verbs,
    )
