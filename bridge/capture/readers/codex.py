"""Reads the transcripts of Codex CLI: ``~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl``, and the archived ones.

A record is ``{timestamp, type, payload}``; before version 0.32 it was the payload alone. A sub-agent has a file of its
own, all turns of which have its id as their part. Files that Codex has compressed (``.jsonl.zst``) are not read.

Codex sends its instructions, the environment and notices as messages of the user, each wrapped in a tag of its own.
Newer versions say of each text where it is from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..session import IMAGE, OWN_TEXT, REWOUND, SUMMARY, THINKING, TOOL_OUTPUT, Call, Findings, Transcript, Turn
from . import json_records, transcript_file
from .json_records import at, items, parsed, strings, text
from .reader import Home
from .turn_builder import BEFORE_REQUEST, Calls, TurnBuilder, moment, note_version, touched_files

# A text that is one element from its beginning to its end, in tags that only a program writes.
_WRAPPED = re.compile(
    r"\s*<([a-z]+(?:[_ ][a-z]+)+|INSTRUCTIONS|image|skill|context|heartbeat)\b[^>]*>.*</\1>\s*", re.DOTALL
)
_HEADED = re.compile(r"\s*# AGENTS\.md instructions\b")
_CWD = re.compile(
    r"\s*<environment_context>(?:(?!</?environment_context>).){0,200}?"
    r"(?:<cwd>([^<]{1,4000})</cwd>|\bCurrent working directory: ([^\n<]{1,4000}?)\s*(?:\n|(?=<)))"
    r"(?:(?!</?environment_context>).)*</environment_context>\s*",
    re.DOTALL,
)
_IMAGE_TAG = re.compile(r"<image\b[^>]*>|</image>")
_EXIT_CODE = re.compile(r"^(?:Exit code: |Process exited with code )(\d{1,5})", re.MULTILINE)
_NOT_RUN = ("aborted", "execution error", "exec_command failed", "failed in sandbox", "failed to")

TESTED = "0.169.0"
_PEEK = 64 * 1024
_FOLDER = re.compile(rb'"cwd":\s*("(?:[^"\\]|\\.){1,4000}")')
_CALL_ID = re.compile(rb'"call_id":\s*"([^"\\]{1,200})"')
_SESSION = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$")
_HEAD = re.compile(
    rb'\0*\{"timestamp":\s*"[^"\\]{1,40}",\s*(?:"ordinal":\s*\d{1,12},\s*)?"type":\s*"(\w{1,60})",\s*'
    rb'"payload":\s*\{(?:"type":\s*"(\w{1,60})")?'
)
# Kinds of records and of their payloads that say nothing, as Codex 0.32 to 0.169 writes them.
_SILENT = frozenset(
    "session_state turn_state state world_state token_usage_record security_risk_score dynamic_tools_updated"
    " inter_agent_communication inter_agent_communication_metadata realtime_item event_msg".split()
)
_OUTPUTS = frozenset(
    "function_call_output custom_tool_call_output local_shell_call_output tool_search_output mcp_tool_call_output"
    " image_generation_call".split()
)
_CALLS = frozenset("function_call custom_tool_call local_shell_call web_search_call tool_search_call".split())
_THOUGHTS = frozenset({"reasoning", "ghost_snapshot", "compaction", "compaction_summary", "context_compaction"})


def of_user(payload: dict[str, Any], left_out: Counter[str]) -> str:
    """What the person said in a message of the user."""
    said = []
    content = payload.get("content")
    # What newer versions say of each text.
    kinds = items(payload, "internal_chat_message_metadata_passthrough", "content_item_kinds")
    for number, item in enumerate(content if isinstance(content, list) else [content]):
        text = item.get("text") if isinstance(item, dict) else item
        if not isinstance(text, str):
            left_out[IMAGE] += 1
            continue
        kind = kinds[number] if number < len(kinds) else None
        if (isinstance(kind, str) and not kind.startswith("user.")) or is_by_tool(text):
            left_out[OWN_TEXT] += 1
            continue
        said.append(_IMAGE_TAG.sub("", BEFORE_REQUEST.sub("", text)).strip())
    return "\n\n".join(filter(None, said))


def _texts(payload: dict[str, Any]) -> tuple[str, ...]:
    content = payload.get("content")
    items = content if isinstance(content, list) else [content]
    return strings(item.get("text") if isinstance(item, dict) else item for item in items)


def is_by_tool(text: str) -> bool:
    """Whether Codex wrote the text of a message of the user."""
    return bool(_WRAPPED.fullmatch(text) or _HEADED.match(text))


def folder_of(payload: dict[str, Any]) -> str | None:
    """The folder that Codex names among the environment, for versions that say it nowhere else.

    Only a text that is this element and nothing else counts: a repository's instructions, which Codex sends as well,
    may quote one, and would move the session to another project.
    """
    found = next(filter(None, map(_CWD.fullmatch, _texts(payload))), None)
    return found[1] or found[2] if found else None


def command_of(call: dict[str, Any]) -> str:
    """The command that a call runs in a shell; empty for any other call, and for a patch, which touches files."""
    given = _parsed(call.get("arguments") or call.get("action"))
    command = at(given, "command") or at(given, "cmd")
    if isinstance(command, list):
        command = command[-1] if command[1:2] in (["-lc"], ["-c"]) else " ".join(strings(command))
    return command if isinstance(command, str) and "*** Begin Patch" not in command else ""


def outcome(payload: Any) -> tuple[str, int | None]:
    """The output of a call and its exit code, in the text or in an object as JSON; None if it did not run."""
    told = _parsed(at(payload, "output"))
    if isinstance(told, dict):
        code = at(told, "metadata", "exit_code")
        return str(told.get("output") or ""), code if isinstance(code, int) else 0
    said = told if isinstance(told, str) else "\n".join(strings(at(item, "text") for item in items(payload, "output")))
    found = _EXIT_CODE.search(said, 0, 400)
    return said, int(found[1]) if found else None if said.startswith(_NOT_RUN) else 0


def _parsed(value: Any) -> Any:
    """An object that is given as JSON; any other value as it is."""
    is_json = isinstance(value, str) and value[:1] == "{"
    return parsed(value.encode("utf-8", "surrogatepass"), Findings()) if is_json else value


def transcripts(home: Home, workspace: Path) -> Iterator[Transcript]:
    """The sessions that began in this folder, below it, or above it."""
    base, places = home.moved("CODEX_HOME", ".codex"), transcript_file.places_of(workspace)
    for root in (base / "sessions", base / "archived_sessions"):
        for path in transcript_file.files_below(root, ".jsonl"):
            if not path.name.startswith("rollout-") or not _may_be_of(path, root, places):
                continue
            session = _SESSION.search(path.stem)
            yield from transcript_file.described("codex", session[1] if session else path.stem, [path])


def turns(transcript: Transcript, findings: Findings) -> Iterator[Turn]:
    """The session's turns. What was rolled back is left out.

    A session that was forked from another begins with a copy of its turns.
    """
    with transcript_file.opened(transcript.path, _root_of(transcript.path)) as file:
        rewound = _rewound(json_records.lines(file, Findings()))
        file.seek(0)
        yield from _Rollout(findings, rewound).turns(json_records.lines(file, findings))


class _Rollout:
    """A session's records in order. ``rewound`` has the numbers of the prompts that were rolled back."""

    def __init__(self, findings: Findings, rewound: frozenset[int]) -> None:
        self._findings, self._rewound = findings, rewound
        self._builder = TurnBuilder()
        self._folder: str | None = None
        self._branch: str | None = None
        self._part = ""
        self._began: str | None = None  # for versions that give no record a time of its own
        self._prompts = 0
        self._reply: Turn | None = None  # the last message of the assistant
        self._is_first = True
        self._calls = Calls()

    def turns(self, lines: Iterator[tuple[int, bytes]]) -> Iterator[Turn]:
        for number, line in lines:
            kind, payload_kind = _head_of(line)
            if kind == "event_msg" or kind in _SILENT:
                continue
            if kind == "response_item" and payload_kind in _OUTPUTS:
                self._findings.left_out[TOOL_OUTPUT] += 1
                if self._calls.waits(_CALL_ID.search(line)):
                    self._outcome(at(json_records.record(line, self._findings), "payload"))
                continue
            if kind == "response_item" and payload_kind in _THOUGHTS:
                self._findings.left_out[THINKING] += 1
                continue
            record = json_records.record(line, self._findings)
            if record is not None:
                yield from self._record(number, record)
        yield from self._add_reply()
        yield from self._builder.finish()

    def _record(self, number: int, record: dict[str, Any]) -> Iterator[Turn]:
        payload = record.get("payload")
        if not isinstance(payload, dict):
            yield from self._bare(number, record)
            return
        match record.get("type"):
            case "session_meta":
                self._session(payload)
            case "turn_context":
                self._folder = text(payload, "cwd") or self._folder
            case "response_item":
                yield from self._item(number, payload, moment(record.get("timestamp")))
            case "compacted":
                yield from self._compacted(payload)
            case kind:
                if str(kind) not in _SILENT:
                    self._findings.unknown[str(kind)[:80]] += 1

    def _bare(self, number: int, record: dict[str, Any]) -> Iterator[Turn]:
        """A record of a version before 0.32: the session without a type, or an item."""
        if "type" in record:
            yield from self._item(number, record, moment(record.get("timestamp")) or self._began)
        elif "record_type" not in record and "id" in record:
            self._session(record)
        elif "record_type" not in record:
            self._findings.unknown["record without a type"] += 1

    def _session(self, payload: dict[str, Any]) -> None:
        """A fork has a copy of the other session's record after its own; the first one is the session's."""
        if not self._is_first:
            return
        self._is_first = False
        self._folder, self._began = text(payload, "cwd"), moment(payload.get("timestamp"))
        self._branch = text(payload, "git", "branch")
        source = payload.get("source")
        if isinstance(source, dict) and "subagent" in source:
            self._part = text(payload, "id") or "sub-agent"
        note_version(payload.get("cli_version"), TESTED, self._findings)

    def _item(self, number: int, payload: dict[str, Any], at: str | None) -> Iterator[Turn]:
        left_out, kind = self._findings.left_out, str(payload.get("type"))
        speaker: Any = "assistant"
        words = ""
        files: tuple[str, ...] = ()
        tools: tuple[str, ...] = ()
        if kind == "message" and payload.get("role") == "user":
            speaker = "user"
            words = of_user(payload, left_out)
            self._prompts += bool(words)
            self._folder = self._folder or folder_of(payload)
        elif kind == "message" and payload.get("role") == "assistant":
            words = "\n\n".join(_texts(payload))
            self._calls.say(words)
        elif kind == "message":  # of the system or the developer
            left_out[OWN_TEXT] += 1
        elif kind in _CALLS:
            tools = (text(payload, "name") or kind.removesuffix("_call"),)
            files = touched_files(payload)
            call = Call(command_of(payload), files=files, place=f"line {number}")
            self._calls.begin(text(payload, "call_id"), call)
        elif kind in _OUTPUTS:
            left_out[TOOL_OUTPUT] += 1
            self._outcome(payload)
        elif kind in _THOUGHTS:
            left_out[THINKING] += 1
        else:
            self._findings.unknown[kind[:80]] += 1
        if self._prompts in self._rewound:
            left_out[REWOUND] += bool(words)
            return
        said = Turn(speaker, words, f"line {number}", at, self._folder, self._branch, self._part, files, Counter(tools))
        yield from self._add_reply()
        if speaker == "assistant" and words:
            self._reply = said
        else:
            yield from self._builder.add(said)

    def _outcome(self, payload: Any) -> None:
        """What became of the call whose output this is."""
        if self._prompts not in self._rewound:
            call = self._calls.end(text(payload, "call_id") or "", *outcome(payload))
            self._builder.add_call(self._part, call)

    def _add_reply(self) -> Iterator[Turn]:
        """Add the last message of the assistant, which is no summary for a compaction then."""
        if self._reply is not None:
            yield from self._builder.add(self._reply)
            self._reply = None

    def _compacted(self, payload: dict[str, Any]) -> Iterator[Turn]:
        """Codex lets the assistant write a summary in a message, and replaces the conversation so far by it."""
        summary = payload.get("message")
        if self._reply is not None and isinstance(summary, str) and self._reply.text.strip() in summary:
            self._reply = None
        yield from self._add_reply()
        yield from self._builder.mark("compacted")
        self._findings.left_out[SUMMARY] += 1


