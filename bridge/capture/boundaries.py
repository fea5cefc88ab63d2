"""Where a session is cut into segments, parts about one subject. Pure, streaming, in bounded memory.

An exchange is what the person said and what the assistant did and said for it, before the person spoke again. A subject
changes when the person speaks, so a session is cut only before an exchange. Turns of side chains and sub-agents are
part of the exchange in which they ran: nobody spoke with them, and their text is about details of the work, so they
have no part in finding subjects and only their files and their counts of tools are kept.

A cut has one of four reasons. *Marker*: the person cleared the context, or said that it is about something else, or the
tool replaced the context and was not only asked to go on. *Silence*: hours without a turn. *Subject*: the texts before
and after are unlike, and less alike than around, as in TextTiling (Hearst, 1997), with embeddings instead of words.
*Size*: a segment would hold too much; it is cut where its two sides are least alike.

Every decision depends on what is before it and on a few complete exchanges after the cut. So a session that grew has
the same segments as before, apart from the last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from jobs import clock

from ..text import turn_words as words
from .sentences import sentences
from .session import Cut, Embed, Segment, Turn

_MAX_FILES = 200  # of a side chain; more of them say nothing about the subject
# Of what is compared: the beginnings of the question and of the answer, since an embedding reads some hundred words.
_QUESTION_CHARACTERS = 600
_ANSWER_CHARACTERS = 400

_AHEAD = 2  # gaps after a cut that must not be deeper; so many more exchanges must be complete


@dataclass(slots=True)
class Exchange:
    """Turns in order. ``spoken`` counts those that are no side chain, ``prose`` the characters of their sentences."""

    turns: list[Turn] = field(default_factory=list)
    characters: int = 0
    prose: int = 0
    spoken: int = 0

    def add(self, turn: Turn) -> None:
        """Appends a turn. All turns of one side chain become one."""
        if not turn.part:
            self.turns.append(turn)
            self.characters += len(turn.text)
            self.prose += prose(turn)
            self.spoken += 1
            return
        side = replace(turn, text="", files=turn.files[:_MAX_FILES], marker=None)
        for place, known in enumerate(self.turns):
            if known.part == turn.part:
                self.turns[place] = _merged(known, side)
                return
        self.turns.append(side)

    def subject(self) -> str:
        """The text by which its subject is compared; empty where it has no prose."""
        question = _beginning((turn for turn in self.turns if turn.speaker == "user"), _QUESTION_CHARACTERS)
        answer = _beginning((turn for turn in self.turns if turn.speaker != "user"), _ANSWER_CHARACTERS)
        return f"{question} {answer}".strip()


def prose(turn: Turn) -> int:
    """The characters of a turn's sentences."""
    return sum(len(sentence) + 1 for sentence in sentences(turn.text))


def _beginning(turns: Iterable[Turn], limit: int) -> str:
    """The first sentences of the turns, until there are ``limit`` characters."""
    found, length = [], 0
    for sentence in (each for turn in turns if not turn.part for each in sentences(turn.text)):
        found.append(sentence)
        length += len(sentence) + 1
        if length > limit:
            break
    return " ".join(found)[:limit]


def _merged(one: Turn, other: Turn) -> Turn:
    files = tuple(dict.fromkeys((*one.files, *other.files)))[:_MAX_FILES]
    return replace(one, files=files, tools=dict(Counter(one.tools) + Counter(other.tools)))


@dataclass(frozen=True, slots=True)
class Limits:
    """``turns`` and ``characters`` are the most that a segment holds, and so the most that is in memory, besides one
    turn. ``prose`` is the most characters of sentences, unless one exchange alone has more: a summary can say only so
    much. ``silence_hours`` without a turn end a segment. ``window`` is how many characters on each side of a gap are
    compared, and the fewest of a segment that ends because of its subject. ``unlike``: how different the two sides
    are, 0 to 2, from which on the subject has changed. ``least`` is the fewest characters of an exchange that begins
    one.
    """

    turns: int = 400
    characters: int = 200_000
    prose: int = 10_000
    silence_hours: float = 4.0
    window: int = 600
    unlike: float = 0.9
    least: int = 40


