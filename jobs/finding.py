"""A reported finding: an entry of the table ``diagnostics`` with its subject and message this time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .diagnostics import DIAGNOSTICS, Fix, Group, Level

if TYPE_CHECKING:
    from .schema import FoundTrouble


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. ``count`` is the number of affected things; ``memory_ids`` are some of the affected memories."""

    code: str
    subject: str
    message: str
    remedy: str
    group: Group
    count: int = 1
    memory_ids: tuple[str, ...] = ()

    @property
    def level(self) -> Level:
        """The diagnostic's level."""
        return DIAGNOSTICS[self.code].level

    @property
    def fix(self) -> Fix | None:
        """The diagnostic's automatic fix, or None."""
        return DIAGNOSTICS[self.code].fix

    def as_dict(self) -> FoundTrouble:
        """The finding as JSON."""
        return {
            "code": self.code,
            "level": self.level,
            "group": self.group,
            "subject": self.subject,
            "message": self.message,
            "remedy": self.remedy,
            "fix": self.fix,
            "count": self.count,
            "memory_ids": list(self.memory_ids),
        }

    @classmethod
    def from_dict(cls, data: FoundTrouble) -> Finding:
        """A finding in the result of the job ``check``. Raises KeyError for an unknown code."""
        diagnostic = DIAGNOSTICS[data["code"]]
        return cls(
            code=diagnostic.code,
            subject=data["subject"],
            message=data["message"] or diagnostic.cause,
            remedy=data["remedy"] or diagnostic.remedy,
            group=data["group"],
            count=data["count"],
            memory_ids=tuple(data["memory_ids"]),
        )


_MAX_IDS = 20


def finding(
    code: str,
    subject: str,
    message: str = "",
    *,
    remedy: str = "",
    group: Group | None = None,
    count: int = 1,
    memory_ids: Sequence[str] = (),
) -> Finding:
    """A finding with the table's cause, remedy and group, and the ``message`` of this occurrence behind the cause.

    ``message`` must contain neither texts of memories nor keys. At most 20 of ``memory_ids`` are kept.
    """
    diagnostic = DIAGNOSTICS[code]
    kept_ids = tuple(memory_ids[:_MAX_IDS])
    text = f"{diagnostic.cause} {message}".rstrip()
    return Finding(code, subject, text, remedy or diagnostic.remedy, group or diagnostic.group, count, kept_ids)
