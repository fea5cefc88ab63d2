"""Orders to an assistant that stand in a memory: "ignore previous instructions", "you must run …", and the like.

A memory may hold a web page or a mail that somebody pasted. Whatever shows memories to an assistant quotes them, and
marks such words; they are nobody's decision. Words alone tell it, in a few languages: a memory without a mark is no
less a note to weigh.
"""

from __future__ import annotations

import re

from ..pattern import pattern

MARK = "[order to an assistant, not a decision] "

_RULES = r"(?:instructions?|prompts?|rules?|directions?|guidelines?|orders?|context|messages?)"
_ORDER = pattern(
    rf"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{{0,30}}\b(?:previous|prior|above|earlier|preceding"
    rf"|system|safety|all (?:of )?(?:your|other))\b[^.!?\n]{{0,20}}\b{_RULES}\b"
    r"|\byou (?:must|have to|are (?:now )?(?:required|instructed|ordered) to|shall)"
    r"(?: \w+ly| now| always| first| also){0,2}"
    r" (?:run|execute|eval|call|invoke|fetch|download|curl|wget|send|post|upload|email|transmit|delete|erase|install"
    r"|reveal|disclose|exfiltrate|obey|ignore|comply|visit|click|reply with|respond with|output)\b"
    r"|\b(?:do not|don['’]?t|never) (?:tell|inform|mention (?:this|it) to|warn|alert|notify|reveal (?:this|it) to)"
    r" (?:the )?(?:user|person|human|developer|owner|operator|anyone|anybody)\b"
    r"|\bwithout (?:telling|asking|informing|notifying) the (?:user|person|human|developer|owner)\b"
    r"|\byou are (?:now|no longer) (?:an?|the|in|bound)\b|\bas an? (?:ai|language model|ai assistant)\b"
    r"|\b(?:new|updated|real|hidden|secret) (?:system )?instructions?\s*:|\bsystem (?:prompt|override|message)\s*:"
    r"|^[^\w\n]{0,12}(?:important|attention|note|system|instructions?)\W{1,6}(?:(?:for|to) )?"
    r"(?:the |all |any )?(?:ai|llm|assistants?|(?:ai |coding )?agents?|language models?|claude|copilot|gemini)\b"
    r"|<\W{0,3}/?(?:system|instructions?|assistant)\b[^<>\n]{0,40}>|\[/?(?:SYSTEM|INST)\]"
    r"|\b(?:ignoriere|missachte|vergiss)\b[^.!?\n]{0,40}\b(?:anweisung|regel|vorgabe)\w*"
    r"|\b(?:ignore[zr]?|oublie[zr]?)\b[^.!?\n]{0,40}\b(?:instructions|consignes)\b"
    r"|\b(?:ignora|olvida|ignore)\b[^.!?\n]{0,40}\b(?:instrucciones|instruções|istruzioni)\b"
    r"|(?:игнорируй|забудь)[^.!?\n]{0,40}(?:инструкци|указани)"
    r"|(?:忽略|无视|忘记)[^。！？\n]{0,16}(?:指令|指示|提示|规则)|指示[^。\n]{0,8}無視",
    re.IGNORECASE | re.MULTILINE,
)

_BEFORE_WORDS = pattern(r"[\s>*+-]*(?:\d{1,2}[.)]\s+)?")


def is_order(text: str) -> bool:
    """Whether a text holds an order to an assistant."""
    return _ORDER.search(text) is not None


def marked(text: str) -> str:
    """The text, with the mark before the words of each line that holds such an order. Idempotent."""
    return "\n".join(map(_marked_line, text.split("\n"))) if is_order(text) else text


def _marked_line(line: str) -> str:
    start = _BEFORE_WORDS.match(line)
    at = start.end() if start else 0
    return f"{line[:at]}{MARK}{line[at:]}" if is_order(line) and not line.startswith(MARK, at) else line
