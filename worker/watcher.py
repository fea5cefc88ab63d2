"""Noticing that something was dropped. It says "look" and opens no file.

Events are hints: they get lost in an overflow, on network mounts and before the start. The rescan of
whoever waits on the wake-up is the truth.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from pathlib import Path

from watchdog.events import (
    FileClosedEvent,
    FileCreatedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

log = logging.getLogger(__name__)


class Watcher(FileSystemEventHandler):  # type: ignore[misc]
    """Sets ``wake`` when a file appears in one of the folders, by whatever kind of write."""

    def __init__(self, folders: Iterable[Path], wake: threading.Event) -> None:
        self._folders = list(folders)
        self._wake = wake
        self._observer = Observer()

    def on_any_event(self, event: FileSystemEvent) -> None:
        name = Path(str(event.dest_path or event.src_path)).name
        if not name.startswith("."):
            self._wake.set()

    def start(self) -> None:
        """Begin to watch. Without working events (a full inotify table) the rescan alone has to do."""
        kinds = [FileCreatedEvent, FileMovedEvent, FileClosedEvent]
        try:
            for folder in self._folders:
                self._observer.schedule(self, str(folder), recursive=False, event_filter=kinds)
            self._observer.start()
        except OSError as error:
            log.warning("no file events (%s): drops are noticed by the rescan alone", error)

    def stop(self) -> None:
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join()
