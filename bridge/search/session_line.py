"""The line of one captured session, or of a note that somebody stored, in the notes with which a session begins.

Of a session it tells what was asked and what came out of it, what its reports say in detail, causes that were found,
wishes that last, the files, and what is open: only what is not known to be overtaken, and nothing where it names too
little.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from ..memory import Memory
from ..text import decision_lines, turn_words
from ..text.gist import gist
from ..text.orders import is_order
from ..text.query_words import subject_words
from ..text.sections import one_line, shortened
from .listing import title

_MOST_ASKED, _MOST_TOLD, _MOST_FILES = 130, 190, 3  # characters of a captured line's request and outcome; its files
_CAUSE = re.compile(r"^The (?=(?:issue|problem|error|bug) (?:is|was)\b)")  # as it was found, and mended since
_NO_REQUEST: tuple[turn_words.Part, ...] = ("fails", "persists", "chores")
_ASKS_FOR = 7  # characters of "can you ", after which a question is a request
_MOST_OPEN = 260  # characters of what is open
_MOST_NEWEST, _MOST_EARLIER, _MOST_OF_PART = 640, 320, 45  # bytes of a captured line, its files aside
OUTCOME = " → "  # between what was decided and what came of it, as ``bridge/capture/summary`` writes them
_DETAIL = OUTCOME.lstrip()  # what a report says in detail begins so
PART = " · "  # between what was asked first and last

_ALIKE = 0.6  # of the words of a request that a later one has too
_NAMES_ENOUGH = 8  # different words
_RELATED = 2  # words that a request and its outcome have in common
_LEAST_NEW = 5  # words of a further outcome that the line has not
_LEAST_SAID = 3  # words of a request, or an outcome, that says something
_OFTEN, _OPENING = 3, 40  # sessions in which a request begins alike, and its characters
_LEAST_NAMED = 6  # different words in a captured session's line, its files among them

# What looks like a path: "Next.js/Nuxt.js", a place in a trace, what is made; a session's log, named by its day.
_NO_FILE = re.compile(r"^\.|\.o$|node_modules|^\w[\w-]*\.\w+[/\\]|(?:^|[/\\])\d{4}-\d\d-\d\d[_-][^/\\]*$")

_CODE, _FILE, _PATH = re.compile(r"`[^`\s]{5,60}`|#\d+"), re.compile(r"[./]"), re.compile(r"\S*/\S+")
_TAKES_BACK = re.compile(r"\b(?:remov|delet|revert|dropp|undid|entfern|supprim|elimin|rimo)|удал|删除", re.IGNORECASE)
_LACKS = re.compile(
    r"^[\w-]+: |^[没沒]有|^(?!/[\w.-]+ )[^\w\s\"'`“«(¿¡#@]|\b(?:does|is|are|did)(?:n['’]t| not)\b", re.IGNORECASE
)  # pasted, or a complaint
_NAMES = re.compile(r"[`/]|\w\.\w")  # code or a file
_MARKED = re.compile(r"`[^`/.\s]+`")
NUMBER = re.compile(r"\d+")

RULES = "rules"  # the method without a model

Became = Mapping[int, Mapping[str, str]]  # number -> what became of the memory's decisions, by their words
Words = frozenset[str]
Captured = Mapping[int, str]  # number -> the method by which a memory was captured
SaidAt = Mapping[int, Mapping[str, int]]  # number -> the place in the transcript, by the words


def often_openings(sessions: Sequence[Sequence[Memory]]) -> set[str]:
    """How titles and requests begin that several captured sessions have: an agent's loop, or a tool's own words."""
    found = Counter(
        opening
        for parts in sessions
        for opening in {_opening(one) for part in parts if part.content
                        for one in (title(part), *part.content.decisions, *_talked(part.content.context))}
    )  # fmt: skip
    return {opening for opening, count in found.items() if count >= _OFTEN}


def _opening(request: str) -> str:
    return turn_words.without_courtesy(one_line(request).partition(OUTCOME)[0])[:_OPENING].casefold()


def _talked(context: str) -> list[str]:
    """What was asked and came out, of a captured memory's context, without the details."""
    parts = [part for line in context.split("\n") for part in one_line(line).split(PART)]
    return [part for part in parts if not part.startswith(_DETAIL)]


