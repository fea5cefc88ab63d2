"""Prints the answer of a command that submits a job: the job's id, or its result once it has ended.

The view of a kind's result is ``show`` in the kind's module in ``kinds``. Without one, the result's fields are printed
as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from jobs.kinds import BY_NAME

from .output import Envelope, say, state


def show(found: Envelope) -> None:
    """Print the job's id, or its result when it has one."""
    if found.get("result") is None:
        say(f"submitted {found['job_id']}")
    else:
        show_result(found)


def show_result(found: Envelope) -> None:
    """Print the result of an ended job: ``kind``, ``result``, and ``job_id`` and ``state`` where they are known."""
    view = view_of(str(found["kind"]))
    if view is None and "job_id" in found:
        say(state(str(found.get("state", "succeeded"))), f" {found['job_id']}")
    try:
        (view or _plain)(found)
    except (KeyError, TypeError):  # a forget job removed parts of it, or another version wrote it
        _plain(found)


def view_of(kind: str) -> Callable[[Envelope], None] | None:
    """The view of a kind's results. None when the kind has none, or only another version knows the kind."""
    if kind not in BY_NAME:
        return None
    name = f"{__package__}.kinds.{BY_NAME[kind].module}"
    view: Callable[[Envelope], None] | None = import_module(name).show if find_spec(name) else None
    return view


def _plain(found: Envelope) -> None:
    for name, value in found["result"].items():
        if value is not None:
            say(f"  {name:18} {value}")
