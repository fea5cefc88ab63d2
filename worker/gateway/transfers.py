"""Rows on the way between the database and a client, by way of temporary files: a client that is slow, or stops, holds
no thread, no connection and no lock."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import IO, Any

from anyio import to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from jobs.errors import JobError

log = logging.getLogger("gateway")

IN_MEMORY = 1024 * 1024
STALLED_SECONDS = 60.0  # a client that sends or takes nothing for so long is given up
_PART = 256 * 1024
# Counts bytes, and returns the seconds to wait before more of them.
Pause = Callable[[int], float]


async def received(
    request: Request, most: int, pause: Pause, *, patience: float = STALLED_SECONDS
) -> AsyncIterator[bytes]:
    """The parts of a body. Raises JobError: HTTP_TOO_LARGE, HTTP_TOO_SLOW."""
    size, stream = 0, request.stream()
    while True:
        try:
            async with asyncio.timeout(patience):
                part = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise JobError("HTTP_TOO_SLOW") from None
        size += len(part)
        if size > most:
            raise JobError("HTTP_TOO_LARGE", f"The body has more than {most} bytes.")
        yield part
        await asyncio.sleep(pause(len(part)))


async def keep(parts: AsyncIterator[bytes], kept: IO[bytes]) -> None:
    """Write the parts to a file, and go to its beginning. Raises JobError: TEAM_UNREACHABLE if they cannot be kept."""
    size = 0
    try:
        async for part in parts:
            size += len(part)
            if size > IN_MEMORY:
                await to_thread.run_sync(kept.write, part)
            else:
                kept.write(part)
        kept.seek(0)
    except OSError as error:
        raise cannot_keep(error) from None


def cannot_keep(error: OSError) -> JobError:
    """That there is no room for a temporary file, or that it cannot be written."""
    log.warning("a temporary file cannot be written: %s", error.strerror)
    return JobError("TEAM_UNREACHABLE", "The gateway cannot write its temporary files now. Its log says why.")


class Spool:
    """Lines that a thread writes to a temporary file, while they are sent from it as fast as the client takes them."""

    def __init__(self, lines: Generator[bytes]) -> None:
        """``lines`` is read in the thread, to its end or until ``close``, and closed there."""
        self._lines = lines
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        self._lock = threading.Lock()  # of the file
        self._loop = asyncio.get_running_loop()
        self._more = asyncio.Event()
        self._written = 0
        self._is_closed = False
        self._writing = asyncio.create_task(to_thread.run_sync(self._write))
        self._writing.add_done_callback(lambda task: self._more.set())

    def _write(self) -> None:
        part = bytearray()
        try:
            for line in self._lines:
                part += line
                if len(part) >= _PART or not self._written:  # the first line at once: what is asked for is there
                    self._append(part)
                    part.clear()
                if self._is_closed:
                    return
            self._append(part)
        except OSError as error:
            raise cannot_keep(error) from None
        finally:
            self._lines.close()

    def _append(self, part: bytearray) -> None:
        with self._lock:
            self._file.seek(0, os.SEEK_END)
            self._written += self._file.write(part)
        self._loop.call_soon_threadsafe(self._more.set)

    def _read(self, offset: int) -> bytes:
        with self._lock:
            self._file.seek(offset)
            return self._file.read(_PART)

    async def start(self) -> None:
        """Wait for the first line. Raises what reading the lines raised before it."""
        await self._more.wait()
        if not self._written:
            await self._writing

    async def parts(self) -> AsyncIterator[bytes]:
        """All bytes, as they are written. Raises what reading the lines raised."""
        offset = 0
        while True:
            self._more.clear()
            has_ended = self._writing.done()
            while part := await to_thread.run_sync(self._read, offset):
                offset += len(part)
                yield part
            if has_ended:
                self._writing.result()
                return
            await self._more.wait()

    async def close(self) -> None:
        """End the thread's reading, and remove the file."""
        self._is_closed = True
        await asyncio.shield(asyncio.wait([self._writing]))
        if not self._writing.cancelled():
            self._writing.exception()  # who wanted to know has asked
        self._file.close()


class SpoolResponse(StreamingResponse):
    """Sends a spool. ``ended`` is awaited after it, whatever happened."""

    def __init__(
        self, spool: Spool, pause: Pause, ended: Callable[[], Awaitable[Any]], *, patience: float = STALLED_SECONDS
    ) -> None:
        super().__init__(self._parts(), media_type="application/x-ndjson")
        self._spool = spool
        self._pause = pause
        self._ended = ended
        self._patience = patience

    async def _parts(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._spool.parts():
                yield part
                await asyncio.sleep(self._pause(len(part)))
        except JobError as error:
            log.warning("rows were cut off: %s", error)  # their end is missing, from which the client knows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Any) -> None:
            async with asyncio.timeout(self._patience):
                await send(message)

        try:
            await super().__call__(scope, receive, send_in_time)
        except (ClientDisconnect, TimeoutError):
            log.warning("a client went away, or took nothing for %.0f s, while rows were sent to it", self._patience)
        finally:
            await self._ended()