class Line(NamedTuple):
    """What a memory with this number says: the words, where they were stated, and a mark after them."""

    number: int
    words: str
    source: str
    mark: str


class _Pair(NamedTuple):
    """What was asked in a memory, and what came of it if an answer reports that; a decision, or what was talked of.
    ``place`` counts in the order in which they were said, as far as that is known: decisions come last."""

    asked: str
    outcome: str
    is_decision: bool
    mark: str
    memory: Memory
    place: int = 0


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
    by_rules = captured[newest.number] == RULES
    pairs: list[_Pair] = []
    detailed: list[list[_Pair]] = []  # of each part
    later, since = [*newer], list[Words]()  # what was said in later sessions, and asked in later parts
    is_doubted = False  # the last answer of the part before
    for part in parts:
        places = said_at.get(part.number, {})
        found = [(pair, _is_overtaken(pair, newer)) for pair in _pairs(part, by_rules, became, places, often)]
        last = max(places.values(), default=0) if is_doubted else -1
        new = [pair for pair in _details(part, places) if pair.place != last]
        new = [pair for pair in new if all(subject_words(pair.outcome).isdisjoint(each) for each in since)]
        detailed.append([pair for pair in new if not _is_overtaken(pair, [*later])])
        since += [
            subject_words(one.partition(OUTCOME)[0])
            for one in (*places, *_talked(part.content.context if part.content else ""))
        ]
        is_doubted = bool(found) and is_doubted and found[0][0].place >= max(places.values(), default=0)
        pairs += [pair for pair, is_overtaken in found[is_doubted:] if not is_overtaken]
        first = min(places, key=places.__getitem__, default="")
        is_doubted = turn_words.says("persists", first.partition(OUTCOME)[0])
        is_doubted = is_doubted or turn_words.begins("disputes", first) or turn_words.begins("retracts", first)
    details = [pair for row in zip_longest(*detailed) for pair in row if pair is not None]  # the first of each part
    causes = [pair for pair in details if turn_words.says("causes", pair.outcome)][:1]
    details = [*causes, *(pair for pair in details if pair not in causes)]
    requests = _requests(parts, often, later)
    details = [*(pair for pair in requests if turn_words.says("lasts", pair.asked)), *details]
    if pairs:
        best = max(pairs, key=_worth)
        told = _told(best, pairs, is_newest + (not details)) if by_rules else [best]
        details += [pair for pair in requests if pair.is_decision and pair not in details][:is_newest]
    else:
        told = [pair for pair in requests if pair not in details][: 1 + is_newest + (not details)]
        if not told and not _NAMES.search(" ".join(pair.outcome for pair in details)):
            return None
        best = max([*told, *details], key=_worth)
    most = _MOST_NEWEST if is_newest else min(_MOST_NEWEST, _MOST_EARLIER + _MOST_OF_PART * len(parts))
    said = PART.join(map(_said, told))
    for pair in details:
        longer = PART.join(filter(None, [said, _said(pair)]))
        is_new = bool(pair.asked) or len(subject_words(_said(pair)) - subject_words(said)) >= _LEAST_SAID
        if is_new and len(longer.encode()) <= most:
            said = longer
            told.append(pair)
    topic = title(parts[-1])
    is_named = not by_rules or _names(topic, told)
    words = ": ".join(filter(None, [beside(topic, said) if is_named and _opening(topic) not in often else "", said]))
    files = ", ".join(_files(told, words, _MOST_FILES if is_newest else _MOST_FILES - 1))
    if _named(words) < _LEAST_SAID or _named(f"{words} {files}") < _LEAST_NAMED:
        return None
    lost = "" if best.is_decision else next(iter(became.get(best.memory.number, {}).values()), "")
    mark = best.mark or (f" [{lost}]" if lost else "")
    known = subject_words(f"{words} {best.asked}")
    content = newest.content if is_newest else None
    for left in (*content.next_steps[-1:], *content.open_questions[-1:]) if content else ():
        is_told = _asks(left) or turn_words.says("chores", left) or len(subject_words(left) - known) < _LEAST_SAID
        mark += "" if is_told else f" – open: {shortened(one_line(left), _MOST_OPEN)}"
    return Line(best.memory.number, words + f" ({files})" * bool(files), source(best.memory), mark)


