"""Detects conflicts between decisions without a language model. A heuristic that prefers precision to recall.

Two decisions conflict when they have the same subject and cannot both hold: one negates the other, names another amount
or choice, swaps its order, or reverses it. A later decision that narrows an earlier one (an exception, a condition, a
detail) is no conflict, nor is one that repeats its amounts. The rules compare statements of similar form; other pairs
are for the cross-encoder of ``bridge/standing``. docs/benchmarks.md has figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import lexicon
from .labels import are_of_two_things
from .statements import NAMED, Clause, clauses

ConflictKind = Literal["negation", "choice", "value", "toggle", "reversal"]
SubjectRelation = Literal["same", "earlier is narrower", "later is narrower", "apart"]

_OPEN = re.compile(
    r"\bdecided? later\b|\bto be decided\b|\btbd\b|^open:|\bwhether\b|\b(?:could|should we|suggest|propos)|\?\s*$",
    re.IGNORECASE,
)
_MIN_SHARED = 0.4  # of the longer clause's words; with less in common, the shorter one has another subject


class Finding(NamedTuple):
    """A conflict between two texts; ``confidence`` is 0 to 1."""

    kind: ConflictKind
    confidence: float


class FoundConflict(NamedTuple):
    """A conflict between two texts of a list; ``earlier`` and ``later`` are their indexes."""

    earlier: int
    later: int
    found: Finding


def find_conflicts(
    texts: Sequence[str], origins: Sequence[frozenset[str]], yield_control: Callable[[], None] = lambda: None
) -> list[FoundConflict]:
    """The conflicts among texts in chronological order. Texts that share one of their ``origins`` are not compared.

    In a chain of replacements, each text conflicts only with the one that it replaces directly. ``yield_control`` is
    called before each comparison, since many texts about one subject take seconds. Raises what it raises.
    """
    parsed = [clauses(text) for text in texts]
    shared = _sharing_words(parsed)
    pairs = []
    replaced: list[int] = []  # for each text, the set of texts that it replaces, directly or not, as a bit mask
    for later in range(len(texts)):
        replaced_by_later = 0
        for earlier in np.flatnonzero(shared[later, :later])[::-1].tolist():
            if replaced_by_later >> earlier & 1 or origins[earlier] & origins[later]:
                continue
            yield_control()
            if any(_OPEN.search(texts[at]) for at in (earlier, later)) or are_of_two_things(
                texts[earlier], texts[later]
            ):
                continue
            if conflict := compare_clauses(parsed[earlier], parsed[later]):
                pairs.append(FoundConflict(earlier, later, conflict))
                replaced_by_later |= 1 << earlier | replaced[earlier]
        replaced.append(replaced_by_later)
    return sorted(pairs, key=lambda pair: (pair.earlier, pair.later))


def _sharing_words(parsed: Sequence[tuple[Clause, ...]]) -> NDArray[np.bool_]:
    """Which pairs share a word or a class of things, shape (n, n). The rules find no conflict in other pairs."""
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


def compare_clauses(earlier: Sequence[Clause], later: Sequence[Clause]) -> Finding | None:
    """The most confident conflict between the clauses of two parsed statements, by the rules; None without one."""
    findings = [finding for a in earlier for b in later if (finding := _compare_pair(a, b)) is not None]
    return max(findings, key=lambda finding: finding.confidence, default=None)


def _compare_pair(a: Clause, b: Clause) -> Finding | None:
    if (reversal := _reversed(a, b)) is not None:
        return reversal
    only_a = set(a.stems - b.stems | a.repeated - b.repeated)
    only_b = set(b.stems - a.stems | b.repeated - a.repeated)
    toggled = _remove_opposites(only_a, only_b, a.heads | b.heads) or _is_order_swapped(a, b)
    denials = [clause.is_negative for clause in (a, b)]
    if not toggled:  # "X is forbidden" denies X
        denials = [c.is_negative != bool(c.stems & lexicon.FORBIDDING) for c in (a, b)]
        only_a, only_b = only_a - lexicon.FORBIDDING, only_b - lexicon.FORBIDDING
    relation = _relation(a, b, only_a, only_b)
    if denials[0] != denials[1]:
        return None if toggled else _negated(b, relation, denials[0])
    if relation in ("same", "earlier is narrower"):
        confidence = 0.9 if relation == "same" else 0.7
        if toggled:
            return Finding("toggle", confidence)
        if _has_other_amount(a, b):
            return Finding("value", confidence)
    if a.is_negative or toggled:
        return None
    return _other_choice(a, b, frozenset(only_a), frozenset(only_b))


# --- subjects ---


def _relation(a: Clause, b: Clause, only_a: set[str], only_b: set[str]) -> SubjectRelation:
    """How the subjects of two clauses relate, judged by the words that only one of them has."""
    more_a, more_b = _narrowing(a, only_a), _narrowing(b, only_b)
    common = a.stems & b.stems
    is_sided = {"over", "under"} <= a.prepositions(common) | b.prepositions(common)
    if is_sided or not a.heads & b.heads or (more_a and more_b):
        return "apart"
    if (more_a or more_b) and (len(common) < 2 or len(common) < _MIN_SHARED * max(len(a.stems), len(b.stems))):
        return "apart"
    if more_a:
        return "earlier is narrower" if _is_head(b.last_head, a) else "apart"
    if more_b:
        return "later is narrower" if _is_head(a.last_head, b) else "apart"
    return "same"


def _is_head(stem: str | None, clause: Clause) -> bool:
    """Whether a clause is about the thing itself, not about a part of it: the tokens, not the token's date."""
    return stem not in clause.stems or stem in clause.heads


