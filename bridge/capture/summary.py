"""A segment's summary without a language model, made of its beats.

A *decision* is a pair: the person's words, and the sentence of the answer that says what came of it. The *context* has
the other beats in the same form, asked → came out, in at most 120 tokens.
Without a decision it is one line of that length: the first request, and the one that an answer speaks of most. A
line for each of the last further requests follows, and what the last answer reports (→), if nobody spoke after it.
*Open* is what the last turn asks. Every part stands in the transcript; one that is cut ends in ``…``.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..memory import Content, References, TimeScope
from ..text import turn_words as words
from ..text.error_lines import error_lines
from ..text.query_words import subject_words
from ..text.references import classify
from ..text.sections import one_line, shortened
from .beats import Beat, beats, plain, told
from .own_words import FENCED, is_english
from .sentences import Sentence
from .session import Evidence, Segment, SegmentSummary, Turn
from .title import COMMON, HEADING, UNKNOWN, title

ARROW = " → "
# Before words that are not the person's own; a bracket ends them.
OFFERED, PLAN, PASTED = "[offered: ", "[plan: ", "[pasted: "
NEXT, TO = " · ", " – "  # between what was asked first and last, and between their places
_QUOTE, _OUTCOME = 150, 190  # characters of a line's two sides
_UNANSWERED = 320  # characters of a request that nobody answered
_CUT = (":", "：", "…", "...", ".")
_LEAST_ALONE, _MUCH = 3, 5  # words of a request that is understood without what came of it, or says much
_MOST_DECISIONS = 6
_CONTEXT = 480  # characters; about 120 tokens
_FURTHER, _OPENING = 360, 40  # characters of further requests; of a request by which it is known
_CLAIMS = re.compile(  # more than an answer can know
    r"\b(?:all|every\w*|exactly|throughout|correctly|alle\w*|überall|tou(?:s|tes)|tod[oa]s|tutt[ei])\b"
    r"|\bвсе\b|全部|所有|すべて|全て|모든", re.IGNORECASE
)  # fmt: skip
_HEAD, _NOW = 25, re.compile(r"\b(?:now|no longer|теперь)\b", re.IGNORECASE)  # what is so now is only claimed
_ERROR = re.compile(r"(?:error|exception)\b[^.]{0,40}:", re.IGNORECASE)  # as nobody writes by hand
_CREDENTIALS = re.compile(r"://\S*@")
_STOPS = (".", "。", "`", ")", "！", "!")
_BRIEF_OUTCOME = 145  # characters where two beats are one line


def summarise(segment: Segment) -> SegmentSummary:
    """The summary of a segment.

    ``importance``: a tenth for a segment without a request that names a subject; else three tenths, and a tenth for
    each decision, up to three, for files that were changed, and up to two for how much the person said.
    ``confidence``: how sure its lines are: nine tenths where tools changed what a decision says, less where only words
    say so, four tenths without a decision.
    """
    spoken = [turn for turn in segment.turns if not turn.part]
    found = beats(segment.turns)
    holding = [beat for beat in found if not beat.is_withdrawn]
    speaks_english = is_english(one.text for beat in found for one in beat.asked)
    pairs = [(beat, pair) for beat in holding for pair in _decisions(beat, speaks_english)][-_MOST_DECISIONS:]
    others = [beat for beat in holding if all(beat is not decided for decided, _ in pairs)]
    lines = _context(others, in_one_line=not pairs)
    lines += _further(holding, " ".join([*(quote for _, (quote, _, _) in pairs), *(text for text, _ in lines)]))
    lines += _last_answer(spoken, found)
    topic = title(spoken, found)
    opens, left = _open(spoken, found), _left(spoken, found)
    decisions = tuple(_line(quote, outcome) for _, (quote, _, outcome) in pairs)
    context = "\n".join(text for text, _ in lines)
    evidence = [Evidence("decisions", _line(quote, outcome), place) for _, (quote, place, outcome) in pairs]
    evidence += [Evidence("context", text, place) for text, place in lines]
    evidence += [Evidence("open_questions", one.text, one.place) for one in opens]
    evidence += [Evidence("next_steps", one.text, one.place) for one in left]
    has_subject = topic != UNKNOWN
    return SegmentSummary(
        content=Content(
            topic=topic,
            context=context or (topic if has_subject and not decisions else ""),
            decisions=decisions,
            open_questions=tuple(plain(one.text) for one in opens),
            next_steps=tuple(plain(one.text) for one in left),
            references=references(segment.turns),
            time_scope=_scope(spoken),
        ),
        importance=_importance(found, len(pairs), has_subject),
        confidence=0.4 if not pairs else 0.9 if all(beat.changed for beat, _ in pairs) else 0.7,
        method="rules",
        evidence=tuple(evidence),
    )


def _decisions(beat: Beat, speaks_english: bool) -> list[tuple[str, str, str]]:
    """What the person decided in a beat: the words, their place, and what came of them. One for each turn, and one
    for each answer to a question of a tool."""
    answered = [
        (shortened(question, _QUOTE), place, shortened(answer, _OUTCOME))
        for question, answer, place in beat.answers
        if not words.says("procedure", question)
        and not any(words.begins(part, answer) for part in ("procedure", "disputes"))
        and not answer.endswith(("?", "？"))
    ]
    return [*answered, *_wished(beat, speaks_english)] if beat.done else answered


def _wished(beat: Beat, speaks_english: bool) -> list[tuple[str, str, str]]:
    """What the person decided in their own words, of a beat in which it was done."""
    if beat.chosen:
        quote = _with_offer(beat.consent, beat.taken)
        return [(quote, beat.place, _related(beat, quote))]
    wanted = [one for one in beat.asked if _wishes(one, beat)] or [
        one for one in beat.asked if _states(one, beat, speaks_english)
    ]
    best = []
    for turn in dict.fromkeys(one.turn for one in wanted):
        mine = [one for one in wanted if one.turn == turn]
        about = subject_words(_outcome(beat, " ".join(one.text for one in mine)))
        best.append(max(mine, key=lambda one: (not one.is_question, len(about & subject_words(one.text)), one.order)))
    stated = [one for one in best if not one.is_question] or best[-1:]
    found = [
        (_with_offer(one.text, beat.taken * words.begins("accepts", one.text)), one.place, _related(beat, one.text))
        for one in stated
    ]
    found = [each for each in found if each[2] or len(subject_words(each[0]) - COMMON) >= _LEAST_ALONE]
    heading = HEADING.match(beat.request)
    if not wanted and heading is not None and len(subject_words(heading[1]) - COMMON) > 1:
        quote = f"{PLAN}{shortened(_said(heading[1]), _QUOTE)}]"
        return [(quote, beat.place, _related(beat, heading[1], 2))]  # a plan, and done
    names_it = len(subject_words(beat.taken) - COMMON) > 1 and not words.begins("upkeep", beat.taken)
    if not found and names_it and (outcome := _related(beat, f"{beat.taken} {beat.consent}")):
        found.append((_with_offer(beat.consent, beat.taken), beat.place, outcome))
    return found


def _with_offer(said: str, offer: str) -> str:
    """The words of the person; of somebody who takes an offer, "yes, but on a branch", with the offer."""
    quote = shortened(_said(said), _QUOTE)
    return f"{quote} {OFFERED}{shortened(_said(offer), _OUTCOME)}]" if offer else quote


def _pasted(beat: Beat) -> str:
    """The first line of an error that stands in a request beside what the person wrote."""
    own = " ".join(one.text for one in beat.asked)
    found = (line for line in error_lines(beat.request) if _ERROR.search(line) and one_line(line) not in own)
    return next((f" {PASTED}{shortened(_said(one_line(line)), _OUTCOME)}]" for line in found), "")


def _said(text: str) -> str:
    """What somebody said, without the marks that part a line."""
    return plain(text).replace(ARROW, "→").replace(NEXT, "·")


def _outcome(beat: Beat, request: str) -> str:
    return shortened(told(beat, subject_words(request)), _OUTCOME)


def _related(beat: Beat, request: str, least: int = 1) -> str:
    """What came of a request, if that speaks of the same."""
    outcome = _outcome(beat, request)
    about = subject_words(request)
    about = about - COMMON or about
    return outcome if len(about & subject_words(outcome)) >= min(least, len(about)) else ""


def _wishes(one: Sentence, beat: Beat) -> bool:
    """Whether a sentence says how it should be; a question does, if what came of it speaks of the same."""
    text, about = one.text, subject_words(one.text)
    if words.is_empty(text) or words.begins("upkeep", text) or text.startswith("/") or text.endswith(":"):
        return False
    if len(about) < 2:
        return False
    if one.is_question and len(about & subject_words(_outcome(beat, text))) < 2:
        return False
    return words.says("wishes", text) or words.begins("orders", text)


def _states(one: Sentence, beat: Beat, speaks_english: bool) -> bool:
    """Whether files were changed for a short turn that asks "why not", or speaks a language without a table."""
    text = one.text
    if words.is_empty(text) or words.begins("upkeep", text) or text.startswith("/") or one.turn not in beat.short:
        return False
    is_demand = ("?" in text or "？" in text) and words.begins("retracts", text)
    is_unknown = not speaks_english and not words.says("addresses", text)
    doubts = words.begins("disputes", text) or words.says("fails", text)
    return beat.changed and (is_demand or is_unknown) and not doubts and len(subject_words(text)) > 2


def _context(others: Sequence[Beat], in_one_line: bool) -> list[tuple[str, str]]:
    """The other beats as lines with their places. Worth most are those that came to something, and the first ones.

    ``in_one_line``: of a session without a decision, the first one, and of the others the one of which an answer speaks
    most.
    """
    asked = [(beat, _request(beat)) for beat in others]
    is_brief = in_one_line and len(asked) > 1
    most_told = _BRIEF_OUTCOME if is_brief else _OUTCOME
    told_of = [(beat, one, shortened(_outcome(beat, one.text if one else ""), most_told)) for beat, one in asked]

    def worth(number: int) -> tuple[int, ...]:
        beat, one, outcome = told_of[number]
        if not in_one_line:
            return bool(outcome), beat.done, -number
        common = len(subject_words(one.text if one else "") & subject_words(outcome))
        return not number, bool(outcome) or beat.done, beat.done, common, number

    lines: list[tuple[int, str, str]] = []
    left = _CONTEXT
    for number in sorted(range(len(told_of)), key=worth, reverse=True)[: 2 if is_brief else None]:
        beat, one, outcome = told_of[number]
        text = _line(shortened(_said(one.text), _QUOTE) + _pasted(beat), outcome) if one else ""
        if one and len(text) <= left:
            left -= len(text)
            lines.append((one.turn, text, one.place))
    found = [(text, place) for _, text, place in sorted(lines)]
    parts = zip(*found, strict=True)  # each has its own place
    return [(NEXT.join(next(parts)), TO.join(dict.fromkeys(next(parts))))] if is_brief and found else found


def _further(holding: Sequence[Beat], known: str) -> list[tuple[str, str]]:
    """The requests besides what is known, as lines with their places: of each turn of the person the first sentence
    that says much; the last ones first, and errands and questions last."""
    asked: list[Sentence] = []
    for _, turn in itertools.groupby((one for beat in holding for one in beat.asked), key=lambda one: one.turn):
        said = [*turn]
        names = [len(subject_words(one.text)) for one in said]
        if max(names) >= _LEAST_ALONE:
            asked.append(said[next((at for at, count in enumerate(names) if count >= _MUCH), names.index(max(names)))])
    lines: list[tuple[int, str, str]] = []
    left = _FURTHER
    asked.reverse()
    for one in sorted(asked, key=lambda one: one.is_question or words.begins("upkeep", one.text)):
        text = _said(one.text)
        is_left_out = (
            len(text) > _QUOTE
            or text[:_OPENING] in known
            or words.is_report(text)
            or _CREDENTIALS.search(text) is not None
        )
        if not is_left_out and len(text) <= left:
            left -= len(text)
            lines.append((one.turn, text, one.place))
    return [(text, place) for _, text, place in sorted(lines)]


def _last_answer(spoken: Sequence[Turn], found: Sequence[Beat]) -> list[tuple[str, str]]:
    """The sentence of the last answer that reports what was done, whole, as a line with its place; none where no file
    was changed, anybody said more after it, or the answer asks, fails or leaves something to do."""
    beat = found[-1] if found else None
    if beat is None or not beat.changed or beat.offer or spoken[-1].speaker == "user":
        return []
    if spoken[-1].calls and spoken[-1].calls[-1].exit_code != 0:
        return []
    said = [one for one in beat.answered if one.turn == len(spoken) - 1 and not one.is_step]
    said = [one for one in said if not one.is_question and one.text.endswith(_STOPS) and one.text[0] != "…"]
    told = [(one, plain(one.text)) for one in said]
    told = [(one, text) for one, text in told if words.is_report(text) and not words.says("fails", text)]
    told = [(one, text) for one, text in told if words.was_done(text) or words.says("done", _NOW.sub("", text[:_HEAD]))]
    told = [(one, text) for one, text in told if not (_CLAIMS.search(text) or words.says("praise", text))]
    told = [each for each in told if len(subject_words(each[1])) > _LEAST_ALONE and len(each[1]) <= _OUTCOME]
    about = beat.subject()
    best = max(told, key=lambda each: len(about & subject_words(each[1])), default=None)
    return [(ARROW.lstrip() + best[1], best[0].place)] if best else []


def _request(beat: Beat) -> Sentence | None:
    mine = [one for one in beat.asked if not words.is_empty(one.text)]
    return max(mine, key=lambda one: len(subject_words(one.text)), default=None)


def _line(asked: str, outcome: str) -> str:
    return f"{asked}{ARROW}{outcome}" if outcome else asked


def _open(spoken: Sequence[Turn], found: Sequence[Beat]) -> list[Sentence]:
    """The last question of the last turn; or the request that nobody answered, or that was broken off."""
    if not spoken or not found:
        return []
    last = [one for one in (*found[-1].asked, *found[-1].answered) if one.turn == len(spoken) - 1]
    is_told = bool(last) and not found[-1].done and bool(spoken[-1].tools)  # an export may leave out the end
    is_broken_off = is_told and words.begins("plans", last[-1].text) and last[-1].text.endswith(_CUT)
    asked = found[-1].asked if is_broken_off else [one for one in last if one.speaker == "user"]
    if unanswered := [one for one in asked if not words.is_empty(one.text)]:
        most = max(unanswered, key=lambda one: len(subject_words(one.text)))
        whole = " ".join(one.text for one in unanswered)
        return [replace(most, text=shortened(whole, _UNANSWERED))]
    return [one for one in last if one.is_question and not words.says("closes", one.text)][-1:]


def _left(spoken: Sequence[Turn], found: Sequence[Beat]) -> list[Sentence]:
    """What the last turn says is left to do."""
    last = [one for one in found[-1].answered if one.turn == len(spoken) - 1 and not one.is_step] if found else []
    left = [one for one in last if words.says("remains", one.text) and not one.is_question]
    left = [one for one in left if not words.begins("intends", one.text) and not words.says("done", one.text)]
    return [one for one in left if words.is_clear(plain(one.text)) and not plain(one.text).endswith((":", "："))][-1:]


def _importance(found: Sequence[Beat], decisions: int, has_subject: bool) -> float:
    if not has_subject:
        return 0.1
    tenths = 3 + min(3, decisions) + any(beat.changed for beat in found)
    tenths += min(2, sum(len(one.text) for beat in found for one in beat.asked) // 400)
    return tenths / 10


def _scope(spoken: Sequence[Turn]) -> TimeScope:
    times = [turn.at for turn in spoken if turn.at is not None]
    return TimeScope(start=times[0] if times else None, end=times[-1] if times else None, turn_count=len(spoken))


_MOST = 8  # references of each kind; the most frequent ones
# In prose, only what is clearly a reference: a path with a slash and an ending, a known name in code marks, an issue.
_NAMED = re.compile(
    r"(?<![\w/@:.-])@?(?P<path>(?:[\w.@~-]{1,100}/){1,30}[\w@-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,5})(?![\w/]|:\d+:|\", l)"
    r"|`(?P<file>[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|rb|php|sh|sql|md|rst|txt"
    r"|json|jsonl|yaml|yml|toml|ini|cfg|lock|html|css|scss|vue|svelte|proto|tf|ipynb))`"
    r"|(?P<issue>https?://[^\s)>\]]{1,200}/(?:issues|pull|merge_requests)/\d+|(?<![\w&/])(?:[\w.-]{1,60}/[\w.-]{1,80})?#\d{1,6}\b"
    r"|\b(?:issue|PR|pull request|bug) #?\d{1,6}\b|\bGH-\d+\b)"
    r"|\b(?P<plan>[Pp]lan[ _-]\d{1,4})\b"
    r"|(?<![\w/.-])(?P<branch>(?:feature|feat|fix|bugfix|hotfix|release|chore)/[\w./-]*[\w-])"
)


def references(turns: Sequence[Turn]) -> References:
    """The references of a segment, the most frequent first, and of equally frequent ones the first."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in ("files", "plans", "branches", "issues")}
    for turn in turns:
        found["files"].update(_relative(path, turn.folder) for path in turn.files)
        if turn.branch and turn.branch != "HEAD":
            found["branches"][turn.branch] += 1
        if not turn.part:
            for kind, value in _named(turn.text):
                found[kind][value] += 1
    return References(**{kind: _most(counts) for kind, counts in found.items()})


def _named(text: str) -> Iterable[tuple[str, str]]:
    for match in _NAMED.finditer(FENCED.sub("\n", text)):
        value = match[0].strip("`").removeprefix("@")
        if match["path"] is not None or match["file"] is not None:
            yield "files", value
        else:
            yield classify(value)


def _most(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(value for value, _ in counts.most_common(_MOST))


def _relative(path: str, folder: str | None) -> str:
    """A file's path below the folder of its turn; others as they are."""
    plain = path.replace("\\", "/")
    base = (folder or "").replace("\\", "/").rstrip("/") + "/"
    return plain.removeprefix(base) if len(base) > 1 else plain
