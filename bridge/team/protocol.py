"""The table of calls: what a machine asks of its team through a gateway, and the gateway of its database.

A call is a function of the database, whose annotations also say what a request and its answer have: the gateway's
client, its routes and their description are made from them. A pool, which has the database's address, has more.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from . import attachments, copies as machines_copies, rows, shared_jobs
from .rows import Author, Described, FeedRow, Position, Registered, SharedRow

if TYPE_CHECKING:
    from .server import Connection

P = ParamSpec("P")
R = TypeVar("R")

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)


class Call(Generic[P, R]):
    """One call. In a request, the parts of a position stand beside the other arguments."""

    name: str

    def __init__(
        self,
        function: Callable[Concatenate[Connection, P], R],
        *,
        changes: bool = False,
        is_news: Callable[[R], bool] = lambda answer: False,
    ) -> None:
        """``function`` gets a connection first. ``changes``: it changes something, which a gateway's audit tells.
        ``is_news``: whether the answer says that others are to look: then the gateway tells them."""
        self.function = function
        self.changes = changes
        self.is_news = is_news

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, team: Team, owner: type) -> Callable[P, R]:
        return partial(team.run, self)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        hints = get_type_hints(self.function, localns={"Connection": object}, include_extras=True)
        del hints["connection"]
        return hints

    @cached_property
    def _answer(self) -> TypeAdapter[Any]:
        return TypeAdapter(self._hints["return"])

    @cached_property
    def body(self) -> type[BaseModel]:
        """The body of a request."""
        fields: dict[str, Any] = {}
        for name, hint in self._hints.items():
            if name != "return":
                parts = get_type_hints(hint, include_extras=True) if _has_parts(hint) else {name: hint}
                fields |= {part: (each, ...) for part, each in parts.items()}
        return create_model(self.name, __config__=STRICT, **fields)

    @property
    def may_be_none(self) -> bool:
        """Whether the answer about an unknown workspace is None."""
        return type(None) in get_args(self._hints["return"])

    def request(self, *arguments: P.args, **named: P.kwargs) -> dict[str, Any]:
        """The JSON body of a request with these arguments."""
        parts: dict[str, Any] = {}
        bound = inspect.signature(self.function).bind(None, *arguments, **named).arguments
        for name, value in list(bound.items())[1:]:
            parts |= value._asdict() if _has_parts(type(value)) else {name: value}
        return self.body.model_construct(**parts).model_dump(mode="json", by_alias=True, warnings="none")

    def arguments_of(self, body: BaseModel) -> dict[str, Any]:
        """The function's arguments, of a request."""
        return {
            name: hint(*(getattr(body, part) for part in hint._fields)) if _has_parts(hint) else getattr(body, name)
            for name, hint in self._hints.items()
            if name != "return"
        }

    def shown(self, value: R) -> Any:
        """An answer as JSON."""
        return self._answer.dump_python(value, mode="json")

    def answer_of(self, value: Any) -> R:
        """The answer that JSON shows. Raises ValueError."""
        return self._answer.validate_python(value)  # type: ignore[no-any-return]


def _has_parts(hint: Any) -> bool:
    return hasattr(hint, "_fields")


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a copy lacks. ``rows`` belong to the state of ``registered``, and are read while they are taken. ``is_all``:
    they are all rows of the workspace, since its history does not contain the copy's position.
    """

    registered: Registered
    rows: Iterator[FeedRow]
    is_all: bool


class Team(ABC):
    """Thread-safe. Each call is one transaction. All raise JobError: TEAM_UNREACHABLE, TEAM_REFUSED, TEAM_NEWER,
    TEAM_UNUSABLE."""

    # --- memories ---
    registered = Call(rows.registered)
    memory_count = Call(rows.memory_count)
    missing = Call(rows.missing)

    # --- jobs of who asks ---
    time = Call(shared_jobs.now)
    attach = Call(attachments.attach, changes=True)
    post = Call(shared_jobs.post, changes=True, is_news=lambda told: "posted" in told.values())
    reports = Call(shared_jobs.reports)
    acknowledge = Call(shared_jobs.acknowledge)
    cancel = Call(shared_jobs.cancel, changes=True, is_news=lambda found: found in ("cancelled", "running"))

    # --- copies, and what operators see ---
    note_copy = Call(machines_copies.note)
    remove_copy = Call(machines_copies.remove, changes=True)
    copies = Call(machines_copies.of_workspace)
    access = Call(machines_copies.access)
    overview = Call(machines_copies.overview)
    failed_jobs = Call(shared_jobs.failed)
    dismiss = Call(shared_jobs.dismiss, changes=True)
    workspaces = Call(machines_copies.all_workspaces)

    @abstractmethod
    def run(self, call: Call[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """Run one of these."""

    # --- streams ---

    @abstractmethod
    def share(self, what: Described, change_id: str, all_rows: Iterable[SharedRow], author: Author) -> None:
        """As ``rows.share``."""

    @abstractmethod
    def incoming(self, workspace_id: str, position: Position) -> AbstractContextManager[Incoming | None]:
        """What a copy at this position lacks; None for a workspace that the team does not know."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""


CALLS: dict[str, Call[Any, Any]] = {call.name: call for call in vars(Team).values() if isinstance(call, Call)}
"""By name, which is also that of the gateway's route."""
