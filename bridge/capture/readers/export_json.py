"""Conversations in the JSON that chat programs export, and in plain lists of messages.

ChatGPT's ``conversations.json`` has a tree of messages, of which the branch that ends at ``current_node`` was shown
last. Claude.ai's has ``chat_messages`` with a sender each. Everything else that has a role and a content is a list of
messages as the programming interfaces of models take it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..session import OWN_TEXT, THINKING, TOOL_OUTPUT, Findings
from .export_labels import SPEAKERS
from .fields import at, items, objects, strings
from .turn_builder import Utterance, moment

_OTHERS = frozenset({"system", "developer", "tool", "function"})
_LISTS = ("chat_messages", "messages", "conversation", "history", "turns", "items")


def is_conversation(value: Any) -> bool:
    """Whether a JSON value holds messages of its own."""
    return isinstance(value, dict) and (
        isinstance(value.get("mapping"), dict) or any(isinstance(value.get(name), list) for name in _LISTS)
    )


def said(conversation: Any, place: str, findings: Findings) -> Iterator[Utterance]:
    """What each message of a conversation says, with its place."""
    for number, message in enumerate(_messages(conversation), start=1):
        yield from said_in(message, f"{place}message {number}", findings)


def said_in(message: Any, place: str, findings: Findings) -> Iterator[Utterance]:
    """What one message says; nothing if it is of neither speaker."""
    if not isinstance(message, dict):
        findings.damaged += 1
        return
    inner = message.get("message")
    if isinstance(inner, dict):
        message = {**message, **inner}
    role = _role(message)
    speaker = SPEAKERS.get(role)
    if speaker is None:
        if role in _OTHERS:
            findings.left_out[OWN_TEXT if role in ("system", "developer") else TOOL_OUTPUT] += 1
        else:
            findings.unknown[f"message of {role[:60]}" if role else "message without a role"] += 1
        return
    times = (message.get(name) for name in ("created_at", "create_time", "createdAt", "timestamp", "time", "date"))
    tools = tuple(_tools(message))
    text = "" if _is_hidden(message) else _text(message, findings.left_out)
    yield Utterance(speaker, text, place, next(filter(None, map(moment, times)), None), tools=tools)


def _messages(conversation: Any) -> list[Any]:
    if isinstance(conversation, list):
        return conversation
    if not isinstance(conversation, dict):
        return []
    if isinstance(mapping := conversation.get("mapping"), dict):
        return _branch(mapping, conversation.get("current_node"))
    return next((value for name in _LISTS if isinstance(value := conversation.get(name), list)), [])


def _branch(mapping: dict[str, Any], leaf: Any) -> list[Any]:
    """The messages from the root of the tree to the leaf; without one, to the last message."""
    if not isinstance(leaf, str) or leaf not in mapping:
        leaf = next(reversed(mapping), None)
    found, seen = [], set[str]()
    while isinstance(leaf, str) and leaf not in seen and isinstance(node := mapping.get(leaf), dict):
        seen.add(leaf)
        if isinstance(node.get("message"), dict):
            found.append(node["message"])
        leaf = node.get("parent")
    return found[::-1]


def _role(message: dict[str, Any]) -> str:
    author = message.get("author")
    author = author.get("role") if isinstance(author, dict) else author
    roles = message.get("role"), message.get("sender"), author, message.get("from"), message.get("speaker")
    return next(iter(strings(roles)), "").strip().lower()


def _is_hidden(message: dict[str, Any]) -> bool:
    """Whether ChatGPT did not show it: a call of a tool, or what it knows of the user."""
    is_said_hidden = at(message, "metadata", "is_visually_hidden_from_conversation") is True
    return is_said_hidden or message.get("recipient") not in ("all", None)


def _text(message: dict[str, Any], left_out: Counter[str]) -> str:
    content = message.get("content", message.get("parts"))
    if isinstance(content, dict):
        if content.get("content_type", "text") not in ("text", "multimodal_text"):
            left_out[THINKING if content.get("content_type") in ("thoughts", "reasoning_recap") else TOOL_OUTPUT] += 1
            return ""
        content = content.get("parts", content.get("text"))
    texts = []
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict) and item.get("type", "text") in ("text", "input_text", "output_text"):
            texts += strings([item.get("text")])
        elif isinstance(item, dict):
            left_out[THINKING if item.get("type") == "thinking" else TOOL_OUTPUT] += 1
    said = "\n\n".join(filter(None, texts))
    return said or next(iter(strings([message.get("text"), message.get("value")])), "")


def _tools(message: dict[str, Any]) -> Iterator[str]:
    yield from strings(at(call, "function", "name") for call in items(message, "tool_calls"))
    yield from strings(item.get("name") for item in objects(message, "content") if item.get("type") == "tool_use")