DEFAULTS = Limits()


def segments(turns: Iterable[Turn], embed: Embed, limits: Limits = DEFAULTS) -> Iterator[Segment]:
    """The session's segments in order. Turns of side chains stay with the exchange in which they ran, without text."""
    current, last_at = Exchange(), None
    held = _Held(embed, limits)
    for turn in turns:
        at = None if turn.part else _time(turn.at)
        hard = None if turn.part else _hard_cut(turn, at, last_at, limits)
        asks = not turn.part and turn.speaker == "user"
        if current.spoken and (hard or asks or _is_too_large((current,), turn, limits)):
            held.exchanges.append(current)
            current = Exchange()
        if hard:
            yield from held.all(hard)
        elif _is_over((*held.exchanges, current), turn, limits):
            yield from held.until_fits(current, turn)
        current.add(turn)
        last_at = at or last_at
    if current.turns:
        held.exchanges.append(current)
    yield from held.all("start", is_complete=False)


class _Held:
    """The exchanges since the last cut. It gives the segments that they make."""

    def __init__(self, embed: Embed, limits: Limits) -> None:
        self.exchanges: list[Exchange] = []
        self._embed, self._limits = RememberedVectors(embed), limits
        self._index = 0
        self._cut: Cut = "start"  # why the next segment begins

    def all(self, next_cut: Cut, is_complete: bool = True) -> Iterator[Segment]:
        """All segments; the next one begins because of ``next_cut``. The last exchange may still grow."""
        yield from self._by_subject(is_complete)
        if any(exchange.spoken for exchange in self.exchanges):  # a side chain alone is no segment
            yield self._take(len(self.exchanges), next_cut)

    def until_fits(self, current: Exchange, turn: Turn) -> Iterator[Segment]:
        """Segments until what remains fits with the turn."""
        yield from self._by_subject(is_complete=True)
        while self.exchanges and _is_over((*self.exchanges, current), turn, self._limits):
            alone = _is_over((current,), turn, self._limits)  # it gets a segment of its own
            yield self._take(len(self.exchanges) if alone else self._largest_gap(), "size")

    def _by_subject(self, is_complete: bool) -> Iterator[Segment]:
        if len(self.exchanges) < 2 + _AHEAD:
            return
        gaps = self._gaps(self.exchanges if is_complete else self.exchanges[:-1])
        begin, cuts = 0, []
        for gap in range(1, gaps.count):
            begins = self.exchanges[gap].turns[0].speaker == "user" and gaps.length(gap, gap + 1) >= self._limits.least
            if not begins or gaps.length(begin, gap) < self._limits.window:
                continue
            difference = gaps.difference(gap, begin, _AHEAD)
            if difference is not None and difference > self._limits.unlike:
                cuts.append(gap - begin)
                begin = gap
        for length in cuts:
            yield self._take(length, "subject")

    def _largest_gap(self) -> int:
        """The number of exchanges before the gap whose sides are least alike, in the second half by length."""
        held = self.exchanges
        sizes = [exchange.prose for exchange in held]
        later = [gap for gap in range(1, len(held)) if 2 * sum(sizes[:gap]) >= sum(sizes)]
        gaps = self._gaps(held)
        known = [(found, gap) for gap in later if (found := gaps.similarity(gap, 0)) is not None]
        return min(known)[1] if known else len(held)

    def _gaps(self, exchanges: list[Exchange]) -> Gaps:
        return Gaps([exchange.subject() for exchange in exchanges], self._embed, self._limits.window)

    def _take(self, count: int, next_cut: Cut) -> Segment:
        turns = tuple(turn for exchange in self.exchanges[:count] for turn in exchange.turns)
        segment = Segment(self._index, turns, self._cut)
        del self.exchanges[:count]
        self._index, self._cut = self._index + 1, next_cut
        return segment


