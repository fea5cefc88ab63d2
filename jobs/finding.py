"""A reported finding: an entry of the table ``diagnostics`` with its subject and message this time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from .diagnostics import DIAGNOSTICS, Fix, Group, Level
from .model import fields_of

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
    memory_ids: Sequence[str] = ()

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
        return cast("FoundTrouble", fields_of(self) | {"level": self.level, "fix": self.fix})

    @classmethod
    def from_dict(cls, data: FoundTrouble) -> Finding:
        """A finding in the result of the job ``check``. Raises KeyError for an unknown code."""
        diagnostic = DIAGNOSTICS[data["code"]]
        own: dict[str, Any] = {name: value for name, value in data.items() if name in cls.__slots__}
        own |= {"message": data["message"] or diagnostic.cause, "remedy": data["remedy"] or diagnostic.remedy}
        return cls(**own)


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
    kept_ids = list(memory_ids[:_MAX_IDS])
    text = f"{diagnostic.cause} {message}".rstrip()
    return Finding(code, subject, text, remedy or diagnostic.remedy, group or diagnostic.group, count, kept_ids)
