"""HTTP connections with bounds: on their number, and on the time in which a request's head must arrive."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with these bounds. A connection beyond them is closed."""

    head_seconds = 10.0  # until the head of a request must have arrived
    most = 100  # connections. Without free file descriptors, asyncio would spin at the next one

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room if there are too many connections, and start the timer."""
        super().connection_made(transport)
        self._make_room()
        self._time_the_head()

    def data_received(self, data: bytes) -> None:
        """Process the data, then start or stop the timer."""
        super().data_received(data)
        self._time_the_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._stop_timing()

    @property
    def is_new(self) -> bool:
        """Whether the connection has sent no request yet."""
        return self.cycle is None

    def _make_room(self) -> None:
        if len(self.connections) > self.most:
            self.transport.abort()

    def _time_the_head(self) -> None:
        """Run one timer for the whole head, however slowly it arrives; none while a request is answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timing()
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(self.head_seconds, self._give_up)

    def _stop_timing(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
