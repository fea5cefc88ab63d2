"""What was said in a Codex record: the words of the person or the assistant, without what the tool added.

Codex sends its instructions, the environment and notices as messages of the user, each wrapped in a tag of its own.
Newer versions say of each text where it is from.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ..session import IMAGE, OWN_TEXT, Findings
from .json_records import at, items, parsed, strings

# A text that is one element from its beginning to its end, in tags that only a program writes.
_WRAPPED = re.compile(
    r"\s*<([a-z]+(?:[_ ][a-z]+)+|INSTRUCTIONS|image|skill|context|heartbeat)\b[^>]*>.*</\1>\s*", re.DOTALL
)
_HEADED = re.compile(r"\s*# AGENTS\.md instructions\b")
# The extension for editors puts the open files before what the person wrote.
_REQUEST = re.compile(
    r"\A\s*# (?:Context from my IDE setup|Files mentioned by the user)\b.*?^#+ My request for Codex:",
    re.DOTALL | re.MULTILINE,
)
_CWD = re.compile(
    r"\s*<environment_context>(?:(?!</?environment_context>).){0,200}?"
    r"(?:<cwd>([^<]{1,4000})</cwd>|\bCurrent working directory: ([^\n<]{1,4000}?)\s*(?:\n|(?=<)))"
    r"(?:(?!</?environment_context>).)*</environment_context>\s*",
    re.DOTALL,
)
_IMAGE_TAG = re.compile(r"<image\b[^>]*>|</image>")
_EXIT_CODE = re.compile(r"^(?:Exit code: |Process exited with code )(\d{1,5})", re.MULTILINE)
_NOT_RUN = ("aborted", "execution error", "exec_command failed", "failed in sandbox", "failed to")
_TOUCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.{1,1000}?)\s*$", re.MULTILINE)


def of_user(payload: dict[str, Any], left_out: Counter[str]) -> str:
    """What the person said in a message of the user."""
    said = []
    content = payload.get("content")
    kinds = _kinds(payload)
    for number, item in enumerate(content if isinstance(content, list) else [content]):
        text = item.get("text") if isinstance(item, dict) else item
        if not isinstance(text, str):
            left_out[IMAGE] += 1
            continue
        kind = kinds[number] if number < len(kinds) else None
        if (kind is not None and not kind.startswith("user.")) or is_by_tool(text):
            left_out[OWN_TEXT] += 1
            continue
        said.append(_IMAGE_TAG.sub("", _REQUEST.sub("", text)).strip())
    return "\n\n".join(filter(None, said))


def of_assistant(payload: dict[str, Any]) -> str:
    """What the assistant said in a message."""
    return "\n\n".join(_texts(payload))


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


def touched_files(call: dict[str, Any]) -> tuple[str, ...]:
    """The files of a patch that a tool call applies: as its input, or as an argument of a shell command."""
    text = call.get("input") or call.get("arguments") or call.get("action")
    if isinstance(text, dict):
        text = "\n".join(strings(items(text, "command")))
    if not isinstance(text, str) or "*** " not in text:
        return ()
    return tuple(dict.fromkeys(_TOUCHED.findall(text.replace("\\n", "\n"))))


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


def _kinds(payload: dict[str, Any]) -> list[str | None]:
    """What newer versions say of each text; empty for older ones."""
    kinds = items(payload, "internal_chat_message_metadata_passthrough", "content_item_kinds")
    return [kind if isinstance(kind, str) else None for kind in kinds]
