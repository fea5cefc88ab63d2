"""Similar ids, for errors about a topic, plan or memory that does not exist."""

from __future__ import annotations

from collections.abc import Sequence

from jobs import spelling
from jobs.errors import JobError

_MOST_NEAREST = 3
_NEAR = 0.5  # of difflib's ratio


def not_found(topic_id: str, known: Sequence[str], *, so: str = "") -> JobError:
    """The error TOPIC_NOT_FOUND, with the nearest of the ``known`` ids; ``so`` is appended to its message."""
    return _not_found("TOPIC_NOT_FOUND", f"topic {topic_id!r}", nearest(topic_id, known), so)


def plan_not_found(plan_id: str, known: Sequence[str]) -> JobError:
    """The error PLAN_NOT_FOUND, with the nearest of the ``known`` ids."""
    return _not_found("PLAN_NOT_FOUND", f"plan {plan_id!r}", nearest(plan_id, known))


def _not_found(code: str, what: str, near: list[str], so: str = "") -> JobError:
    hint = f" The nearest: {', '.join(map(repr, near))}." if near else ""
    return JobError(code, f"There is no {what}.{hint}{so}", details={"nearest": near})


def nearest(topic_id: str, known: Sequence[str]) -> list[str]:
    """The most similar known ids, the best first: by their letters, then by the words that they share."""
    similar = spelling.nearest(topic_id, known, _MOST_NEAREST, _NEAR)
    words = set(topic_id.split("-"))
    alike = {other: len(words & set(other.split("-"))) for other in known if other not in similar}
    similar += sorted((other for other in alike if alike[other]), key=lambda other: (-alike[other], other))
    return similar[:_MOST_NEAREST]
