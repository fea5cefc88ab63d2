"""What a copy lacks of its team's changes, as the team answers it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Missing:
    """How many changes a copy lacks, and whether something that it has was forgotten by one of them."""

    changes: int
    forgets: bool
