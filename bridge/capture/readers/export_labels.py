"""How exports label who speaks: one table of forms, and which of them a file uses; and times as exports write them, in
labels, in the head of a file, in its name.

A file uses one form. A name that stands in it as often as the assistant's, and before it, is the person's. A date that
may mean two days is unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..session import Speaker
from .turn_builder import moment

Form = Literal["aider", "terminal", "emphasis", "heading", "bracket", "plain"]

_ASIDE = r"(?:\s*[*_]*\s*[(\[]([^)\]\n]{0,120})[)\]])?"
_NAME = rf"[^\w*_#<>&`|(\[-]{{0,4}}\s*([^\W\d_][\w .&-]{{0,30}}?){_ASIDE}"  # emoji may stand before a name
_COMMAND = r"/(?:ask|code|architect)\s+(?=\S)|/[a-z-]+(?:\s.*)?$"  # of aider: before a request, or alone
# Each form: a label with the name, what stands beside it in brackets, and the text after it.
FORMS: dict[Form, tuple[str, re.Pattern[str]]] = {
    "emphasis": (
        "**User:**, _**User**_, ***You said:***",
        re.compile(rf"[^\w*_#<>&`|(\[-]{{0,4}}\s*[*_]{{2,4}}{_NAME}\s*(?::[*_]{{2,4}}|[*_]{{2,4}}\s*:|[*_]{{2,4}}\s*$)\s*(.*)$"),
    ),
    "heading": ("## User, ###### **ChatGPT said:**", re.compile(rf"#{{1,6}}\s+[*_]*{_NAME}\s*:?[*_]*\s*:?\s*()$")),
    "bracket": ("[USER]", re.compile(r"\[([A-Za-z][A-Za-z ]{1,20})\]()\s*:?\s*()$")),
    "plain": ("User: …", re.compile(r"([^\W\d_][\w .-]{0,24}?):()(?:\s+(.*))?$")),
    "aider": ("#### a request (aider)", re.compile(rf"####()()(?:\s(?:{_COMMAND})?(.*)|$)")),
    "terminal": ("❯ a request (Claude Code's terminal)", re.compile(r"([>❯])()\s(.*)$")),
}  # fmt: skip
_MARKDOWN: tuple[Form, ...] = ("emphasis", "heading", "bracket", "plain")
SPEAKERS: dict[str, Speaker] = {
    **dict.fromkeys(
        ("user", "human", "you", "me", "prompt", "question", "person", "user input", "user request"), "user"
    ),
    **dict.fromkeys(
        (
            *("assistant", "ai", "claude", "claude code", "chatgpt", "gpt", "gpt-4", "gpt-5", "codex", "copilot"),
            *("github copilot", "gemini", "cursor", "model", "bot", "agent", "response", "answer", "planner response"),
            *("deepseek", "grok", "perplexity", "cascade", "windsurf", "ai response"),
        ),
        "assistant",
    ),
}
_OTHERS = frozenset(
    {"system", "tool", "tool result", "tool output", "tool use", "thinking", "tool exchange", "agent - sidechain"}
)
_AIDER = re.compile(r"# aider chat started at")
_AIDER_END = "  "
_TERMINAL = re.compile(r"(?:[⏺●]|\s{1,4}⎿)\s")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")

_ISO = re.compile(
    r"(?<!\d)(20\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?:[T _]+(\d{1,2})[:-](\d\d)(?:[:-](\d\d(?:\.\d{1,6})?))?)?(?!\d)"
)
_LOCAL = re.compile(
    r"(?<!\d)(\d{1,2})[/.](\d{1,2})[/.](20\d\d)(?:,?\s+(?:at\s+)?(\d{1,2}):(\d\d)(?::(\d\d))?(?:\s?([AP]M))?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Label:
    """Who speaks from here on (None: to be left out), the text in the line itself, and the time."""

    speaker: Speaker | None
    text: str = ""
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Labels:
    """The form of a file's labels, and the name of its person if that is none of the usual ones.

    ``refused`` says why the file cannot be read: no labels, or those of one speaker alone. ``end`` is what stands after
    each: aider ends a request's lines with two blanks, so that a heading of an answer is nobody's request.
    """

    form: Form | None
    person: str = ""
    refused: str | None = None
    end: str = ""

    def read(self, line: str) -> Label | None:
        """The label that a line is; None if it is none."""
        if self.form is None:
            return None
        found = _found(self.form, line)
        if found is None or not line.rstrip("\r\n").endswith(self.end):
            return None
        name, aside, text = found
        if self.form in ("aider", "terminal"):
            return Label("user", text)
        if name == self.person != "":
            return Label("user", text, moment_in(aside))
        if name in _OTHERS and self.form != "plain":
            return Label(None)
        speaker = SPEAKERS.get(name)
        return None if speaker is None else Label(speaker, text, moment_in(aside))


def labels_of(lines: Iterable[str]) -> Labels:
    """The labels of a file, from all of its lines."""
    names: dict[Form, Counter[str]] = {form: Counter() for form in FORMS}
    fence, is_terminal = "", False
    for line in lines:
        if _AIDER.match(line):
            ends = (each.rstrip("\r\n") for each in lines if each.startswith("####"))
            return Labels("aider", end=_AIDER_END if any(each.endswith(_AIDER_END) for each in ends) else "")
        is_terminal = is_terminal or bool(_TERMINAL.match(line))
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        if fence or mark:
            continue
        for form in _MARKDOWN:
            if label := _found(form, line):
                names[form][label[0]] += 1
                break
    heard = {
        form: Counter(SPEAKERS[name] for name in found.elements() if name in SPEAKERS) for form, found in names.items()
    }
    both: list[Form] = [form for form in FORMS if heard[form]["user"] and heard[form]["assistant"]]
    if is_terminal and both in ([], ["plain"]):  # other programs have such marks too
        return Labels("terminal")
    if both:
        most = max(heard[each].total() for each in both)
        return Labels(next(each for each in both if heard[each].total() == most))
    for one, counted in names.items():
        if person := _person(counted, heard[one]["assistant"]):
            return Labels(one, person)
    return Labels(None, refused=_refusal({speaker for found in heard.values() for speaker in found}))


def _found(form: Form, line: str) -> tuple[str, str, str] | None:
    """The name, what stands beside it, and the text of a line that has this form."""
    found = FORMS[form][1].match(line)
    if found is None:
        return None
    return found[1].strip().lower().removesuffix(" said"), found[2] or "", found[3] or ""


def _person(names: Counter[str], answers: int) -> str:
    """The name that is none of the usual ones, and stands about as often as the assistant's, and first."""
    first = next(iter(names), "")
    is_unusual = first not in SPEAKERS and first not in _OTHERS
    return first if answers and is_unusual and answers <= 2 * names[first] <= 4 * answers else ""


def _refusal(heard: set[Speaker]) -> str:
    forms = "; ".join(form for form, _ in FORMS.values())
    if len(heard) == 1:
        who = "the person" if "user" in heard else "the assistant"
        return f"Labels of {who} alone were found, so it is not known who said the rest. These forms are read: {forms}."
    return f"No labels of speakers were found. These forms are read: {forms}."


def moment_in(text: str) -> str | None:
    """The first time in a text, as ISO 8601 in UTC; None if there is none, or if day and month cannot be told apart.

    A time without a zone is taken as one in UTC.
    """
    if found := _ISO.search(text):
        year, month, day, hour, minute, second = found.groups()
    elif found := _LOCAL.search(text):
        first, other, year, hour, minute, second, half = found.groups()
        if int(first) <= 12 and int(other) <= 12 and first != other and not half:
            return None
        month, day = (other, first) if int(first) > 12 else (first, other)
        if half and hour:
            hour = str(int(hour) % 12 + 12 * (half.lower() == "pm"))
    else:
        return None
    clock = f"{int(hour or 0):02}:{minute or '00'}:{second or '00'}"
    return moment(f"{year}-{int(month):02}-{int(day):02}T{clock}Z")
