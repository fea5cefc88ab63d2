"""Conflicts between decisions, found without a language model: precise rather than eager.

Two decisions conflict when they speak of the same subject and cannot both hold: one denies what the other says, names
another amount or choice for it, puts it the other way round, or takes it back. A later decision that narrows an earlier
one (an exception, a condition, a detail) is no conflict. Statements of much the same form are compared by the rules
here; what these say nothing about, ``contrast`` weighs. How well this does on labelled pairs is in docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..embedding.embedder import Vectors
from . import contrast, lexicon
from .statements import NAMED, Clause, clauses

ConflictKind = Literal["negation", "choice", "value", "toggle", "reversal"]
Standing = Literal["same", "earlier is narrower", "later is narrower", "apart"]

_IN_COMMON = 0.4  # of the words of the longer clause: with less, the shorter one speaks of something else


@dataclass(frozen=True, slots=True)
class Found:
    """What is wrong between two texts; ``confidence`` is how sure that is, 0 to 1."""

    kind: ConflictKind
    confidence: float


@dataclass(frozen=True, slots=True)
class Pair:
    """A conflict between two of a list of texts, by their places in it; the earlier one comes first."""

    earlier: int
    later: int
    found: Found


def find(
    texts: Sequence[str], origins: Sequence[str], vectors: Vectors, pulse: Callable[[], None] = lambda: None
) -> list[Pair]:
    """The conflicts among texts that are in order of time. Texts of one origin are not compared with each other.

    Of several in a row each is held against the one that it replaces, not against what that one had replaced before.
    ``vectors`` are the texts' embeddings, of length 1, shape (n, d). ``pulse`` is called before each comparison: many
    texts of one subject take a while.
    """
    parsed = [clauses(text) for text in texts]
    readings = [contrast.read(text) for text in texts]
    shared, near = _sharing_words(parsed), contrast.candidates(readings, vectors)
    found = []
    replaced: list[int] = []  # by each text, directly or not: a bit for each
    for later in range(len(texts)):
        behind = 0
        for earlier in np.flatnonzero(shared[later, :later] | near[later, :later])[::-1].tolist():
            if behind >> earlier & 1 or origins[earlier] == origins[later] or readings[earlier].is_open:
                continue
            pulse()
            conflict = between_clauses(parsed[earlier], parsed[later]) if shared[later, earlier] else None
            if conflict is None and near[later, earlier]:
                similarity = float(vectors[earlier] @ vectors[later])
                conflict = _likely(readings[earlier], readings[later], similarity)
            if conflict is not None:
                found.append(Pair(earlier, later, conflict))
                behind |= 1 << earlier | replaced[earlier]
        replaced.append(behind)
    return sorted(found, key=lambda pair: (pair.earlier, pair.later))


def between(earlier: str, later: str, similarity: float | None = None) -> Found | None:
    """The conflict of a later statement with an earlier one, if there is one.

    ``similarity`` is the cosine of their embeddings; without it the rules alone are asked.
    """
    reading = contrast.read(earlier)
    if reading.is_open:
        return None
    found = between_clauses(clauses(earlier), clauses(later))
    if found is not None or similarity is None:
        return found
    return _likely(reading, contrast.read(later), similarity)


def _likely(earlier: contrast.Reading, later: contrast.Reading, similarity: float) -> Found | None:
    found = contrast.between(earlier, later, similarity)
    return None if found is None else Found(*found)


def _sharing_words(parsed: Sequence[tuple[Clause, ...]]) -> NDArray[np.bool_]:
    """Which have a word in common or a class of things, shape (n, n): the others cannot conflict by the rules."""
    columns: dict[str, int] = {}
    marks: list[tuple[int, int]] = []
    for row, statement in enumerate(parsed):
        stems = {stem for clause in statement for stem in clause.stems | clause.rejected}
        stems |= {f"class {lexicon.CLASS_OF[stem]}" for stem in stems if stem in lexicon.CLASS_OF}
        marks += [(row, columns.setdefault(stem, len(columns))) for stem in stems]
    has = np.zeros((len(parsed), len(columns)), np.float32)
    if marks:
        has[tuple(np.array(marks).T)] = 1
    return has @ has.T > 0


def between_clauses(earlier: Sequence[Clause], later: Sequence[Clause]) -> Found | None:
    """The same of statements that were taken apart already."""
    found = [conflict for a in earlier for b in later if (conflict := _of_clauses(a, b)) is not None]
    return max(found, key=lambda conflict: conflict.confidence, default=None)


def _of_clauses(a: Clause, b: Clause) -> Found | None:
    if (reversal := _taken_back(a, b)) is not None:
        return reversal
    only_a = set(a.stems - b.stems | a.repeated - b.repeated)
    only_b = set(b.stems - a.stems | b.repeated - a.repeated)
    toggled = take_opposites(only_a, only_b, a.heads | b.heads) or _is_turned_round(a, b)
    denials = [clause.is_negative for clause in (a, b)]
    if not toggled:  # "X is forbidden" denies X
        denials = [c.is_negative != bool(c.stems & lexicon.FORBIDDING) for c in (a, b)]
        only_a, only_b = only_a - lexicon.FORBIDDING, only_b - lexicon.FORBIDDING
    standing = _standing(a, b, only_a, only_b)
    if denials[0] != denials[1]:
        return None if toggled else _denied(b, standing, denials[0])
    if standing in ("same", "earlier is narrower"):
        sure = 0.9 if standing == "same" else 0.7
        if toggled:
            return Found("toggle", sure)
        if _has_other_amount(a, b):
            return Found("value", sure)
    if a.is_negative or toggled:
        return None
    return _other_choice(a, b, frozenset(only_a), frozenset(only_b))


# --- subjects ---


def _standing(a: Clause, b: Clause, only_a: set[str], only_b: set[str]) -> Standing:
    """How the subjects of two clauses stand to each other, by the words that only one of them has."""
    more_a, more_b = _narrowing(a, only_a), _narrowing(b, only_b)
    if not a.heads & b.heads or (more_a and more_b):
        return "apart"
    common = a.stems & b.stems
    if (more_a or more_b) and (len(common) < 2 or len(common) < _IN_COMMON * max(len(a.stems), len(b.stems))):
        return "apart"
    if more_a:
        return "earlier is narrower" if _is_head(b.last_head, a) else "apart"
    if more_b:
        return "later is narrower" if _is_head(a.last_head, b) else "apart"
    return "same"


def _is_head(stem: str | None, clause: Clause) -> bool:
    """Whether a clause is about the thing too, and not about a part of it: the tokens, not the token's date."""
    return stem not in clause.stems or stem in clause.heads


