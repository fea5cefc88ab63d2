"""What a message of OpenCode says: its parts that the person or the assistant wrote, without what the tool added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..failures import ended
from ..session import IMAGE, OWN_TEXT, REWOUND, SUMMARY, THINKING, TOOL_OUTPUT, Call, Findings, Marker
from .codex_text import touched_files
from .fields import at, items, strings, text
from .turn_builder import Utterance, moment

# Kinds of parts that say nothing.
_CHANGING = frozenset({"edit", "write", "multiedit"})
_SILENT = frozenset({"step-start", "step-finish", "snapshot", "retry", "agent"})


@dataclass(frozen=True, slots=True)
class Reverted:
    """The message from which on the session was reverted, or the part of it. It stays in the transcript until the
    person goes on."""

    message_id: str
    part_id: str | None


def reverted(value: Any) -> Reverted | None:
    """From the session's record; None if nothing is reverted."""
    message_id = text(value, "messageID")
    return None if message_id is None else Reverted(message_id, text(value, "partID"))


def said(
    message: dict[str, Any], parts: list[dict[str, Any]], reverted_from: Reverted | None, findings: Findings
) -> Utterance | Marker | None:
    """What the message says, without a place, or that it asks to compact the conversation; None if it says nothing to
    keep.

    The ids of messages and parts grow with the time.
    """
    speaker: Any = message.get("role")
    if speaker not in ("user", "assistant"):
        findings.unknown[f"message by {speaker}"[:80]] += 1
        return None
    if speaker == "user" and any(part.get("type") == "compaction" for part in parts):
        return "compacted"
    if message.get("summary") is True:
        findings.left_out[SUMMARY] += 1
        return None
    if reverted_from is not None:
        message_id = str(message.get("id"))
        if message_id > reverted_from.message_id or (
            message_id == reverted_from.message_id and reverted_from.part_id is None
        ):
            findings.left_out[REWOUND] += 1
            return None
        if message_id == reverted_from.message_id:
            parts = [part for part in parts if str(part.get("id")) < (reverted_from.part_id or "")]
    texts: list[str] = []
    files: list[Any] = []
    tools: list[Any] = []
    calls: list[Call | None] = []
    for part in parts:
        _add(part, texts, files, tools, findings)
        calls.append(_ended(part, "".join(texts[-1:])))
    return Utterance(
        speaker,
        "\n\n".join(texts),
        "",
        moment(at(message, "time", "created")),
        text(message, "path", "cwd"),
        files=strings(files),
        tools=strings(tools),
        calls=tuple(filter(None, calls)),
    )


def _ended(part: dict[str, Any], said_before: str) -> Call | None:
    """The call that a part is, with its outcome."""
    state = part.get("state")
    if part.get("type") != "tool" or not isinstance(state, dict):
        return None
    changed = strings([at(state, "input", "filePath")]) if part.get("tool") in _CHANGING else ()
    files = (*changed, *touched_files({"input": at(state, "input", "patchText")}))
    known = state.get("metadata") if part.get("tool") == "bash" else {"exit": 0}
    exit_code = at(known, "exit") if state.get("status") == "completed" else None
    call = Call(text(state, "input", "command") or "", said=said_before, files=files)
    return ended(call, text(state, "output") or "", exit_code if isinstance(exit_code, int) else None)


def _add(part: dict[str, Any], texts: list[str], files: list[Any], tools: list[Any], findings: Findings) -> None:
    kind = part.get("type")
    match kind:
        case "text":
            if part.get("synthetic") or part.get("ignored"):
                findings.left_out[OWN_TEXT] += 1
            else:
                texts.extend(strings([part.get("text")]))
        case "tool":
            tools.append(part.get("tool"))
            state = part.get("state")
            if isinstance(state, dict):
                findings.left_out[TOOL_OUTPUT] += 1
                files.append(at(state, "input", "filePath"))
                files.extend(touched_files({"input": at(state, "input", "patchText")}))
        case "patch":
            files.extend(items(part, "files"))
        case "reasoning":
            findings.left_out[THINKING] += 1
        case "file":
            findings.left_out[IMAGE] += 1
        case "subtask":
            findings.left_out[OWN_TEXT] += 1
        case _:
            if kind not in _SILENT:
                findings.unknown[str(kind)[:80]] += 1
