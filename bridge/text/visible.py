"""Text as people see it: without the characters that show nothing but that a language model or a terminal obeys.

A memory may hold text from anywhere. Unicode tag characters spell words that only a model reads, direction marks turn
a line round, an escape sequence moves the cursor. So whatever shows memories cleans them here: the notes for a prompt,
the MCP tools, and all that the command line prints for people. JSON for programs stays as it is stored.

A joiner stays where a script or an emoji needs it. The time is linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import Any

from ..pattern import pattern

# Unicode's Default_Ignorable_Code_Point, the controls but tab and line feed, and the interlinear annotation marks.
_UNSEEN = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_LINE_ENDS = "\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"
# Letters that a joiner shapes: Arabic, Syriac, N'Ko, the scripts of India and their relatives, Mongolian, Adlam.
_JOINING = (
    "\u0620-\u06dc\u06de-\u08e1\u08e3-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa\u1b00-\u1c4f"
    "\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010aff\U00010d00-\U00010d3f\U00010f30-\U00010fdf"
    "\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
_EMOJI = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# A whole escape sequence: CSI; or a string such as a window title, with its end.
_ESCAPE = pattern(
    "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\\\|\x9c)"
)
_JOINERS, _EMOJI_STYLES, _MONGOLIAN_FORMS = "\u200c\u200d", "\ufe0e\ufe0f", "\u180b\u180c\u180d\u180f"
_SUSPECT = pattern(f"[{_UNSEEN}{_LINE_ENDS}{_JOINERS}{_EMOJI_STYLES}{_MONGOLIAN_FORMS}]")


def visible(text: str) -> str:
    """The text without invisible characters, controls and escape sequences. Idempotent.

    Tabs and line feeds stay; any other line end becomes a blank, and CR LF a line feed. Of the joiners and selectors,
    one stays after a letter of a script that joins, and inside an emoji. Flags of regions lose their tags, and
    ideographs their variation selectors.
    """
    return _SUSPECT.sub(_replacement, _ESCAPE.sub("", text)) if _SUSPECT.search(text) else text


def _replacement(found: re.Match[str]) -> str:
    character, text, at = found[0], found.string, found.start()
    if character in _LINE_ENDS:
        return "" if text.startswith("\n", at + 1) else " "
    return character if _is_needed(character, text[max(0, at - 2) : at], text[at + 1 : at + 2]) else ""


def _is_needed(character: str, before: str, after: str) -> bool:
    """Whether the characters around need this joiner or selector. Only such as stay themselves are looked at."""
    last = before[-1:]
    if character in _MONGOLIAN_FORMS:
        return "\u1820" <= last <= "\u18aa"
    if character in _EMOJI_STYLES:
        is_keycap = last in tuple("0123456789#*") and after == "\u20e3" and character == "\ufe0f"
        return is_keycap or _is_in(_EMOJI, last)
    if character not in _JOINERS:
        return False
    if _is_in(_JOINING, last):
        return True
    emoji = before[:1] if last == "\ufe0f" else last
    return character == "\u200d" and _is_in(_EMOJI, emoji) and _is_in(_EMOJI, after)


def _is_in(ranges: str, character: str) -> bool:
    """Whether the character is in a character class. ``re`` keeps the compiled class."""
    return re.match(f"[{ranges}]", character) is not None


def visible_value(value: Any) -> Any:
    """A JSON value with each text in it as ``visible`` returns it. Names of fields stay."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: visible_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [visible_value(each) for each in value]
    return value
