"""SIGTERM and SIGINT, as calls in a thread."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable


def on_stop(stop: Callable[[], None]) -> None:
    """Call ``stop`` in a separate thread at each SIGTERM and SIGINT.

    A signal handler would interrupt the main thread, and could wait forever for a lock that the main thread holds.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)

    def listen() -> None:
        with reader, writer:
            while reader.recv(1):
                stop()

    threading.Thread(target=listen, name="signals", daemon=True).start()
    signal.set_wakeup_fd(writer.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: None)