def _rewound(lines: Iterator[tuple[int, bytes]]) -> frozenset[int]:
    """The numbers, counted from 1, of the prompts that were rolled back: each rollback says how many of the last."""
    rewound = set[int]()
    live: list[int] = []
    prompts = 0
    for _, line in lines:
        kind, payload_kind = _head_of(line)
        is_message = (kind == "response_item" or not kind) and b'"role":"user"' in line[:400].replace(b" ", b"")
        if kind == "event_msg" and payload_kind == "thread_rolled_back":
            count = at(json_records.record(line, Findings()), "payload", "num_turns")
            if isinstance(count, int) and count > 0:
                rewound.update(live[-count:])
                del live[-count:]
        elif is_message and _is_prompt(line):
            prompts += 1
            live.append(prompts)
    return frozenset(rewound)


def _is_prompt(line: bytes) -> bool:
    record = json_records.record(line, Findings()) or {}
    payload = record.get("payload", record)
    if not isinstance(payload, dict) or payload.get("type") != "message" or payload.get("role") != "user":
        return False
    return bool(of_user(payload, Findings().left_out))


def _head_of(line: bytes) -> tuple[str, str]:
    """The kind of a record and of its payload, as far as its beginning tells."""
    head = _HEAD.match(line)
    return (head[1].decode(), (head[2] or b"").decode()) if head else ("", "")


def _may_be_of(path: Path, root: Path, places: list[Path]) -> bool:
    """Whether the session began in one of the folders, below, or above; also if it does not say where."""
    try:
        start = transcript_file.read_start(path, root, _PEEK)
    except OSError:
        return False
    found = _FOLDER.search(start)
    folder = json_records.parsed(found[1], Findings()) if found else None
    if not isinstance(folder, str):
        return True
    began = Path(folder)
    return any(began.is_relative_to(place) or place.is_relative_to(began) for place in places)


def _root_of(path: Path) -> Path:
    """The folder of all sessions, from the file of one."""
    return next((above for above in path.parents if above.name in ("sessions", "archived_sessions")), path.parent)
