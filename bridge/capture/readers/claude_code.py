"""Reads the transcripts of Claude Code: ``~/.claude/projects/<folder>/<session>.jsonl``.

``<folder>`` is the path in which the session began, with ``-`` for each character but ASCII letters and digits.
Sub-agents have files of their own: ``<session>/subagents/agent-*.jsonl``, and before version 2.1 ``agent-*.jsonl``
beside the sessions; before version 2.0 they are side chains within the session's file.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..session import OWN_TEXT, REWOUND, THINKING, TOOL_OUTPUT, Findings, Transcript, Turn
from . import claude_code_text, json_records, transcript_file
from .claude_code_records import Head, SideChains, head_of, rewound_lines
from .claude_code_text import Reply
from .json_records import at, text
from .reader import Home
from .turn_builder import Calls, TurnBuilder, moment, note_version

TESTED = "2.1.330"

_MAX_NAME = 200  # characters of a folder's name; a hash follows what is longer
_PEEK = 16 * 1024
_RESULT = re.compile(rb'"tool_use_id":"([^"\\]{1,200})"')
_TITLE = re.compile(rb'"(?:customTitle|aiTitle)":"((?:[^"\\]|\\.){1,300})"')
_SESSION = re.compile(rb'"sessionId":"([^"\\]{1,100})"')
# Records about a session that say nothing: what Claude Code 1.0 to 2.1 writes besides messages.
_SILENT = frozenset(
    "summary custom-title ai-title agent-name agent-color agent-setting tag mode permission-mode last-prompt pr-link"
    " queue-operation file-history-snapshot file-history-delta attribution-snapshot content-replacement progress"
    " api-request api-request-shape api-request-blob api-request-resumed atis-latch cost-state tools-used"
    " worktree-state relocated bridge-session history-suppression isolation-latch session-owner dev-mods memory-mode"
    " observer-ref frame-link continued-in resume-head-vouch derived-from data-flow-records data-flow-incomplete"
    " fork-context-ref artifact-comment-monitor artifact-autoreact-ledger ended-by-model repl-mode"
    " hybrid-organization host-row".split()
)


def transcripts(home: Home, workspace: Path) -> Iterator[Transcript]:
    """The sessions that began in this folder, below it, or above it."""
    root = home.moved("CLAUDE_CONFIG_DIR", ".claude") / "projects"
    for project in transcript_file.folders(root):
        if not _may_be_of(project.name, workspace):
            continue
        for path in transcript_file.files(project, ".jsonl"):
            if not path.name.startswith("agent-"):
                paths = [path, *_agent_files(path)]
                yield from transcript_file.described("claude-code", path.stem, paths, _title(path, root))


def turns(transcript: Transcript, findings: Findings) -> Iterator[Turn]:
    """The session's turns, then those of its sub-agents. What was rewound away is left out.

    A session that was resumed as a fork begins with a copy of the other session's turns; nothing marks them.
    """
    path = transcript.path
    yield from _Conversation(path, findings).turns()
    for agent in _agent_files(path):
        try:
            yield from _Conversation(agent, findings, part=agent.stem.removeprefix("agent-")).turns()
        except FileNotFoundError:
            continue  # removed since the folder was listed


class _Conversation:
    """One file: a session's, or that of one of its sub-agents, whose name is the part of all turns then."""

    def __init__(self, path: Path, findings: Findings, part: str = "") -> None:
        self._path, self._findings, self._part = path, findings, part
        self._builder = TurnBuilder()
        self._side_chains = SideChains()
        self._said: tuple[str, set[str]] = ("", set())  # the message of the last record, and its texts so far
        self._calls = Calls()

    def turns(self) -> Iterator[Turn]:
        with transcript_file.opened(self._path, _root_of(self._path)) as file:
            rewound = frozenset[int]()
            if not self._part:
                rewound = rewound_lines(json_records.lines(file, Findings()))
                file.seek(0)
            for number, line in json_records.lines(file, self._findings):
                head = head_of(line)
                if number in rewound:
                    self._findings.left_out[REWOUND] += head.kind in ("user", "assistant")
                    continue
                yield from self._record(number, line, head)
            yield from self._builder.finish()

    def _record(self, number: int, line: bytes, head: Head) -> Iterator[Turn]:
        left_out = self._findings.left_out
        if head.kind in ("tool output", "thinking"):
            left_out[TOOL_OUTPUT if head.kind == "tool output" else THINKING] += 1
            part = self._part_of(head)
            if head.kind == "tool output" and self._calls.waits(_RESULT.search(line)):
                self._note_outcomes(json_records.record(line, self._findings), part)
            return
        if head.kind == "other" and head.name in _SILENT:
            return
        if head.kind == "attachment" and head.name != "queued_command":
            left_out[OWN_TEXT] += 1
            return
        record = json_records.record(line, self._findings)
        if record is None:
            return
        note_version(record.get("version"), TESTED, self._findings)
        part = self._part_of(head, record)
        match record.get("type"):
            case "user":
                yield from self._of_user(record, number, part)
            case "assistant":
                yield from self._of_assistant(record, number, part)
            case "attachment":
                said = Reply(claude_code_text.of_attachment(record, left_out))
                yield from self._add("user", said, record, number, part)
            case "system":
                if record.get("subtype") == "compact_boundary" and not part:
                    yield from self._builder.mark("compacted")
            case kind:
                if str(kind) not in _SILENT:
                    self._findings.unknown[str(kind)[:80]] += 1

    def _of_user(self, record: dict[str, Any], number: int, part: str) -> Iterator[Turn]:
        self._note_outcomes(record, part)
        words = claude_code_text.of_user(record, self._findings.left_out)
        if words.marker is not None and not part:
            yield from self._builder.mark(words.marker)
        yield from self._add("user", Reply(words.text), record, number, part)

    def _of_assistant(self, record: dict[str, Any], number: int, part: str) -> Iterator[Turn]:
        """A streamed message comes in several records with one id, of which one may repeat another's text."""
        reply = claude_code_text.of_assistant(record, self._findings.left_out)
        message_id = str(at(record, "message", "id") or "")
        said = reply.text
        if self._said[0] != message_id or not message_id:
            self._said = (message_id, set())
        if said in self._said[1]:
            said = ""
        self._said[1].add(said)
        self._calls.say(said)
        for call_id, call in reply.calls:
            self._calls.begin(call_id, replace(call, place=self._place(number)))
        yield from self._add("assistant", reply._replace(text=said), record, number, part)

    def _note_outcomes(self, record: dict[str, Any] | None, part: str) -> None:
        """What became of the calls whose results the record has."""
        for call_id, output, exit_code in claude_code_text.outcomes(record):
            self._builder.add_call(part, self._calls.end(call_id, output, exit_code))

    def _place(self, number: int) -> str:
        return f"line {number}" if not self._part else f"{self._path.name} line {number}"

    def _add(self, speaker: Any, said: Reply, record: dict[str, Any], number: int, part: str) -> Iterator[Turn]:
        yield from self._builder.add(
            Turn(
                speaker,
                said.text,
                self._place(number),
                moment(record.get("timestamp")),
                text(record, "cwd"),
                text(record, "gitBranch"),
                part,
                said.files,
                Counter(said.tools),
            )
        )

    def _part_of(self, head: Head, record: dict[str, Any] | None = None) -> str:
        """The part of a record. One that is not parsed is remembered as well, since later ones may name it."""
        is_side = head.is_side or at(record, "isSidechain") is True
        if self._part or not is_side:
            return self._part
        return text(record, "agentId") or self._side_chains.name_of(head)


