"""The watcher of the inbox: wakes the worker on file events. It opens no file.

Events are only hints: they are lost in an overflow, on network mounts and before the start. So the worker also scans
periodically, and more often without events.
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
from jobs import files

log = logging.getLogger(__name__)

Mode = Literal["events", "polling"]
State = Literal["events", "polling", "failed"]

_KINDS = [FileCreatedEvent, FileMovedEvent, FileClosedEvent]
_RETRY_SECONDS = 30.0


def choose(setting: Literal["auto", "events", "polling"], mount: Mount) -> Mode:
    """The mode from the setting; for "auto", from what the mount supports."""
    if setting == "auto":
        return "events" if mount.events else "polling"
    return setting


class Watcher(FileSystemEventHandler):  # type: ignore[misc]
    """Sets ``wake`` when a file appears in one of the folders by any kind of write. Its callers use one thread."""

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
        """``failed``: events are not available; until they are, the worker polls."""
        if self._mode == "polling":
            return "polling"
        return "failed" if self._observer is None and self._runs else "events"

    def pause(self, rescan_seconds: float, polling_seconds: float) -> float:
        """The longest pause between two scans, in seconds."""
        return rescan_seconds if self.state == "events" else min(rescan_seconds, polling_seconds)

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Wake the worker, except for hidden files, which are still being written."""
        if not os.fsdecode(event.dest_path or event.src_path).rpartition(os.sep)[2].startswith("."):
            self._wake.set()

    def start(self) -> None:
        """Start watching. If events do not work, as with a full inotify table, the state is "failed"."""
        self._runs = True
        if self._mode == "events":
            self._observe()

    def ensure_watching(self) -> None:
        """Watch the folders again if a watching thread has died or a folder was replaced. Call it in every scan."""
        if self._mode == "polling":
            return
        identities = self._identities()
        if self._observer is None:
            if identities == self._watched and self._clock() - self._failed_at < _RETRY_SECONDS:
                return
        elif identities != self._watched:
            log.warning("a watched folder was replaced or removed: watching again")
        elif not self._lives():
            log.warning("the watcher of the inbox has died: watching again")
        else:
            return
        self._give_up()
        self._observe()

    def stop(self) -> None:
        """Stop watching."""
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
        self._wake.set()  # earlier drops caused no event

    def _give_up(self) -> None:
        observer, self._observer = self._observer, None
        if observer is None:
            return
        try:
            observer.stop()  # even if it never ran, since it has threads and a descriptor from its creation
            if observer.ident is not None:
                observer.join()
        except (OSError, RuntimeError) as error:
            log.warning("the watcher did not end well: %s", error)

    def _lives(self) -> bool:
        # On Linux another thread reads the kernel's queue; watchdog has no public name for it.
        reader = getattr(self._observer, "_inotify_fd", None)
        threads = [self._observer, *self._observer.emitters, *([reader] if reader is not None else [])]
        return len(threads) > len(self._folders) and all(thread.is_alive() for thread in threads)

    def _identities(self) -> list[tuple[int, int] | None]:
        return [files.identity(folder) for folder in self._folders]
