"""What a message of OpenCode says: its parts that the person or the assistant wrote, without what the tool added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..session import Findings, Speaker
from .codex_text import touched_files
from .turn_builder import Said, moment, strings

TOOL_OUTPUT = "tool output"
THINKING = "thinking"
OWN_TEXT = "text by the tool"
IMAGE = "image or document"
SUMMARY = "summary by the tool"
REVERTED = "rewound turn"

# What `said` gives for the request to compact the conversation.
COMPACTED = Said("user", "", "compacted")

# Kinds of parts that say nothing.
_SILENT = frozenset({"step-start", "step-finish", "snapshot", "retry", "agent"})


@dataclass(frozen=True, slots=True)
class Reverted:
    """The message from which on the session was reverted, or the part of it. It stays in the transcript until the
    person goes on."""

    message_id: str
    part_id: str | None


def reverted(value: Any) -> Reverted | None:
    """From the session's record; None if nothing is reverted."""
    if not isinstance(value, dict) or not isinstance(value.get("messageID"), str):
        return None
    part_id = value.get("partID")
    return Reverted(value["messageID"], part_id if isinstance(part_id, str) else None)


def said(
    message: dict[str, Any], parts: list[dict[str, Any]], reverted_from: Reverted | None, findings: Findings
) -> Said | None:
    """What the message says, without a place; None if it says nothing to keep.

    The ids of messages and parts grow with the time.
    """
    speaker: Speaker
    match message.get("role"):
        case "user":
            speaker = "user"
        case "assistant":
            speaker = "assistant"
        case role:
            findings.unknown[f"message by {role}"[:80]] += 1
            return None
    if speaker == "user" and any(part.get("type") == "compaction" for part in parts):
        return COMPACTED
    if message.get("summary") is True:
        findings.left_out[SUMMARY] += 1
        return None
    if reverted_from is not None:
        message_id = str(message.get("id"))
        if message_id > reverted_from.message_id or (
            message_id == reverted_from.message_id and reverted_from.part_id is None
        ):
            findings.left_out[REVERTED] += 1
            return None
        if message_id == reverted_from.message_id:
            parts = [part for part in parts if str(part.get("id")) < (reverted_from.part_id or "")]
    texts: list[str] = []
    files: list[Any] = []
    tools: list[Any] = []
    for part in parts:
        _add(part, texts, files, tools, findings)
    time, path = message.get("time"), message.get("path")
    folder = path.get("cwd") if isinstance(path, dict) else None
    return Said(
        speaker,
        "\n\n".join(texts),
        "",
        moment(time.get("created")) if isinstance(time, dict) else None,
        folder if isinstance(folder, str) else None,
        files=strings(files),
        tools=strings(tools),
    )


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
                called_with = state.get("input")
                if isinstance(called_with, dict):
                    files.append(called_with.get("filePath"))
                    files.extend(touched_files({"input": called_with.get("patchText")}))
        case "patch":
            changed = part.get("files")
            files.extend(changed if isinstance(changed, list) else [])
        case "reasoning":
            findings.left_out[THINKING] += 1
        case "file":
            findings.left_out[IMAGE] += 1
        case "subtask":
            findings.left_out[OWN_TEXT] += 1
        case _:
            if kind not in _SILENT:
                findings.unknown[str(kind)[:80]] += 1
