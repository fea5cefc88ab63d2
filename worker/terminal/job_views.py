"""Prints the answer of a command that submits a job: the job's id, or its result once it has ended.

The view of a kind's result is ``show_KIND`` in a module of ``kinds``. Without one, the result's fields are printed as
they are.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from jobs.kinds import BY_NAME

from .kinds import MODULES
from .output import Envelope, say, state


def show(answer: Envelope) -> None:
    """Print the job's id, or its result when it has one."""
    if answer.get("result") is None:
        say(f"submitted {answer['job_id']}")
    else:
        show_result(answer)


def show_result(answer: Envelope) -> None:
    """Print the result of an ended job: ``kind``, ``result``, and ``job_id`` and ``state`` where they are known."""
    view = view_of(str(answer["kind"]))
    if view is None and "job_id" in answer:
        say(state(str(answer.get("state", "succeeded"))), f" {answer['job_id']}")
    try:
        (view or _plain)(answer)
    except (KeyError, TypeError):  # a forget job removed parts of it, or another version wrote it
        _plain(answer)


def view_of(kind: str) -> Callable[[Envelope], None] | None:
    """The view of a kind's results. None when the kind has none, or only another version knows the kind."""
    name = f"{__package__}.kinds.{MODULES.get(kind, kind)}"
    if kind not in BY_NAME or find_spec(name) is None:
        return None
    view: Callable[[Envelope], None] = getattr(import_module(name), f"show_{kind}")
    return view


def _plain(answer: Envelope) -> None:
    for name, value in answer["result"].items():
        if value is not None:
            say(f"  {name:18} {value}")
