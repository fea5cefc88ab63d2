"""What was said in a Claude Code record: the words of the person or the assistant, without what the tool added.

Claude Code puts its own notes into messages of the user: reminders, the output of commands, notifications, summaries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...text.sections import one_line
from ..session import ANSWERED, IMAGE, OWN_TEXT, SUMMARY, THINKING, TOOL_OUTPUT, Call, Marker
from .json_records import at, strings, text

COMMAND = "command"

_WRAPPED = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|local-command-caveat|local-command-stdout"
    r"|local-command-stderr|bash-input|bash-stdout|bash-stderr|task-notification|user-prompt-submit-hook"
    r"|post-tool-use-hook|session-start-hook|mcp-resource-update|mcp-polling-update|teammate-message|fork-boilerplate"
    r"|channel-message|tick|new-diagnostics)(?:\s[^>]*)?>.*?(?:</\1>|\Z)"
    r"(?:\s*(?:Read the output file to retrieve the result|Full transcript available at): \S+)?",
    re.DOTALL,
)
_MEMORY = re.compile(r"</?user-memory-input>")
_COMMAND = re.compile(r"<command-name>\s*(/?[^<]{0,200}?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]{0,40}\]")
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,5})\b")
_CHANGING = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_REJECTION = "the user said:"
_CLARIFY = "The user wants to clarify these questions."  # the tool's own words, where nothing else was said
_MEMORY_NOTE = "\n\nNote: "
_CLEARING = frozenset({"/clear", "/new", "/reset", "clear"})
_CONTINUED = "This session is being continued from a previous conversation"


class UserText(NamedTuple):
    """What a record says, and what ends with it."""

    text: str = ""
    marker: Marker | None = None


def of_user(record: dict[str, Any], left_out: Counter[str]) -> UserText:
    """What the person said in a record of the user."""
    blocks = _blocks(at(record, "message", "content"))
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    if record.get("isCompactSummary") is True or (texts and texts[0].startswith(_CONTINUED)):
        left_out[SUMMARY] += 1
        return UserText(marker="compacted")
    if _is_by_tool(record):
        left_out[OWN_TEXT] += 1
        return UserText()
    results = [block for block in blocks if block.get("type") == "tool_result"]
    left_out[TOOL_OUTPUT] += len(results)
    left_out[IMAGE] += sum(block.get("type") in ("image", "document") for block in blocks)
    said = [_without_notes(text, left_out) for text in texts]
    said += [_rejection(result) for result in results] + _answers(record.get("toolUseResult"))
    command = _COMMAND.search("\n".join(texts))
    if command is None:
        return UserText("\n\n".join(filter(None, said)))
    return _command(command[1], "\n".join(texts), left_out)


def of_attachment(record: dict[str, Any], left_out: Counter[str]) -> str:
    """What the person said while the assistant was at work, which Claude Code keeps as an attachment."""
    attachment, is_command = at(record, "attachment"), at(record, "attachment", "commandMode") == "bash"
    if is_command or _is_by_tool(attachment):
        left_out[COMMAND if is_command else OWN_TEXT] += 1
        return ""
    texts = (block.get("text") for block in _blocks(at(attachment, "prompt")))
    return "\n\n".join(filter(None, (_without_notes(text, left_out) for text in strings(texts))))


class Reply(NamedTuple):
    """What a record of the assistant says, which tools it calls on which files, and the calls by their ids."""

    text: str = ""
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    calls: tuple[tuple[str, Call], ...] = ()


def of_assistant(record: dict[str, Any], left_out: Counter[str]) -> Reply:
    """What the assistant said in a record. A plan and a question that it shows to the person count as said."""
    message = record.get("message")
    if not isinstance(message, dict) or record.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
        left_out[OWN_TEXT] += 1
        return Reply()
    texts: list[str] = []
    tools: list[str] = []
    files: list[str] = []
    calls: list[tuple[str, Call]] = []
    for block in _blocks(message.get("content")):
        match block.get("type"):
            case "text":
                texts += strings([block.get("text")])
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                tools += strings([block.get("name")])
                named = strings([at(block, "input", "file_path"), at(block, "input", "notebook_path")])
                files += named
                changed = named if block.get("name") in _CHANGING else ()
                calls.append((str(block.get("id")), Call(text(block, "input", "command") or "", files=changed)))
                if block.get("name") == "ExitPlanMode":
                    texts += strings([at(block, "input", "plan")])
            case "thinking" | "redacted_thinking":
                left_out[THINKING] += 1
            case _:
                left_out[TOOL_OUTPUT] += 1
    return Reply("\n\n".join(texts), tuple(tools), tuple(files), tuple(calls))


def outcomes(record: Any) -> Iterator[tuple[str, str, int | None]]:
    """The id of each call of which a record has the result, its output, and its exit code; None for a call that failed
    otherwise."""
    for block in _blocks(at(record, "message", "content")):
        if block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str):
            output = "\n".join(strings(part.get("text") for part in _blocks(block.get("content"))))
            failed = _EXIT_CODE.match(output) if block.get("is_error") else None
            code = int(failed[1]) if failed else None if block.get("is_error") else 0
            yield block["tool_use_id"], output[failed.end() :] if failed else output if code == 0 else "", code


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _is_by_tool(record: Any) -> bool:
    """Whether the tool wrote the text, not the person."""
    return (
        at(record, "isMeta") is True
        or at(record, "isVisibleInTranscriptOnly") is True
        or at(record, "origin", "kind") not in (None, "human")
        or at(record, "promptSource") == "system"
    )


def _without_notes(text: str, left_out: Counter[str]) -> str:
    said, notes = _WRAPPED.subn("", text)
    said, interruptions = _INTERRUPTED.subn("", said)
    left_out[OWN_TEXT] += notes + interruptions
    return _MEMORY.sub("", said).strip()


def _command(name: str, text: str, left_out: Counter[str]) -> UserText:
    """A slash command says something if it has arguments."""
    left_out[COMMAND] += 1
    arguments = _ARGUMENTS.search(text)
    said = arguments[1].strip() if arguments else ""
    name = f"/{name.removeprefix('/')}"
    if name in _CLEARING:
        return UserText(marker="cleared")
    return UserText(f"{name} {said}" if said else "")


def _rejection(result: dict[str, Any]) -> str:
    """What the person said when they rejected a call."""
    for block in _blocks(result.get("content")) if result.get("is_error") else ():
        _, found, said = str(block.get("text", "")).partition(_REJECTION)
        if found and _CLARIFY not in said:
            return said.partition(_MEMORY_NOTE)[0].strip()
    return ""


def _answers(result: Any) -> list[str]:
    """The questions that the assistant asked by a tool, each with the answer, as ``Which database? → SQLite``."""
    answers = at(result, "answers")
    if not isinstance(answers, dict):
        return []
    return [
        f"{one_line(question)}{ANSWERED}{one_line(answer)}"
        for question, answer in answers.items()
        if isinstance(answer, str) and answer
    ]
