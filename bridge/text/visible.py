"""Text as people see it: without the characters that show nothing but that a language model or a terminal obeys.

A memory may hold text from anywhere. Unicode tag characters spell words that only a model reads, direction marks turn
a line round, an escape sequence moves the cursor. So whatever shows memories cleans them here: the notes for a prompt,
the MCP tools, and all that the command line prints for people. JSON for programs stays as it is stored.

A joiner stays where a script or an emoji needs it. One regular expression reads the text once, in linear time.
"""

from __future__ import annotations

import re
from typing import Any

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
_TO_REMOVE = re.compile(
    # A whole escape sequence: CSI; or a string such as a window title, with its end. A lone ESC is in _UNSEEN.
    "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\\\|\x9c)"
    f"|[{_LINE_ENDS}]"
    f"|[{_UNSEEN}]"
    f"|(?<![{_JOINING}])\u200c"
    f"|(?<![{_JOINING}])(?!(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d[{_EMOJI}])\u200d"
    f"|(?<![{_EMOJI}])(?!(?<=[0-9#*])\ufe0f\u20e3)[\ufe0e\ufe0f]"
    "|(?<![\u1820-\u18aa])[\u180b-\u180d\u180f]"
)


def visible(text: str) -> str:
    """The text without invisible characters, controls and escape sequences. Idempotent.

    Tabs and line feeds stay; any other line end becomes a blank, and CR LF a line feed. Of the joiners and selectors,
    one stays after a letter of a script that joins, and inside an emoji. Flags of regions lose their tags, and
    ideographs their variation selectors.
    """
    return _TO_REMOVE.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    ends_a_line = found[0] in frozenset(_LINE_ENDS) and not found.string.startswith("\n", found.end())
    return " " if ends_a_line else ""


def visible_value(value: Any) -> Any:
    """A JSON value with each text in it as ``visible`` returns it. Names of fields stay."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: visible_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [visible_value(each) for each in value]
    return value
