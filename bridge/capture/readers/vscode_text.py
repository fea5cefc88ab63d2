"""What a request of VS Code's chat and its response say, without what the editor added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from ..failures import ended
from ..session import OWN_TEXT, REWOUND, THINKING, TOOL_OUTPUT, Call, Findings
from .fields import at, items, objects, strings
from .turn_builder import Utterance, moment
from .vscode_folders import local_path

_TOOL_CALLS = frozenset({"toolInvocationSerialized", "toolInvocation"})
# Kinds of parts of a response that nobody said, up to VS Code 1.139.
_SILENT = frozenset(
    "agentMention autoModeResolution clearToPreviousToolInvocation codeCitation command confirmation content"
    " disabledClaudeHooks elicitation elicitation2 elicitationSerialized extensions externalEdits hook info move"
    " mcpServersStarting mcpServersStartingSerialized mcpAppsWithNoServer multiDiffData planReview"
    " prepareToolInvocation progressMessage progressTask progressTaskResult progressTaskSerialized pullRequest"
    " questionCarousel reference treeData undoStop usage usedContext warning".split()
)
_EDITS = frozenset({"textEditGroup", "notebookEditGroup", "codeblockUri", "textEdit", "notebookEdit", "workspaceEdit"})


def said(request: Any, findings: Findings) -> Iterator[Utterance]:
    """What the person asked, and what the assistant answered, without places."""
    if not isinstance(request, dict):
        findings.damaged += 1
        return
    if request.get("shouldBeRemovedOnSend") or request.get("isHidden"):
        findings.left_out[REWOUND] += 1
        return
    asked_at = moment(request.get("timestamp"))
    text = _asked(request.get("message"))
    if request.get("isSystemInitiated") or request.get("hiddenFromTranscript"):
        findings.left_out[OWN_TEXT] += 1
    else:
        yield Utterance("user", text, "", asked_at)
    answered_at = moment(at(request, "modelState", "completedAt"))
    edited = [_path_of(each.get("uri")) for each in objects(request, "editedFileEvents")]
    text, files, tools, calls = _answered(request.get("response"), findings)
    yield Utterance(
        "assistant",
        text,
        "",
        answered_at or asked_at,
        files=tuple(dict.fromkeys((*files, *strings(edited)))),
        tools=tools,
        calls=calls,
    )


def _asked(message: Any) -> str:
    """The person's words, without the name of the participant that they are for."""
    if isinstance(message, str):
        return message
    if not isinstance(message, dict) or not isinstance(message.get("text"), str):
        return ""
    text: str = message["text"]
    first = next(iter(items(message, "parts")), None)
    end = at(first, "range", "endExclusive")
    is_named = at(first, "kind") == "agent" and isinstance(end, int) and text.startswith("@")
    return text[end:] if is_named else text


def _answered(response: Any, findings: Findings) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[Call, ...]]:
    """The text, the edited files, the called tools and the calls of a response."""
    blocks: list[str] = []
    files: list[Any] = []
    tools: list[Any] = []
    calls: list[Call | None] = []
    is_running = False  # whether the next text continues the one before
    for part in response if isinstance(response, list) else [response]:
        text = _text_of(part)
        if text is not None:
            if is_running:
                blocks[-1] += text
            else:
                blocks.append(text)
            is_running = True
            continue
        if not isinstance(part, dict):
            findings.damaged += part is not None
            continue
        is_running = False
        kind = part.get("kind")
        if kind in _TOOL_CALLS:
            tools.append(part.get("toolId") or "tool")
            findings.left_out[TOOL_OUTPUT] += 1
            calls.append(_ended(part.get("toolSpecificData"), "".join(blocks[-1:])))
        elif kind == "thinking":
            findings.left_out[THINKING] += 1
        elif kind in _EDITS:
            edited = strings(_edited(part))
            files.extend(edited)
            calls.append(ended(Call("", said="".join(blocks[-1:]), files=edited), "", 0))
        elif kind not in _SILENT:
            findings.unknown[str(kind)[:80]] += 1
    answered = "\n\n".join(block.strip() for block in blocks if block.strip())
    return answered, strings(files), strings(tools), tuple(filter(None, calls))


def _ended(data: Any, said_before: str) -> Call | None:
    """The command that ran in a terminal, with its outcome."""
    command = at(data, "commandLine", "toolEdited") or at(data, "commandLine", "original")
    exit_code = at(data, "terminalCommandState", "exitCode")
    if not isinstance(command, str) or not isinstance(exit_code, int):
        return None
    return ended(Call(command, said=said_before), str(at(data, "terminalCommandOutput", "text") or ""), exit_code)


def _text_of(part: Any) -> str | None:
    """The text of a part of a response; None for a part of another kind."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("kind")
    if kind == "inlineReference":
        name = part.get("name") or PurePosixPath(_path_of(part.get("inlineReference")) or "").name
        return f"`{name}`" if isinstance(name, str) and name else ""
    content = part if kind is None else part.get("content") if kind in ("markdownContent", "markdownVuln") else None
    if isinstance(content, dict) and isinstance(content.get("value"), str):
        value: str = content["value"]
        return value
    return content if isinstance(content, str) else None


def _edited(part: dict[str, Any]) -> Iterator[str | None]:
    if part.get("kind") == "codeblockUri" and not part.get("isEdit"):
        return
    yield _path_of(part.get("uri"))
    for edit in objects(part, "edits") if part.get("kind") == "workspaceEdit" else ():
        yield _path_of(edit.get("newResource") or edit.get("resource"))


def _path_of(value: Any) -> str | None:
    """The path of a URI, or of a location in a file. A path of another machine does not fit to the session's folder,
    and is left out with it."""
    if isinstance(value, dict) and "path" not in value and isinstance(value.get("uri"), dict):
        value = value["uri"]
    return local_path(value, is_server=True)