def _narrowing(clause: Clause, only: set[str]) -> set[str]:
    """Of the words that one clause has more, those that say of what it holds: neither how, nor that it changes."""
    more = {word.stem for word in clause.words if word.stem in only and word.preposition not in lexicon.MANNER}
    return more - lexicon.CHANGING


# --- kinds ---


def _denied(b: Clause, standing: Standing, is_earlier: bool) -> Found | None:
    """A denial of a narrower case is an exception; a narrower case of what is denied is a contradiction.

    ``is_earlier``: the denial is the earlier one.
    """
    denial_is_narrower = standing == ("earlier is narrower" if is_earlier else "later is narrower")
    if standing == "apart" or denial_is_narrower:
        return None
    kind: ConflictKind = "reversal" if b.is_reversal else "negation"
    return Found(kind, 0.9 if standing == "same" else 0.75)


def take_opposites(only_a: set[str], only_b: set[str], heads: frozenset[str]) -> bool:
    """Take out the words of each of which the other has the opposite. Whether there were any.

    ``heads`` are the words that say how a thing is, and not which.
    """
    pairs = [(one, other) for one in only_a for other in lexicon.opposites_of(one) & only_b]
    states = ((one, other) for one in only_a & heads for other in lexicon.counterparts_of(one) & only_b)
    pairs += [(one, other) for one, other in states if other in heads]
    for one, other in pairs:
        only_a.discard(one)
        only_b.discard(other)
    return bool(pairs)


def _is_turned_round(a: Clause, b: Clause) -> bool:
    """``A before B`` and ``B before A``."""
    if a.order is None or b.order is None or a.stems != b.stems:
        return False
    behind_a, behind_b = (frozenset(w.stem for w in c.words if w.preposition in ("before", "after")) for c in (a, b))
    return bool(behind_a and behind_b) and (behind_a != behind_b) == (a.order == b.order)


