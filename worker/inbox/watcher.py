"""Noticing that something was dropped. It says "look" and opens no file.

Events are hints: they get lost in an overflow, on network mounts and before the start. The rescan of
whoever waits on the wake-up is the truth; without events it comes more often.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from watchdog.events import (
    FileClosedEvent,
    FileCreatedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from bridge.store.mounts import Mount

log = logging.getLogger(__name__)

Mode = Literal["events", "polling"]
State = Literal["events", "polling", "failed"]

_KINDS = [FileCreatedEvent, FileMovedEvent, FileClosedEvent]
_RETRY_SECONDS = 30.0


def choose(setting: Literal["auto", "events", "polling"], mount: Mount) -> Mode:
    """How drops are noticed: as the setting says, else as the mount lets us."""
    if setting == "auto":
        return "events" if mount.events else "polling"
    return setting


class Watcher(FileSystemEventHandler):  # type: ignore[misc]
    """Sets ``wake`` when a file appears in one of the folders, by whatever kind of write. One thread calls it."""

    def __init__(
        self,
        folders: Iterable[Path],
        wake: threading.Event,
        mode: Mode = "events",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folders = list(folders)
        self._wake = wake
        self._mode = mode
        self._clock = clock
        self._observer: Any = None
        self._watched: list[tuple[int, int] | None] = []
        self._failed_at = 0.0
        self._runs = False

    @property
    def state(self) -> State:
        """``failed``: events were wanted and are not to be had; until they are, it is polled."""
        if self._mode == "polling":
            return "polling"
        return "failed" if self._observer is None and self._runs else "events"

    def pause(self, rescan_seconds: float, polling_seconds: float) -> float:
        """The longest pause between two looks."""
        return rescan_seconds if self.state == "events" else min(rescan_seconds, polling_seconds)

    def on_any_event(self, event: FileSystemEvent) -> None:
        name = Path(os.fsdecode(event.dest_path or event.src_path)).name
        if not name.startswith("."):
            self._wake.set()

    def start(self) -> None:
        """Begin to watch. Without working events (a full inotify table) it is polled instead."""
        self._runs = True
        if self._mode == "events":
            self._observe()

    def ensure_watching(self) -> None:
        """See to it that the folders are watched still: to be called at every look.

        The threads that watch can die, and a folder that was made anew is another one than the one watched.
        """
        if self._mode == "polling":
            return
        found = self._identities()
        if self._observer is None:
            if found == self._watched and self._clock() - self._failed_at < _RETRY_SECONDS:
                return
        elif found != self._watched:
            log.warning("a watched folder was made anew or is gone: watching again")
        elif not self._lives():
            log.warning("the watcher of the inbox has died: watching again")
        else:
            return
        self._give_up()
        self._observe()

    def stop(self) -> None:
        self._runs = False
        self._give_up()

    def _observe(self) -> None:
        self._watched = self._identities()
        try:
            self._observer = Observer()
            for folder in self._folders:
                self._observer.schedule(self, str(folder), recursive=False, event_filter=_KINDS)
            self._observer.start()
        except (OSError, RuntimeError) as error:
            self._give_up()
            self._failed_at = self._clock()
            log.warning("no file events (%s): the inbox is polled", error)
            return
        log.info("file events: watching %d folders", len(self._folders))
        self._wake.set()  # what was dropped before this gave no event

    def _give_up(self) -> None:
        observer, self._observer = self._observer, None
        if observer is None:
            return
        try:
            observer.stop()  # even if it never ran: it has threads and a descriptor from its making on
            if observer.ident is not None:
                observer.join()
        except (OSError, RuntimeError) as error:
            log.warning("the watcher did not end well: %s", error)

    def _lives(self) -> bool:
        # On Linux one more thread reads the kernel's queue; watchdog has no public name for it.
        reader = getattr(self._observer, "_inotify_fd", None)
        threads = [self._observer, *self._observer.emitters, *([reader] if reader is not None else [])]
        return len(threads) > len(self._folders) and all(thread.is_alive() for thread in threads)

    def _identities(self) -> list[tuple[int, int] | None]:
        return [_identity(folder) for folder in self._folders]


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
