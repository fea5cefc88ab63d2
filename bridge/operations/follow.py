"""follow: in a team, applies what other machines changed, and removes here what another machine forgot.

As in ``forget``, the copies of a memory's texts are looked for while the memory is still here, and their names are
recorded with its removal. So the removal can be repeated from the names after any crash.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from jobs import clock

from ..forgetting import consequences, leftovers
from ..forgetting.leftovers import ForgetTargets
from ..graph.open_stores import Stores
from ..slices import Progress
from ..store.values import AppliedJob, Arrivals, BegunForgetting, Change, Plan
from ..transfer import lost_memories
from . import forget


def catch_up(stores: Stores, now: datetime) -> int:
    """Apply what others changed; nothing without a team. Returns the number of rows. Raises as ``Store.catch_up``, and
    OSError.
    """

    def prepare(arrivals: Arrivals) -> Change | None:
        if arrivals.lost or arrivals.unforgotten:
            lost_memories.set_aside(stores.workspace, arrivals, clock.iso(now))
        return _what_is_left(stores, list(arrivals.forgotten), now) if arrivals.forgotten else None

    return stores.store.catch_up(prepare)


def _what_is_left(stores: Stores, memory_ids: list[str], now: datetime) -> Change | None:
    """The change that records what is to be removed on this machine of memories that another one forgot; None if
    nothing here tells of them.
    """
    store, at = stores.store, clock.iso(now)
    going = list(store.select(memory_ids).values())
    topics = consequences.topics_that_go(store, going)
    targets = ForgetTargets(frozenset(memory_ids), frozenset(topics), forget.quotes_of(store, going))
    brings = forget.what_jobs_bring(store.workspace_id)
    plan = leftovers.find(stores.workspace, store, targets, brings, "", now).plan
    if not going and plan == Plan(()):
        return None
    plan = plan._replace(forgotten=tuple(memory_ids))
    change = Change(at)
    change.texts_to_forget.update(forget.embedded_texts(store, going))
    change.forgettings.append(BegunForgetting(AppliedJob("another machine's", memory_ids[0]), at, plan))
    return change


def remove_forgotten(stores: Stores, progress: Progress) -> dict[str, Any] | None:
    """Remove what begun forgettings have left on this machine, except from jobs' files, whose names are returned for
    the worker. None if nothing is left. Idempotent, until ``finish``. Raises JobError as ``forget``.
    """
    plans = stores.store.forgettings.unfinished()
    if not plans:
        return None
    plan = plans[0].joined(plans[1:])
    forget.remove_copies(plan, stores, progress)
    return forget.job_files(plan)


def finish(stores: Stores, now: datetime) -> None:
    """Note that nothing is left, once the worker has scrubbed the jobs' files too."""
    with stores.store.change_here(clock.iso(now)) as change:
        change.finishes_forgettings = True