# --- folders and files ---


def _may_be_of(name: str, workspace: Path) -> bool:
    """Whether a project's folder may hold sessions of the workspace, told by its name."""
    for path in transcript_file.places_of(workspace):
        for form in {unicodedata.normalize(form, str(path)) for form in ("NFC", "NFD")}:
            encoded = _encoded(form)
            if _is_at_or_below(name, encoded) or name in {_encoded(str(above)) for above in Path(form).parents}:
                return True
    return False


def _is_at_or_below(name: str, encoded: str) -> bool:
    name, encoded = name.lower(), encoded.lower()
    if len(encoded) > _MAX_NAME:
        return name.startswith(encoded[:_MAX_NAME])
    return name == encoded or name.startswith(encoded.rstrip("-") + "-")


def _encoded(path: str) -> str:
    """Characters outside of the basic plane are two of JavaScript's."""
    return "".join(
        character if character.isascii() and character.isalnum() else "-" * (2 if ord(character) > 0xFFFF else 1)
        for character in path
    )


def _root_of(path: Path) -> Path:
    """The folder of all projects, from a session's file or that of a sub-agent."""
    return path.parents[3] if path.parent.name == "subagents" else path.parents[1]


def _agent_files(path: Path) -> list[Path]:
    """The files of a session's sub-agents."""
    own = list(transcript_file.files(path.with_suffix("") / "subagents", ".jsonl"))
    try:
        beside = _agents_beside(path.parent, path.parent.stat().st_mtime_ns).get(path.stem, [])
    except OSError:
        beside = []
    return own + beside


@lru_cache(maxsize=8)
def _agents_beside(project: Path, _changed: int) -> dict[str, list[Path]]:
    """The files of sub-agents in a project's folder, by session. ``_changed`` is when the folder was."""
    found: dict[str, list[Path]] = {}
    for path in transcript_file.files(project, ".jsonl"):
        if not path.name.startswith("agent-"):
            continue
        session = _SESSION.search(transcript_file.peek(path, project.parent, _PEEK))
        if session is not None:
            found.setdefault(session[1].decode("utf-8", "replace"), []).append(path)
    return found


def _title(path: Path, root: Path) -> str | None:
    """The session's name, which Claude Code repeats near the end of the file."""
    found = _TITLE.findall(transcript_file.peek(path, root, _PEEK, at_end=True))
    return json_records.parsed(b'"' + found[-1] + b'"', Findings()) if found else None