def _has_other_amount(a: Clause, b: Clause) -> bool:
    """Another amount of the same; a number right behind a name, and nothing else, makes another name."""
    differing = {kind for kind, amounts in a.quantities.items() if b.quantities.get(kind, amounts) != amounts}
    says_so = len(a.stems & b.stems) > 1 or (a.copula and b.copula)
    return any(says_so or not kind.startswith(NAMED) or "_" in kind for kind in differing)


def _taken_back(a: Clause, b: Clause) -> Found | None:
    """The later one names what it takes the place of, and that is what the earlier one says; or the other way round."""
    if b.is_negative or a.is_negative:
        return None
    if _speaks_of(a, b.rejected, b) or _is_dropped(a, b):
        return Found("reversal", 0.85)
    if a.chooses and _speaks_of(b, a.rejected, a):
        return Found("reversal", 0.8)
    return None


def _speaks_of(clause: Clause, rejected: frozenset[str], other: Clause) -> bool:
    """Whether a clause says what another one rejects, of the same subject as far as both name one."""
    if not rejected or not rejected <= clause.stems or not rejected & clause.heads:
        return False
    behind = clause.prepositions(rejected)
    chosen = clause.chooses and behind == {None}
    placed = bool(clause.stems & lexicon.EXCLUSIVE) and behind <= lexicon.PLACES
    if not (chosen or placed) and len(rejected) < len(clause.stems) / 2:
        return False
    subject = {w.stem for w in clause.words if w.stem not in rejected and w.preposition not in lexicon.MANNER}
    others = {w.stem for w in other.words if w.preposition in ("for", "in", "on", "of")}
    return not subject or not others or bool(subject & others)


def _is_dropped(a: Clause, b: Clause) -> bool:
    """``Use X for Y``, then ``Drop X``."""
    if not a.chooses or not b.words or b.words[0].stem not in lexicon.DROPPING:
        return False
    dropped = {word.stem for word in b.words[1:] if word.preposition is None}
    chosen = {word.stem for word in a.words if word.preposition is None}
    rest = {word.stem for word in b.words[1:]} - dropped
    return bool(dropped) and dropped <= chosen and rest <= a.stems


def _other_choice(a: Clause, b: Clause, only_a: frozenset[str], only_b: frozenset[str]) -> Found | None:
    """Both make a choice for the same subject, and it is not the same one."""
    common = a.stems & b.stems
    if not only_a or not only_b or a.is_addition or b.is_addition or common & lexicon.ADDING:
        return None
    if a.quantities.keys() != b.quantities.keys():
        return None
    classes = [{lexicon.CLASS_OF[stem] for stem in only if stem in lexicon.CLASS_OF} for only in (only_a, only_b)]
    loose = [sum(stem not in lexicon.CLASS_OF for stem in only) for only in (only_a, only_b)]
    if classes[0] & classes[1] and max(loose) <= (1 if common else 0):
        return Found("choice", 0.9 if common else 0.7)
    if all(classes) or not common or not (_is_one_group(a, only_a) and _is_one_group(b, only_b)):
        return None
    where = a.prepositions(only_a) | b.prepositions(only_b)
    if a.chooses and b.chooses and where == {None} and not (a.heads & common) <= lexicon.COMPONENTS:
        return Found("choice", 0.65)
    is_scope = bool((a.prepositions(common) | b.prepositions(common)) & lexicon.PLACES)  # the place is the same already
    if where <= lexicon.PLACES and not is_scope and common & lexicon.EXCLUSIVE and common - lexicon.EXCLUSIVE:
        return Found("choice", 0.75)
    if a.copula and b.copula and where == {None} and common & lexicon.PROPERTIES and not a.quantities:
        return Found("choice", 0.75)
    return None


def _is_one_group(clause: Clause, only: frozenset[str]) -> bool:
    """Whether words stand side by side behind one preposition: in one place of the sentence."""
    places = [at for at, word in enumerate(clause.words) if word.stem in only]
    return places[-1] - places[0] == len(places) - 1 and len(clause.prepositions(only)) == 1
