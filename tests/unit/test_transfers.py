"""Rows between the gateway's database and a client that is slow, stops, or goes away."""

import asyncio
import errno
import tempfile
import threading
from collections.abc import Callable, Coroutine, Generator, MutableMapping
from typing import Any

import pytest
from starlette.requests import Request

from jobs.errors import JobError
from worker.gateway.transfers import Spool, SpoolResponse, keep, received

Message = MutableMapping[str, Any]
SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": [], "asgi": {"spec_version": "2.3"}}


def no_pause(size: int) -> float:
    return 0.0


class Lines:
    """Lines of a snapshot, and whether it has ended."""

    def __init__(self, count: int, size: int = 100_000, failure: Exception | None = None) -> None:
        self.count = count
        self.size = size
        self.failure = failure
        self.taken = 0
        self.has_ended = threading.Event()

    def __call__(self) -> Generator[bytes]:
        try:
            for number in range(self.count):
                self.taken += 1
                yield f"{number}".encode().ljust(self.size, b".") + b"\n"
            if self.failure is not None:
                raise self.failure
            yield b"end\n"
        finally:
            self.has_ended.set()


class Client:
    """Takes whatever is sent."""

    def __init__(self) -> None:
        self.got = bytearray()

    async def take(self, message: Message) -> None:
        self.got.extend(message.get("body", b""))


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(60):
            await story()

    asyncio.run(in_time())


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def sent(lines: Lines, send: Callable[[Message], Coroutine[Any, Any, None]], patience: float = 60.0) -> None:
    spool = Spool(lines())
    await spool.start()
    await SpoolResponse(spool, no_pause, spool.close, patience=patience)(dict(SCOPE), never, send)


def test_all_lines_arrive_in_their_order() -> None:
    lines, client = Lines(50), Client()
    run(lambda: sent(lines, client.take))
    assert client.got == b"".join(Lines(50)())
    assert lines.has_ended.is_set()


def test_the_snapshot_ends_while_the_client_has_taken_nothing() -> None:
    lines = Lines(50)

    async def story() -> None:
        begin = asyncio.Event()

        async def send(message: Message) -> None:
            await begin.wait()

        sending = asyncio.create_task(sent(lines, send))
        await asyncio.to_thread(lines.has_ended.wait)
        assert not sending.done()
        begin.set()
        await sending

    run(story)


def test_a_client_that_takes_nothing_is_given_up_and_its_file_is_closed() -> None:
    lines = Lines(5)
    run(lambda: sent(lines, lambda _: asyncio.Event().wait(), patience=0.05))
    assert lines.has_ended.is_set()


def test_the_snapshot_of_a_client_that_went_away_is_not_read_to_its_end() -> None:
    async def story() -> None:
        spool = Spool(lines())
        await spool.start()
        await spool.close()

    lines = Lines(10**9)
    run(story)
    assert lines.has_ended.is_set()
    assert lines.taken < lines.count


def test_an_error_before_the_first_line_is_raised_and_a_later_one_cuts_the_answer_off() -> None:
    client = Client()

    async def story() -> None:
        spool = Spool(Lines(0, failure=JobError("TEAM_NOT_SHARED"))())
        with pytest.raises(JobError, match="TEAM_NOT_SHARED"):
            await spool.start()
        await spool.close()
        await sent(Lines(3, failure=JobError("TEAM_UNREACHABLE")), client.take)

    run(story)
    assert client.got.startswith(b"0.")
    assert not client.got.endswith(b"end\n")


def test_a_full_disk_is_told_as_one_that_may_have_room_later(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def seek(self, *place: int) -> None: ...

        def close(self) -> None: ...

    async def story() -> None:
        spool = Spool(Lines(2)())
        with pytest.raises(JobError, match="TEAM_UNREACHABLE"):
            await spool.start()
        await spool.close()

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda size: Full())
    run(story)


def body(parts: list[bytes]) -> Request:
    left = list(parts)

    async def receive() -> Message:
        if not left:
            await never()
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left) or part != b"last"}

    return Request(dict(SCOPE), receive)


def test_a_body_is_kept_whole_and_each_part_of_it_is_counted() -> None:
    counted: list[int] = []

    def pause(size: int) -> float:
        counted.append(size)
        return 0.0

    async def story() -> None:
        with tempfile.TemporaryFile() as kept:
            await keep(received(body([b"a" * 2_000_000, b"b", b"last"]), 10**7, pause), kept)
            assert kept.read() == b"a" * 2_000_000 + b"blast"

    run(story)
    assert [size for size in counted if size] == [2_000_000, 1, 4]


@pytest.mark.parametrize(("parts", "code"), [([b"1234567890", b"1"], "HTTP_TOO_LARGE"), ([b"1"], "HTTP_TOO_SLOW")])
def test_a_body_that_is_too_large_or_does_not_come_is_refused(parts: list[bytes], code: str) -> None:
    async def story() -> None:
        with tempfile.TemporaryFile() as kept, pytest.raises(JobError, match=code):
            await keep(received(body(parts), 10, no_pause, patience=0.05), kept)

    run(story)
