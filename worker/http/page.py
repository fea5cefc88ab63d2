"""The page: its static files, by name, and the sign-in with a ticket. The files contain no data of the
workspace."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from bridge.interface.envelope import SUCCESS
from jobs.errors import JobError

from .bodies import object_of, only
from .executor import RequestExecutor
from .replies import Respond, computed_reply, etag_matches
from .tickets import Tickets

if TYPE_CHECKING:
    from ..calls.shapes import Session

_FOLDER = Path(__file__).parent.with_name("page")
_INDEX = "index.html"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_TICKET_BYTES = 4096
_PRELOAD = '<link rel="modulepreload" href="/assets/{}">'
_BY_ITSELF = ("app.js", "theme.js")  # the page has them as scripts

# The page may load and request only files of this server, may not run inline scripts or styles, and may not turn text
# into markup.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)


def responders(executor: RequestExecutor, token: str) -> dict[str, Respond]:
    """By the names of the calls."""
    tickets = Tickets(token)
    there = {path.name: path for path in sorted(_FOLDER.glob("*.*")) if path.suffix in _TYPES}

    async def index(request: Request, _: dict[str, Any]) -> Response:
        return _file(request, there.get(_INDEX), there)

    async def asset(request: Request, given: dict[str, Any]) -> Response:
        name = given["name"]
        return _file(request, there.get(name) if name != _INDEX else None)

    async def session(request: Request, _: dict[str, Any]) -> Response:
        ticket = only(await object_of(request, _TICKET_BYTES), "ticket").get("ticket")
        tickets.redeem(ticket if isinstance(ticket, str) else "")
        signed_in: Session = {**SUCCESS, "token": token, "workspace": str(executor.workspace.root)}
        return await computed_reply(executor, lambda _: signed_in)

    return {"page": index, "asset": asset, "session": session}


def _file(request: Request, path: Path | None, modules: Iterable[str] = ()) -> Response:
    """A file of the page, or 304 when the browser has it; the page names its ``modules``, so that none waits until
    another has asked for it.

    It is read on the event loop: the file is small, and a request without a token must not occupy a thread. Raises
    JobError: HTTP_NO_ROUTE when there is no such file.
    """
    try:
        data = None if path is None else path.read_bytes()
    except OSError:
        data = None
    if path is None or data is None:
        raise JobError("HTTP_NO_ROUTE", "The page has no such file.")
    links = "".join(_PRELOAD.format(name) for name in modules if name.endswith(".js") and name not in _BY_ITSELF)
    data = data.replace(b"<!-- modules -->", links.encode())
    tag = f'"{sha256(data).hexdigest()[:32]}"'
    is_known = etag_matches(request, tag)
    response = Response(status_code=304) if is_known else Response(data, media_type=_TYPES[path.suffix])
    response.headers["etag"] = tag
    response.headers["cache-control"] = "no-cache"
    response.headers["content-security-policy"] = POLICY
    return response