def _narrowing(clause: Clause, only: set[str]) -> set[str]:
    """The extra words of one clause that narrow its subject; words of manner and of change do not."""
    more = {
        word.stem for word in clause.words if word.stem in only and word.preposition not in lexicon.MANNER_PREPOSITIONS
    }
    return more - lexicon.CHANGING


# --- kinds ---


def _negated(b: Clause, relation: SubjectRelation, is_earlier: bool) -> Finding | None:
    """The conflict when one clause negates the other; ``is_earlier``: the negation is the earlier one.

    A negation of a narrower case is an exception, so no conflict. A positive narrower case of what is negated
    contradicts it.
    """
    denial_is_narrower = relation == ("earlier is narrower" if is_earlier else "later is narrower")
    if relation == "apart" or denial_is_narrower:
        return None
    kind: ConflictKind = "reversal" if b.is_reversal else "negation"
    return Finding(kind, 0.9 if relation == "same" else 0.75)


def _remove_opposites(only_a: set[str], only_b: set[str], heads: frozenset[str]) -> bool:
    """Remove the words from both sets whose opposite is in the other set. Returns whether there were any.

    ``heads`` are the words that describe the state of a thing; only among them do opposite states count.
    """
    pairs = [(one, other) for one in only_a for other in lexicon.OPPOSITE_ACTIONS.get(one, frozenset()) & only_b]
    states = ((one, other) for one in only_a & heads for other in lexicon.opposite_states_of(one) & only_b)
    pairs += [(one, other) for one, other in states if other in heads]
    for one, other in pairs:
        only_a.discard(one)
        only_b.discard(other)
    return bool(pairs)


def _is_order_swapped(a: Clause, b: Clause) -> bool:
    """Whether the clauses have the form ``A before B`` and ``B before A``."""
    if a.order is None or b.order is None or a.stems != b.stems:
        return False
    behind_a, behind_b = (frozenset(w.stem for w in c.words if w.preposition in ("before", "after")) for c in (a, b))
    return bool(behind_a and behind_b) and (behind_a != behind_b) == (a.order == b.order)


def _has_other_amount(a: Clause, b: Clause) -> bool:
    """Whether the clauses name different amounts of the same. A number right behind a name, alone, is another name."""
    differing = {kind for kind, amounts in a.quantities.items() if b.quantities.get(kind, amounts) != amounts}
    says_so = len(a.stems & b.stems) > 1 or (a.copula and b.copula)
    return any(says_so or not kind.startswith(NAMED) or "_" in kind for kind in differing)


