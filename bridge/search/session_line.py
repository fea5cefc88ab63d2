"""The line of one captured session, or of a note that somebody stored, in the notes with which a session begins.

Of a session it tells what cannot become untrue: what the person asked, in the person's own words; the last answer as
an answer, if nothing came after it; and the files. What earlier answers reported may have been denied or taken back
since, and what was open may be done, so none of it is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..memory import Memory
from ..text import decision_lines, turn_words
from ..text.gist import gist
from ..text.orders import is_order
from ..text.query_words import subject_words
from ..text.sections import one_line, shortened
from .listing import title

OUTCOME = " → "  # between what was asked and what came of it, as ``bridge/capture/summary`` writes them
PART = " · "  # between requests
_LEFT_OUT = " … "  # between those that a line quotes: there may have been others
_NOT_OWN = re.compile(r"^(.*?) ?\[(offered|plan|pasted): (.*)\]$")  # as ``bridge/capture/summary`` marks it
_LAST = OUTCOME.lstrip()  # a line of the context that begins so is the last answer's
_MOST_FILES = 5
_MOST_NEWEST, _MOST_EARLIER = 800, 300  # bytes of a captured line, its files aside
_ALIKE = 0.8  # of the words of a request that a later one has too
_LEAST_SAID, _MUCH = 3, 5  # words of a request that says something, and much
_ASKS_FOR = 7  # characters of "can you ", after which a question is a request
_OFTEN, _OPENING = 3, 40  # sessions in which a request begins alike, and its characters
_PASTED = re.compile(
    r"^[\w-]+: |^(?!/[\w.-]+ )[^\w\s\"'`“«(¿¡#@]|\bline \d+\b|(?:Error|Exception):|\.whl\b"
    r"|\w@\w+:|^\d+ ?\||^PS |^curl |\[REDACTED:|^\w+ ?= ?\S|[;{]$|\bimport \{|\| \d+\."
)
# What looks like a path: "Next.js/Nuxt.js", a place in a trace, what is made; a session's log, named by its day.
_NO_FILE = re.compile(r"^\.|\.o$|node_modules|^\w[\w-]*\.\w+[/\\]|(?:^|[/\\])\d{4}-\d\d-\d\d[_-][^/\\]*$")
# An error message that somebody pasted, and no word of what is wanted.
_STATEMENT = re.compile(
    r"(?i:(?=.*\b(?:is|are|was|were|can|cannot|could|has|have|had|not|failed|found)\b)"
    r'(?!.*\b(?:i|we|my|me|our|us|you|please|want|need|should)\b))"[A-Z][\x00-\x7f]+\."'
)
_CUT = re.compile(r"^…|(?:…|\.\.\.)$")  # a sentence that is cut may say the contrary
_ADDRESS = re.compile(r"https?://\S+|@\S+|\S+\.(?:app|com|dev|io|net|org)\b")  # alone, these ask nothing
LAST_NUMBER = re.compile(r"(\d+)\D*(?: – |$)")  # of each place

RULES = "rules"  # the method without a model

Became = Mapping[int, Mapping[str, str]]  # number -> what became of the memory's decisions, by their words
Words = frozenset[str]
Captured = Mapping[int, str]  # number -> the method by which a memory was captured
SaidAt = Mapping[int, Mapping[str, Sequence[int]]]  # number -> the places in the transcript, by the words


class Line(NamedTuple):
    """What a memory with this number says: the words, where they were stated, and a mark after them."""

    number: int
    words: str
    source: str
    mark: str


def often_openings(sessions: Sequence[Sequence[Memory]]) -> set[str]:
    """How titles and requests begin that several captured sessions have: an agent's loop, or a tool's own words."""
    found = Counter[str]()
    for parts in sessions:
        found.update(
            {_opening(one) for part in parts for one in (title(part), *(said for *_, said in _asked_in(part)))}
        )
    return {opening for opening, count in found.items() if count >= _OFTEN}


def _opening(request: str) -> str:
    return turn_words.without_courtesy(one_line(request))[:_OPENING].casefold()


def _asked_in(memory: Memory) -> Iterator[tuple[str, int, str]]:
    """What the person said in a captured memory, without what came of it, each after the line that has it, and the how
    many-th part of that."""
    content = memory.content
    for line in (*content.context.split("\n"), *content.decisions) if content else ():
        for at, part in enumerate(line.split(PART)):
            if not part.startswith(_LAST) and (asked := one_line(part.partition(OUTCOME)[0])):
                yield line, at, asked


def line_of(
    parts: Sequence[Memory],
    became: Became,
    captured: Captured,
    said_at: SaidAt,
    often: set[str],
    newer: list[Words],
    is_newest: bool,
) -> Line | None:
    """The line of a note that somebody stored, as ``Loans: We looked at how long loans last``, or of a captured session
    with these parts, the newest first; None where it names too little."""
    newest = parts[0]
    if newest.number not in captured:
        undecided = newest._replace(content=newest.content and newest.content._replace(decisions=()))
        words = ": ".join(filter(None, dict.fromkeys((title(newest), gist(undecided)))))
        return Line(newest.number, words, source(newest), "")
    most = _MOST_NEWEST if is_newest else _MOST_EARLIER
    if captured[newest.number] == RULES:
        answer = _last_answer(newest)
        requests = _requests(parts, became, said_at, often, newer)
        asked = _quoted(requests, most - len(answer.encode()))
        said = " … – ".join(filter(None, [asked, asked and answer]))  # it may answer another request
    else:
        context = newest.content.context.partition("\n")[0] if newest.content else ""
        is_said = _named(context) >= _LEAST_SAID and not is_order(context)
        said = shortened(context if is_said else gist(newest, became.get(newest.number, {})), most)
    topic = title(parts[-1])
    is_named = _is_name(topic) and _opening(topic) not in often
    words = ": ".join(filter(None, [beside(topic, said) if is_named else "", said]))
    if not said or _named(words) < _LEAST_SAID:
        return None
    files = ", ".join(_files(parts, words, _MOST_FILES if is_newest else _MOST_FILES - 1))
    lost = next(iter(became.get(newest.number, {}).values()), "")
    return Line(newest.number, words + f" ({files})" * bool(files), source(newest), f" [{lost}]" if lost else "")


def _last_answer(newest: Memory) -> str:
    lines = newest.content.context.split("\n") if newest.content else []
    told = [f'last answer: "{line.removeprefix(_LAST)}"' for line in lines if line.startswith(_LAST)]
    return next((one for one in told if not is_order(one) and _named(one) >= _MUCH), "")


def _requests(
    parts: Sequence[Memory], became: Became, said_at: SaidAt, often: set[str], newer: list[Words]
) -> list[tuple[str, bool]]:
    """What the person asked in a session, quoted, in order, and whether it names a subject; what was asked again later
    is left out, and so is what a loop asks, what was pasted and what cannot be understood alone."""
    found: list[tuple[int, int, int, str]] = []
    for memory in parts:
        places = said_at.get(memory.number)  # what has none is the title, and nobody's words
        gone = {line for line, remark in became.get(memory.number, {}).items() if remark.startswith("replaced")}
        for at, (line, part, said) in enumerate(_asked_in(memory)):
            if line not in gone and (places is None or one_line(line) in places):
                place = [at] if places is None else places[one_line(line)]
                found.append((memory.number, place[min(part, len(place) - 1)], at, said))
    told: list[tuple[str, bool]] = []
    for *_, said in sorted(found, reverse=True):
        own, kind, other = marked.groups() if (marked := _NOT_OWN.match(said)) else (said, "", "")
        is_whole = _named(own) >= _LEAST_SAID
        quoted = f'"{own}"' * bool(own)
        if kind and not (is_whole and kind == "offered"):
            quoted = f'{quoted} ({kind}: "{other}")'.lstrip()
        request = turn_words.without_courtesy(own if is_whole or not kind else other)
        about = subject_words(request)
        is_known = any(len(about & later) >= max(_ALIKE * len(about), _LEAST_SAID) for later in newer)
        is_left_out = is_known or _opening(said) in often or is_order(said) or said.endswith((":", "："))
        if is_left_out or _named(_ADDRESS.sub("", request)) < _LEAST_SAID or _PASTED.search(request):
            continue
        newer.append(about)
        is_question = _asks(said) and len(said) - len(request) < _ASKS_FOR
        is_aside = turn_words.is_errand(request) or turn_words.says("persists", said)
        if not _CUT.search(own):
            told.append((quoted, not (is_question or (is_aside and _named(request) < _MUCH))))
    return told[::-1]


def _quoted(requests: Sequence[tuple[str, bool]], room: int) -> str:
    """Those that fit: the first one and the last ones, then what names most; none if nothing names a subject, or asks
    for anything."""
    if all(_STATEMENT.fullmatch(request) for request, _ in requests):
        return ""
    named = [at for at, (_, is_named) in enumerate(requests) if is_named]
    ends = {*named[:1], *named[-1:], len(requests) - 1}
    worth = {at: (at in ends, _named(requests[at][0])) for at in {*named, *ends} if named}
    told: list[int] = []
    for at in sorted(worth, key=worth.__getitem__, reverse=True):
        longer = sorted([*told, at])
        text = "asked: " + _LEFT_OUT.join(requests[each][0] for each in longer)
        if len(text.encode()) <= room:
            told = longer
    return "asked: " + _LEFT_OUT.join(requests[each][0] for each in told) if told else ""


def _is_name(topic: str) -> bool:
    """Whether a title is a name, and no request or report of which the rules made it."""
    is_said = ": " in topic or topic.endswith("…") or _asks(topic) or turn_words.is_report(topic)
    return not is_said and topic[:1].isupper()


def _asks(text: str) -> bool:
    return text.rstrip("\"'”’*_) ").endswith(("?", "？", "؟"))


def _named(line: str) -> float:
    """How many different words a line has that say what it is about. In scripts without blanks these are pairs of
    characters, about two for a word."""
    return sum(0.5 if word > "\u2e80" else 1 for word in subject_words(line))


def _files(parts: Sequence[Memory], words: str, most: int) -> list[str]:
    """The files of a session, with their folder: first those whose names share a word with the line."""
    paths = [path.replace("\\", "/").split("/") for memory in parts if memory.content
             for path in memory.content.references.files if not _NO_FILE.search(path)]  # fmt: skip
    about = subject_words(words)
    paths.sort(key=lambda path: about.isdisjoint(subject_words(path[-1].rpartition(".")[0])))
    return [*{path[-1]: "/".join(path[-2:]) for path in paths if path[-1] not in words}.values()][:most]


def beside(topic: str, said: str) -> str:
    """What a captured title adds to what is said: all of it, or the words before a request that is said or cut."""
    if topic.rstrip("….?").casefold() in said.casefold() or subject_words(topic) <= subject_words(said):
        return ""
    terms, _, request = topic.rpartition(": ")
    is_said = request.rstrip("….?").casefold() in said.casefold()
    return terms if is_said or (said and terms and request.endswith("…")) else topic


def source(memory: Memory) -> str:
    """Where a line comes from, as ``2026-11-20, #3``."""
    return ", ".join(filter(None, [(memory.dated_at or "")[:10], f"#{memory.number}"]))


def decisions_of(memory: Memory, became: Became) -> list[Line]:
    """The decisions that hold. Orders to an assistant are none."""
    lines = () if memory.content is None else memory.content.decisions
    found: list[Line] = []
    for line, read in zip(lines, decision_lines.read(lines), strict=True):
        remark = became.get(memory.number, {}).get(line, "")
        if not read.is_earlier and not remark.startswith("replaced") and not is_order(line):
            stated = f"({source(memory)})" if read.stated is None else str(read.stated)
            found.append(Line(memory.number, one_line(read.text), stated, f" [{remark}]" if remark else ""))
    return found
