"""The routes of the gateway. Each request goes through the same: who asks, how much, may they, what it is, what it did.

Rows go through temporary files (``transfers``), and what is shared runs in one transaction, so that a slow client never
holds a lock.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from anyio import to_thread
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bridge.interface import envelope
from bridge.privacy.masking import trace
from bridge.store.opening import known_format
from bridge.store.team.row_checks import RowChecks
from bridge.team import notices, wire
from bridge.team.protocol import CALLS, Call
from bridge.team.rows import Author, Described, Position, SharedRow, require_format
from bridge.team.server import Server
from jobs.errors import JobError, error_kind

from . import access, openapi, transfers
from .access import Caller, Limits, named
from .connections import OneLength
from .gateway_metrics import GatewayMetrics
from .polls import Hub, Polls
from .reading import Reading
from .transfers import Spool, SpoolResponse

log = logging.getLogger("gateway")
audit_log = logging.getLogger("gateway.audit")
audit_log.setLevel(logging.INFO)  # whatever the log's level is

_MOST_BODY = 16 * 1024 * 1024
_MOST_WITH_ROWS = 4 * 1024**3
_MOST_WAITED_SECONDS = 30.0
_SHORTEST_WAIT_SECONDS = 1.0  # who waits for less has not waited, and so counts against the limit
_REFUSED_SECONDS = 1.0  # until an address that tries many tokens hears so: it cannot keep the gateway busy


class Gateway:
    """The application over a server's connections."""

    def __init__(self, server: Server, limits: Limits, reading: Reading | None = None) -> None:
        """``reading`` answers questions about large workspaces."""
        self._reading = reading
        self._server = server
        self._limits = limits
        self._hub = Hub(server)
        self._polls = Polls(server, self._hub.tell, self._hub.end)
        self._checks = RowChecks()
        self.metrics = GatewayMetrics()

    def application(self) -> Starlette:
        """The ASGI application."""
        calls = {
            "share": self._share,
            "incoming": self._incoming,
            "listen": self._listen,
            "answer": self._answer_question,
            **{name: self._run(call) for name, call in CALLS.items()},
        }
        routes = [Route(wire.PREFIX + name, self._route(name, run), methods=["POST"]) for name, run in calls.items()]
        routes += [
            Route("/metrics", lambda request: Response(self.metrics.text(), media_type="text/plain; version=0.0.4")),
            Route("/openapi.json", lambda request: JSONResponse(openapi.document())),
            Route("/healthz", self._health),
        ]
        return Starlette(routes=routes, lifespan=self._lifespan, middleware=[Middleware(OneLength)])

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._hub.start()
        self._polls.start()
        yield
        self.let_go()
        await to_thread.run_sync(self._polls.stop)
        await to_thread.run_sync(self._hub.join)
        if self._reading is not None:
            await to_thread.run_sync(self._reading.stop)
        self._server.close()

    def let_go(self) -> None:
        """Answer all who wait for a change, at the end."""
        self._hub.stop()

    async def _health(self, request: Request) -> Response:
        def look() -> Response:
            try:
                with self._server.connection() as connection:
                    connection.execute("SELECT 1")
                return JSONResponse(envelope.success())
            except JobError as error:
                return JSONResponse(envelope.failure(error), 503)

        return await to_thread.run_sync(look)

    # --- what each request goes through ---

    def _route(
        self, name: str, run: Callable[[Request, Caller], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        changes = name == "share" or (name in CALLS and CALLS[name].changes)

        async def respond(request: Request) -> Response:
            began, caller, code = time.monotonic(), None, None
            try:
                waits = name == "listen"
                caller = self._polls.caller(request.headers.get("authorization")) if waits else None
                caller = caller or await self._caller(request)
                if not waits:
                    self._limits.spend(caller.person, time.monotonic())
                return await run(request, caller)
            except ClientDisconnect:
                code = "HTTP_TOO_SLOW"
                return Response(status_code=400)
            except JobError as error:
                code = error.code
                return _refused(error)
            except UnicodeError:  # half of a surrogate pair
                code = "ARGUMENT_INVALID"
                return _refused(JobError("ARGUMENT_INVALID", "A text of the request cannot be written in UTF-8."))
            except Exception as error:
                log.error("%s failed: %s", name, trace(error))
                code = "INTERNAL"
                return _refused(JobError("INTERNAL", f"The gateway met an unexpected {type(error).__name__}."))
            finally:
                self.metrics.requests.labels(name, code or "ok").inc()
                if name != "listen":
                    self.metrics.seconds.labels(name).observe(time.monotonic() - began)
                if caller is None and code == "TEAM_LIMITED":
                    log.warning("an address tries many wrong tokens: %s", request.client and request.client.host)
                elif changes or code is not None:
                    _audit(
                        operation=name,
                        person=caller and caller.person,
                        token=caller and caller.token_id,
                        workspace=getattr(request.state, "workspace_id", None),
                        outcome=code or "ok",
                        milliseconds=round((time.monotonic() - began) * 1000),
                    )

        return respond

    async def _caller(self, request: Request) -> Caller:
        """Raises JobError: TEAM_REFUSED; TEAM_LIMITED for an address that tries many wrong tokens."""
        address = request.client.host if request.client else ""
        token = request.headers.get("authorization")
        if token is None:  # refused without a look at the database
            return access.caller_of(self._server, None)
        try:
            self._limits.require_trial(address, token, time.monotonic())
        except JobError:
            await asyncio.sleep(_REFUSED_SECONDS)
            raise
        try:
            caller = await to_thread.run_sync(access.caller_of, self._server, token)
        except JobError as error:
            if error.code == "TEAM_REFUSED":
                self._limits.note_wrong(address, token, time.monotonic())
            raise
        self._limits.note_right(token)
        return caller

    def _pause(self, caller: Caller) -> transfers.Pause:
        return lambda size: self._limits.pause(caller.person, size, time.monotonic())

    async def _data(self, request: Request, caller: Caller) -> bytes:
        data = bytearray()
        async for part in transfers.received(request, _MOST_BODY, self._pause(caller)):
            data += part
        return bytes(data)

    @staticmethod
    def _parsed(request: Request, form: type[BaseModel], data: bytes) -> Any:
        body = wire.parsed(form, data)
        request.state.workspace_id = getattr(body, "workspace_id", None)
        return body

    async def _body(self, request: Request, caller: Caller, form: type[BaseModel]) -> Any:
        return self._parsed(request, form, await self._data(request, caller))

    def _run(self, call: Call[..., Any]) -> Callable[[Request, Caller], Awaitable[Response]]:
        async def run(request: Request, caller: Caller) -> Response:
            data = await self._data(request, caller)

            def work() -> Any:
                arguments = call.arguments_of(self._parsed(request, call.body, data))
                workspace_id = request.state.workspace_id
                if workspace_id is not None:
                    access.require_visible(self._server, caller, workspace_id)
                if "node" in arguments:
                    arguments["node"] = named(caller, arguments["node"])
                answer = access.team_for(self._server, caller, workspace_id).run(call, **arguments)
                if call.is_news(answer):
                    with self._server.connection() as connection:
                        notices.send(connection, workspace_id)
                return call.shown(answer)

            return _answer(await to_thread.run_sync(work))

        return run

    async def _listen(self, request: Request, caller: Caller) -> Response:
        body = await self._body(request, caller, wire.Listen)
        authorization, workspace_id, node = request.headers.get("authorization"), body.workspace_id, body.node
        if node is None or not self._polls.may_wait(authorization, workspace_id, node):
            await to_thread.run_sync(access.require_visible, self._server, caller, workspace_id)
            if node is not None:
                self._polls.add(authorization, caller, workspace_id, node)
        mark = time.time() if node is None else body.mark
        began, seconds = time.monotonic(), min(body.seconds, _MOST_WAITED_SECONDS)
        with self.metrics.waiting.track_inprogress():
            heard = await self._hub.wait(workspace_id, caller.token_id, mark, seconds)
        if time.monotonic() - began < _SHORTEST_WAIT_SECONDS:
            self._limits.spend(caller.person, time.monotonic())
        return _answer(heard.changed if node is None else heard._asdict())

    async def _answer_question(self, request: Request, caller: Caller) -> Response:
        body = await self._body(request, caller, wire.Question)

        def work() -> Any:
            access.require_visible(self._server, caller, body.workspace_id)
            if self._reading is None:
                raise JobError("TEAM_NO_COPY", "This gateway answers no questions: it has no folder for copies.")
            return self._reading.answer(caller.person, body.workspace_id, body.verb, body.arguments, body.root)

        async with self._limits.question(caller.person):
            return _answer(await to_thread.run_sync(work))

    # --- rows ---

    async def _incoming(self, request: Request, caller: Caller) -> Response:
        body = await self._body(request, caller, wire.Incoming)
        await to_thread.run_sync(access.require_visible, self._server, caller, body.workspace_id)
        team = access.team_for(self._server, caller, body.workspace_id)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._limits.transfer(caller.person))
            spool = Spool(self._incoming_lines(team, body))
            stack.push_async_callback(spool.close)
            await spool.start()  # an error before the first row is still a status
            return SpoolResponse(spool, self._pause(caller), stack.pop_all().aclose)

    @staticmethod
    def _incoming_lines(team: Any, body: wire.Incoming) -> Generator[bytes]:
        with team.incoming(body.workspace_id, Position(body.seq, body.change)) as found:
            if found is None:
                raise JobError("TEAM_NOT_SHARED")
            yield wire.header({"registered": CALLS["registered"].shown(found.registered), "is_all": found.is_all})
            for seq, row in found.rows:
                yield wire.row_line(row, seq)
            yield wire.END

    async def _share(self, request: Request, caller: Caller) -> Response:
        async with self._kept(request, caller) as kept:
            head = self._parsed(request, wire.Share, next(kept, b""))  # after it, the lines are rows

            def work() -> None:
                access.require_group(self._server, caller, head.group)
                team = access.team_for(self._server, caller, head.workspace_id)
                what = Described(
                    head.workspace_id, head.name, head.format, head.embedder, head.dimensions, caller.person, head.group
                )
                require_format(head.format, known_format())
                rows = self._rows(kept, head.dimensions)
                team.share(what, head.change_id, rows, Author(named(caller, head.node)))

            return _answer(await to_thread.run_sync(work))

    def _rows(self, kept: Iterator[bytes], dimensions: int | None) -> Iterator[SharedRow]:
        """The rows of a body, each as a copy can apply it."""
        try:
            for _, row in wire.rows_of(kept):
                self._checks.require_valid(row, dimensions)
                yield row
        except JobError as error:
            if error.code in ("TEAM_UNUSABLE", "TEAM_UNREACHABLE"):  # to a client it says this of a gateway
                raise JobError("ARGUMENT_INVALID", error.message) from None
            raise

    @asynccontextmanager
    async def _kept(self, request: Request, caller: Caller) -> AsyncIterator[Iterator[bytes]]:
        """The lines of a body, once all of it is there."""
        with tempfile.SpooledTemporaryFile(transfers.IN_MEMORY) as kept:
            async with self._limits.transfer(caller.person):
                await transfers.keep(transfers.received(request, _MOST_WITH_ROWS, self._pause(caller)), kept)
                yield wire.lines_of(kept, _MOST_BODY)


def _audit(**facts: Any) -> None:
    """A line of JSON for a request that changed something or was refused: who, by which token, what, and how it ended.
    It has no texts: ids, names and codes only."""
    audit_log.info(json.dumps({name: value for name, value in facts.items() if value is not None}))


def _answer(value: Any) -> Response:
    return JSONResponse(envelope.success(value=value))


def _refused(error: JobError) -> Response:
    response = JSONResponse(envelope.failure(error), error_kind(error.code).http_status)
    if error.code == "TEAM_REFUSED":
        response.headers["www-authenticate"] = 'Bearer realm="cognee-memory"'
    if "retry_after_seconds" in error.details:
        response.headers["retry-after"] = str(max(1, round(error.details["retry_after_seconds"])))
    return response
