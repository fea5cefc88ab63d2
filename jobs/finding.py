"""What one check found: an entry of the table of diagnostics with what it is about this time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .diagnostics import DIAGNOSTICS, Fix, Group, Level

if TYPE_CHECKING:
    from .schema import FoundTrouble


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. ``memory_ids`` are some of the memories concerned; ``count`` says of how many things."""

    code: str
    subject: str
    message: str
    remedy: str
    group: Group
    count: int = 1
    memory_ids: tuple[str, ...] = ()

    @property
    def level(self) -> Level:
        return DIAGNOSTICS[self.code].level

    @property
    def fix(self) -> Fix | None:
        return DIAGNOSTICS[self.code].fix

    def as_dict(self) -> FoundTrouble:
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
        """A finding of the job ``check``. Raises KeyError for a code that is not known."""
        trouble = DIAGNOSTICS[data["code"]]
        return cls(
            code=trouble.code,
            subject=data["subject"],
            message=data["message"] or trouble.cause,
            remedy=data["remedy"] or trouble.remedy,
            group=data["group"],
            count=data["count"],
            memory_ids=tuple(data["memory_ids"]),
        )


_MOST_IDS = 20


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
    """A finding of the table with what was found this time; no texts of memories, and no keys."""
    trouble = DIAGNOSTICS[code]
    told = tuple(memory_ids[:_MOST_IDS])
    said = f"{trouble.cause} {message}".rstrip()
    return Finding(code, subject, said, remedy or trouble.remedy, group or trouble.group, count, told)