def _worth(pair: _Pair) -> tuple[bool, bool, bool, int]:
    """What came out is worth most, with what was asked, then how much both name; of equal ones the newest decision."""
    names = min(_NAMES_ENOUGH, len(subject_words(f"{pair.asked} {pair.outcome}")))
    return bool(pair.outcome), not turn_words.says("chores", pair.asked), bool(pair.asked), names


def _names(topic: str, told: Sequence[_Pair]) -> bool:
    """Whether a title is a name for all that is told: the rules may have made it of another request."""
    is_request = ": " in topic or topic.endswith("…") or _asks(topic) or turn_words.is_errand(topic)
    is_name = not is_request and not turn_words.begins("orders", topic) and topic[:1].upper() == topic[:1]
    return is_name and all(subject_words(topic) & subject_words(_said(pair)) for pair in told)


def _told(best: _Pair, pairs: Sequence[_Pair], most: int) -> list[_Pair]:
    """The best pair, and at most ``most`` others that tell something new, in the order in which they were said: the
    newest one, and those with an outcome."""
    told, by_worth = [best], sorted(pairs, key=_worth, reverse=True)
    for pair in (*pairs[:1], *(pair for pair in by_worth if pair.outcome)):
        new = subject_words(_said(pair)) - subject_words(" ".join(map(_said, told)))
        if len(new) >= (_LEAST_NEW if pair.outcome else _LEAST_NAMED) and not pair.mark and len(told) <= most:
            told.append(pair)
    return sorted(told, key=lambda pair: (pair.memory.number, pair.place))


def _is_overtaken(pair: _Pair, newer: list[Words]) -> bool:
    """Whether the same was asked again later, or came out, or something else came of code or a number that the outcome
    names; files are named by much, so only what takes something back counts there. Notes what this one says."""
    about, outcome = subject_words(pair.asked or pair.outcome), subject_words(pair.outcome)
    code, takes_back = frozenset(_CODE.findall(pair.outcome)), _TAKES_BACK.search(pair.outcome) is not None
    gone = code | subject_words(" ".join(_MARKED.findall(pair.outcome))) if takes_back else code
    is_again = any(len(about & later) >= max(_ALIKE * len(about), _LEAST_SAID) or gone & later for later in newer)
    is_overtaken = is_again or (bool(outcome) and outcome in newer)
    newer += [about, outcome, code if takes_back else code - {*filter(_FILE.search, code)}]
    return is_overtaken


def _asks(text: str) -> bool:
    return text.rstrip("\"'”’*_) ").endswith(("?", "？", "؟"))


def _said(pair: _Pair) -> str:
    return OUTCOME.join(filter(None, [shortened(pair.asked, _MOST_ASKED), shortened(pair.outcome, _MOST_TOLD)]))


def _named(line: str) -> float:
    """How many different words a line has that say what it is about. In scripts without blanks these are pairs of
    characters, about two for a word."""
    return sum(0.5 if word > "\u2e80" else 1 for word in subject_words(line))


