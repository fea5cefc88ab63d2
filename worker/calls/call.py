"""A row of the table of calls, and the scope in which its function runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from bridge.argument_table import Argument
from jobs.layout import Workspace
from jobs.record_cache import RecordCache

from ..admin.job_details import JobSubjects

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import Success
    from bridge.memory_shapes import CountsOrError


class Scope:
    """A workspace, and what is kept of it between calls. Threads may share it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.records = RecordCache(workspace.spool)
        self.subjects = JobSubjects(workspace.spool)
        self.counted: tuple[object, CountsOrError] | None = None
        """The counts of the memory, after what tells whether its files have changed."""


Arguments = Mapping[str, Argument]


@dataclass(frozen=True, slots=True)
class Call:
    """What a client can ask, by GET unless it has a body."""

    name: str
    """The operation's id in the OpenAPI document."""
    path: str
    summary: str
    answer: str = ""
    """The name of the answer's type in ``shapes``, where ``function`` does not name it; empty for what is no JSON."""
    function: Callable[..., Success] | None = None
    """Called with the scope, and with the values of path, query and body by name. None if the server itself answers."""
    arguments: Arguments = field(default_factory=dict)
    """Of the query string."""
    body: Arguments | None = None
    """The fields of the body; None for a GET."""
    headers: Arguments = field(default_factory=dict)
    errors: tuple[int, ...] = ()
    """The HTTP statuses of its errors, besides those that every call may have. With 409, an argument that ``function``
    refuses does not fit the present state."""
    status: int = 200
    version: Callable[[Scope], str] | None = None
    """A text that changes when the answer may have changed."""
    waits: bool = False
    """Whether it takes seconds, mostly waiting for the worker."""
    is_open: bool = False
    """Whether it needs no token."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Where the answer has the value of a path's parameter."""
    media: tuple[str, ...] = ("application/json",)

    @property
    def method(self) -> Literal["GET", "POST"]:
        """The HTTP method."""
        return "GET" if self.body is None else "POST"

    @property
    def answer_type(self) -> str:
        """The name of the answer's type."""
        if self.answer or self.function is None:
            return self.answer
        return str(self.function.__annotations__["return"])