def _reversed(a: Clause, b: Clause) -> Finding | None:
    """The conflict when the later clause names what it replaces and the earlier one says just that, or vice versa."""
    if b.is_negative or a.is_negative:
        return None
    if _speaks_of(a, b.rejected, b) or _is_dropped(a, b):
        return Finding("reversal", 0.85)
    if a.chooses and _speaks_of(b, a.rejected, a):
        return Finding("reversal", 0.8)
    return None


def _speaks_of(clause: Clause, rejected: frozenset[str], other: Clause) -> bool:
    """Whether a clause says what another one rejects, about the same subject if both name one."""
    if not rejected or not rejected <= clause.stems or not rejected & clause.heads:
        return False
    behind = clause.prepositions(rejected)
    chosen = clause.chooses and behind == {None}
    placed = bool(clause.stems & lexicon.EXCLUSIVE) and behind <= lexicon.PLACE_PREPOSITIONS
    if not (chosen or placed) and len(rejected) < len(clause.stems) / 2:
        return False
    subject = {
        w.stem for w in clause.words if w.stem not in rejected and w.preposition not in lexicon.MANNER_PREPOSITIONS
    }
    others = {w.stem for w in other.words if w.preposition in ("for", "in", "on", "of")}
    return not subject or not others or bool(subject & others)


def _is_dropped(a: Clause, b: Clause) -> bool:
    """Whether the clauses have the form ``Use X for Y``, then ``Drop X``."""
    if not a.chooses or not b.words or b.words[0].stem not in lexicon.DROPPING:
        return False
    dropped = {word.stem for word in b.words[1:] if word.preposition is None}
    chosen = {word.stem for word in a.words if word.preposition is None}
    others = {word.stem for word in b.words[1:]} - dropped
    return bool(dropped) and dropped <= chosen and others <= a.stems


def _other_choice(a: Clause, b: Clause, only_a: frozenset[str], only_b: frozenset[str]) -> Finding | None:
    """The conflict when both clauses make a choice for the same subject, but a different one."""
    common = a.stems & b.stems
    if not only_a or not only_b or a.is_addition or b.is_addition or common & lexicon.ADDING:
        return None
    if a.quantities.keys() != b.quantities.keys():
        return None
    classes = [{lexicon.CLASS_OF[stem] for stem in only if stem in lexicon.CLASS_OF} for only in (only_a, only_b)]
    loose = [sum(stem not in lexicon.CLASS_OF for stem in only) for only in (only_a, only_b)]
    if classes[0] & classes[1] and max(loose) <= (1 if common else 0):
        return Finding("choice", 0.9 if common else 0.7)
    if all(classes) or not common or not (_is_one_group(a, only_a) and _is_one_group(b, only_b)):
        return None
    where = a.prepositions(only_a) | b.prepositions(only_b)
    if a.chooses and b.chooses and where == {None} and not (a.heads & common) <= lexicon.COMPONENTS:
        return Finding("choice", 0.65)
    is_scope = bool(
        (a.prepositions(common) | b.prepositions(common)) & lexicon.PLACE_PREPOSITIONS
    )  # both already name the same place
    if (
        where <= lexicon.PLACE_PREPOSITIONS
        and not is_scope
        and common & lexicon.EXCLUSIVE
        and common - lexicon.EXCLUSIVE
    ):
        return Finding("choice", 0.75)
    if a.copula and b.copula and where == {None} and common & lexicon.PROPERTIES and not a.quantities:
        return Finding("choice", 0.75)
    return None


def _is_one_group(clause: Clause, only: frozenset[str]) -> bool:
    """Whether the words are adjacent and behind the same preposition."""
    indexes = [index for index, word in enumerate(clause.words) if word.stem in only]
    return indexes[-1] - indexes[0] == len(indexes) - 1 and len(clause.prepositions(only)) == 1
