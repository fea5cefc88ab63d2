"""The commands ``capture preview``, ``capture run`` and ``capture undo``: submit the job, and print what it kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bridge.anchors import tree
from bridge.capture import ignored_files
from jobs import clock
from jobs.errors import JobError
from jobs.kinds import CAPTURE_TOOLS
from jobs.spelling import encodable

from ...documents import capture_counts, captured_sessions
from ..command_line import IN_MARKDOWN, F, Given, option
from ..job_commands import job, submits, without_none
from ..output import Envelope, notes, say, show_blocks
from . import transfer
from .graph import model_use

_ENDINGS = (".md", ".markdown", ".txt", ".json", ".jsonl")  # of exports in a folder


def _choice(run: F) -> F:
    """Which sessions."""
    for declared in (
        option("--limit N", "read at most N sessions, the oldest first", type=int),
        option("--exclude PATTERN", "not the sessions whose tool/id, path or title matches", action="append"),
        option("--include PATTERN", "only sessions whose tool/id, path or title matches", action="append"),
        option("--since TIME", "only transcripts that changed since (ISO 8601)"),
        option("--session ID", "only the session with this id"),
        option(
            "--tool TOOL",
            f"only this tool: {', '.join(CAPTURE_TOOLS)}",
            dest="tools",
            choices=CAPTURE_TOOLS,
            action="append",
        ),
        option("files FILE", "exported conversations instead (Markdown, JSON), or folders; - for stdin", nargs="*"),
    ):
        declared(run)
    return run


@submits(
    "capture preview",
    ["capture preview", "capture preview --tool codex --text"],
    text="show what a capture would keep, and store nothing",
    more="Without an enabled tool, it looks at all of them.",
)
@_choice
@option("--text", "show the texts that would be stored")
@IN_MARKDOWN
def preview(args: Given) -> Envelope:
    """Submit the dry run; returns its envelope. The texts are kept only with ``--text``, or for a program."""
    answer = _submit(args, {"dry_run": True})
    if not (args.text or args.json or args.markdown) and answer.get("result"):
        for item in answer["result"]["items"]:
            for memory in item["memories"]:
                memory["summary_text"] = None
    return answer


@submits(
    "capture run",
    ["capture run", "capture run --since 2026-11-01", "capture run a.md"],
    text="capture what is new, from all enabled tools",
)
@_choice
@option("--again", "also capture sessions whose capture was undone")
def run(args: Given) -> Envelope:
    """Submit the capture; returns its envelope."""
    return _submit(args, {"again": args.again or None})


@job("capture", ["capture undo RECEIPT"], name="capture undo", text="remove the memories that a capture added")
@option("undo RECEIPT", "the id of the capture's receipt, which its result names")
def undo(args: Given) -> dict[str, str]:
    """Which capture."""
    return {"undo": args.undo}


def _submit(args: Given, more: dict[str, Any]) -> Envelope:
    job_id = transfer.begin(args)
    payload = {
        "files": [_file(args, name, job_id, number) for number, name in enumerate(_named(args.files))] or None,
        "tools": args.tools,
        "session": args.session,
        "since": args.since,
        "include": args.include,
        "exclude": args.exclude,
        "limit": args.limit,
        **more,
    }
    return transfer.submit_with_copies(args, "capture", without_none(payload), job_id)


def _named(given: Sequence[str]) -> Iterator[str]:
    """The files that were named, and those in folders that were named, but for ignored ones, installed packages and our
    own. Raises JobError: ARGUMENT_INVALID."""
    for name in given:
        folder = Path(name)
        is_ignored = ignored_files.ignored(folder, list(tree.SKIPPED))
        found = sorted(
            path
            for path in folder.rglob("*")
            if path.suffix in _ENDINGS and path.is_file() and not is_ignored(path.relative_to(folder).as_posix())
        )
        if not folder.is_dir():
            yield name
        elif not found:
            raise JobError("ARGUMENT_INVALID", f"{name} has no file that ends in {', '.join(_ENDINGS)}.")
        yield from map(str, found)


def _file(args: Given, name: str, job_id: str, number: int) -> dict[str, str | None]:
    """A file as the job takes it: where it can be opened, and, of a copy, where it came from."""
    path = transfer.reachable(args, name, job_id, number)
    is_copy = (args.place.root / path).parent == args.place.imports
    if not is_copy or name == "-":
        return {"path": path}
    changed = datetime.fromtimestamp(Path(name).stat().st_mtime, UTC)
    return {"path": path, "source": encodable(str(Path(name).absolute())), "modified_at": clock.iso(changed)}


def show_capture(result: Any) -> None:
    """Print the sessions with their memories, the counts, and what to do next; or the result of an undo."""
    if "undone" in result:
        transfer.show_undone(result, f"removed, {len(result['revived'])} active again")
        return
    show_blocks(captured_sessions(result))
    _texts(result)
    say(capture_counts(result))
    _skipped(result)
    notes(result["warnings"])
    if result["model_calls"]:
        use = model_use({name: result.get(f"model_{name}") for name in ("calls", "tokens", "cost_usd")})
        say(f"A language model {'would be asked: about ' if result['dry_run'] else 'was asked: '}{use}.")
    if result["dry_run"]:
        say("Nothing was changed." + (" Keep it: cognee-memory capture run" if result["memories"] else ""))
    elif result["memories"]:
        say(f"Undo: cognee-memory capture undo {result['receipt']}")


def _texts(result: dict[str, Any]) -> None:
    for item in result["items"]:
        for memory in item["memories"]:
            if memory["summary_text"]:
                say("")
                say(memory["summary_text"].rstrip())
                say(f"({item['path']}, {memory['first_place']} to {memory['last_place']})")


def _skipped(result: dict[str, Any]) -> None:
    """What the readers left out or could not read, over all sessions."""
    items, left_out = result["items"], Counter[str]()
    for item in items:
        left_out.update(item["left_out"])
    unknown = sum(sum(item["unknown"].values()) for item in items)
    damaged = sum(item["damaged"] for item in items)
    newer = {f"{item['tool']} {item['newer']}" for item in items if item["newer"]}
    if left_out:
        say("Left out: " + ", ".join(f"{count} × {name}" for name, count in sorted(left_out.items())) + ".")
    if unknown or damaged:
        say(f"Skipped: {unknown} records of unknown kinds, {damaged} damaged ones. The transcripts are unchanged.")
    if newer:
        say(f"Written by newer versions than known: {', '.join(sorted(newer))}.")