def _hard_cut(turn: Turn, at: datetime | None, last_at: datetime | None, limits: Limits) -> Cut | None:
    """Why a subject certainly ends before a turn; None if it need not."""
    goes_on = turn.marker == "compacted" and words.begins("continues", turn.text)
    if (turn.marker is not None and not goes_on) or (turn.speaker == "user" and words.changes_subject(turn.text)):
        return "marker"
    if at is not None and last_at is not None and (at - last_at).total_seconds() > limits.silence_hours * 3600:
        return "silence"
    return None


def _is_over(exchanges: Iterable[Exchange], turn: Turn, limits: Limits) -> bool:
    """Whether the exchanges with one turn more would be too much for one summary, or too large."""
    held = [exchange for exchange in exchanges if exchange.spoken]
    if not held or turn.part:
        return False
    said = sum(exchange.prose for exchange in held) + prose(turn)
    return said > limits.prose or _is_too_large(held, turn, limits)


def _is_too_large(exchanges: Iterable[Exchange], turn: Turn, limits: Limits) -> bool:
    """Whether the exchanges with one turn more would hold too much. An exchange alone is cut only then."""
    held = [exchange for exchange in exchanges if exchange.spoken]
    if not held or turn.part:
        return False
    turns, characters = sum(len(exchange.turns) for exchange in held), sum(exchange.characters for exchange in held)
    return turns >= limits.turns or characters + len(turn.text) > limits.characters


def _time(text: str | None) -> datetime | None:
    try:
        return clock.parse(text) if text else None
    except ValueError:
        return None


class RememberedVectors:
    """Embeds texts, and remembers the vectors of the last ones: most of them are asked for again after a cut."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        known = self._known | (dict(zip(new, self._embed(new), strict=True)) if new else {})
        self._known = {text: known[text] for text in texts}
        return np.stack([known[text] for text in texts])


class Gaps:
    """The gaps between exchanges, whose subjects are given as texts. Gap ``n`` is before exchange ``n``.

    On each side of a gap as many exchanges are compared as it takes for ``window`` characters, each by its length.
    """

    def __init__(self, subjects: Sequence[str], embed: Embed, window: int) -> None:
        self.count = len(subjects)
        self._lengths = [len(subject) for subject in subjects]
        self._vectors = embed(subjects)
        self._window = window

    def length(self, first: int, end: int) -> int:
        """The characters of these subjects."""
        return sum(self._lengths[first:end])

    def similarity(self, gap: int, begin: int) -> float | None:
        """The cosine of the two sides, of exchanges from ``begin`` on. None if too little was said after the gap."""
        if gap >= self.count:
            return None
        before, _ = self._mean(range(gap - 1, begin - 1, -1))
        after, is_full = self._mean(range(gap, self.count))
        return float(before @ after) if is_full else None

    def difference(self, gap: int, begin: int, ahead: int) -> float | None:
        """How unlike the two sides are, and half of how much more alike the sides of the gaps around are.

        0 to 2. Zero if one of the ``ahead`` gaps after it is deeper. None if too little was said after those.
        """
        here = self.similarity(gap, begin)
        after = [self.similarity(later, begin) for later in range(gap + 1, gap + 1 + ahead)]
        if here is None or None in after:
            return None
        right = max(found for found in [here, *after] if found is not None)
        if min(found for found in [here, *after] if found is not None) < here:
            return 0.0
        left = here
        for earlier in range(gap - 1, begin, -1):
            found = self.similarity(earlier, begin)
            if found is None or found < left:
                break
            left = found
        return 1 - here + (left - here + right - here) / 2

    def _mean(self, exchanges: Iterable[int]) -> tuple[NDArray[np.float32], bool]:
        """The direction of the exchanges nearest to a gap, and whether they fill the window."""
        total, length = np.zeros(self._vectors.shape[1], np.float32), 0
        for exchange in exchanges:
            total += self._vectors[exchange] * min(self._lengths[exchange], self._window)
            length += self._lengths[exchange]
            if length >= self._window:
                break
        return total / max(float(np.linalg.norm(total)), 1e-9), length >= self._window
