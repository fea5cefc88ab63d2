"""Makes a copy follow its team, by a child process, and removes what another machine forgot."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ..child.protocol import FOLLOW, FORGOTTEN
from ..child.supervisor import Child, ChildEnded

log = logging.getLogger(__name__)


def follow(child: Child, scrub: Callable[[dict[str, Any]], object] = lambda job_files: None) -> None:
    """Apply what other machines changed. ``scrub`` removes forgotten texts from the files of jobs, where there are any.

    What cannot be done now is in the log, and is tried again by the next call: the copy's state tells.
    """
    try:
        job_files = child.ask({"kind": FOLLOW, "jobs": [], "lease": None})["job_files"]
        if job_files is not None:
            scrub(job_files)
            child.ask({"kind": FORGOTTEN, "jobs": [], "lease": None})
            log.info("what another machine forgot is removed here")
    except ChildEnded as ended:
        log.warning("following the team was interrupted: %s", ended)
    except OSError as error:
        log.warning("the child process cannot start, or what another machine forgot is still in jobs' files: %s", error)