def _pairs(
    memory: Memory, by_rules: bool, became: Became, places: Mapping[str, int], often: set[str]
) -> Iterator[_Pair]:
    """What was asked in a memory of a session, the newest first; where no place is known, decisions before the others.

    What a loop asks is left out, and what is not understood alone; also a question or an errand without a report.
    """
    talked = [(each, False, "") for each in _talked(memory.content.context if memory.content else "")]
    told = [*talked, *((each.words, True, each.mark) for each in decisions_of(memory, became))]
    in_order = sorted((places.get(each[0], number), number, each) for number, each in enumerate(told))
    for place, _, (words, is_decision, mark) in reversed(in_order):
        asked, _, outcome = words.partition(OUTCOME)
        is_left_out = _opening(asked) in often or asked.endswith((":", "："))
        request = asked = "" if is_left_out else turn_words.without_courtesy(asked)
        if by_rules:
            asked, outcome = _certain(asked, outcome, is_decision)
        is_aside = not outcome and (_asks(request) or turn_words.is_errand(request))
        if (asked or outcome) and not is_aside and not is_order(words):
            yield _Pair(asked, outcome, is_decision and _named(asked) >= _LEAST_SAID, mark, memory, place)


def _details(memory: Memory, places: Mapping[str, int]) -> list[_Pair]:
    """What the reports of a memory of a session say in detail, in order."""
    lines = memory.content.context.split("\n") if memory.content else []
    parts = [part for line in lines for part in one_line(line).split(PART) if part.startswith(_DETAIL)]
    told = {part: _CAUSE.sub("cause found: the ", part.removeprefix(_DETAIL)) for part in parts if not is_order(part)}
    return [_Pair("", text, False, "", memory, places.get(part, 0)) for part, text in told.items()]


def _requests(parts: Sequence[Memory], often: set[str], later: list[Words]) -> list[_Pair]:
    """What was asked in a session, as far as it was not asked again later: of each part what names most, and so on."""
    found: list[list[_Pair]] = [[] for _ in parts]
    for memory, asked_for in zip(parts, found, strict=True):
        decisions = memory.content.decisions if memory.content else ()
        for line in reversed([*_talked(memory.content.context), *decisions] if memory.content else []):
            said, _, outcome = one_line(line).partition(OUTCOME)
            asked = turn_words.without_courtesy(said)
            is_errand = turn_words.is_errand(asked) and not asked.startswith(("When ", "when "))
            lasts = turn_words.says("lasts", said)
            is_report = not outcome and line not in decisions and not lasts and turn_words.says("done", said)
            is_question = _asks(said) and len(said) - len(asked) < _ASKS_FOR
            is_wrong = _LACKS.search(asked) or any(turn_words.says(part, said) for part in _NO_REQUEST)
            is_aside = is_errand or is_report or is_question or is_wrong or _opening(said) in often
            is_named = _named(asked) >= _LEAST_NAMED or lasts
            pair = _Pair(f"asked: {asked}", "", not outcome, "", memory)
            if is_named and not is_aside and not is_order(line) and not _is_overtaken(pair, [*later]):
                asked_for.append(pair)
        asked_for.sort(key=_worth, reverse=True)
    return [pair for row in zip_longest(*found) for pair in row if pair is not None]


def _certain(asked: str, outcome: str, is_decision: bool) -> tuple[str, str]:
    """What is certain of a request and its outcome that the rules captured: what an answer reports, with a request that
    speaks of the same."""
    if not (outcome or is_decision or turn_words.says("addresses", asked)):
        asked, outcome = "", asked  # nobody asked for it in words
    about, told_of = subject_words(asked), subject_words(outcome)
    if len(told_of) < _LEAST_SAID or not turn_words.is_report(outcome, is_done=is_decision):
        return "", ""
    common = len(about & told_of) + len({*NUMBER.findall(asked)} & {*NUMBER.findall(outcome)})
    if common >= max(1, min(_RELATED, len(about) // 2)) and not turn_words.begins("disputes", asked):
        return asked, outcome
    is_clear = len(subject_words(_PATH.sub("", outcome))) >= _LEAST_NAMED and not turn_words.begins("refers", outcome)
    return "", outcome if is_clear else ""


def _files(told: Sequence[_Pair], words: str, most: int) -> list[str]:
    """The files of what came out, with their folder, whose names share a word with what is told and are not in it."""
    paths = [path.replace("\\", "/").split("/") for pair in told if pair.outcome and pair.memory.content
             for path in pair.memory.content.references.files if not _NO_FILE.search(path)]  # fmt: skip
    about = subject_words(words)  # a memory has the files of all its requests
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
