"""The team, reached through a gateway over HTTPS: this machine has a token, and no address of the database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from jobs.errors import ERRORS, JobError

from . import unreached, wire
from .protocol import CALLS, Call, Incoming, P, R, Team
from .rows import Author, Described, Position, SharedRow

_ANSWER_SECONDS = 60.0
_CONNECT_SECONDS = 10.0
_LISTEN_SECONDS = 25.0  # proxies and networks end what is silent for longer than a minute


class GatewayTeam(Team):
    """``Team`` over HTTPS."""

    def __init__(
        self, address: str, token: str, *, ca_file: str | None = None, patience: float = _ANSWER_SECONDS
    ) -> None:
        """``patience``: the seconds after which the gateway counts as unreachable. Raises JobError: SETTING_INVALID for
        an address that is not https, except on this machine, and for a file that has no certificates."""
        parts = urlsplit(address)
        is_https = parts.scheme == "https" and parts.hostname
        if not is_https and not (parts.scheme == "http" and wire.is_this_machine(parts.hostname or "")):
            raise JobError("SETTING_INVALID", "The setting team is no address https://….")
        self._address, self._ca_file = address, ca_file
        self._client = httpx.Client(
            base_url=address.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"},
            verify=unreached.trusted(ca_file) if is_https or ca_file else False,
            timeout=httpx.Timeout(patience, connect=min(patience, _CONNECT_SECONDS)),
            follow_redirects=False,
            trust_env=False,
        )

    # --- requests ---

    def run(self, call: Call[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        try:
            found = self._ask(call.name, call.request(*arguments, **named))
        except JobError as error:
            if call.may_be_none and error.code == "TEAM_NOT_SHARED":  # the gateway knows none for this person
                return cast("R", None)
            raise
        try:
            return call.answer_of(found)
        except ValueError:
            raise _other_program() from None

    def _ask(self, name: str, body: dict[str, Any]) -> Any:
        try:
            answer = self._client.post(wire.PREFIX + name, json=body)
        except httpx.HTTPError as error:
            raise self._unreached(error) from None
        _require_success(answer)
        try:
            return answer.json()["value"]
        except (ValueError, KeyError, TypeError):  # as of a network that wants a person to sign in
            raise _other_program() from None

    def _unreached(self, error: httpx.HTTPError) -> JobError:
        how: unreached.How = "not connected"
        if isinstance(error, httpx.TimeoutException):
            how = "no answer"
        elif isinstance(error, httpx.ReadError | httpx.RemoteProtocolError):
            how = "cut off"
        return unreached.of_gateway(self._address, self._ca_file, error, how)

    @contextmanager
    def _stream(self, operation: str, content: Iterable[bytes]) -> Iterator[httpx.Response]:
        try:
            with self._client.stream("POST", wire.PREFIX + operation, content=content) as answer:
                if answer.status_code != 200:
                    answer.read()
                _require_success(answer)
                yield answer
        except httpx.HTTPError as error:
            raise self._unreached(error) from None

    def answer(self, workspace_id: str, verb: str, arguments: dict[str, Any], root: str) -> dict[str, Any]:
        """The answer to a question, from a copy that the gateway has. ``root``: the folder that it shows as the
        workspace's. Raises JobError: TEAM_READER_BUSY, TEAM_NO_COPY, and as ``Team``."""
        body = {"workspace_id": workspace_id, "verb": verb, "arguments": arguments, "root": root}
        return cast("dict[str, Any]", self._ask("answer", body))

    # --- streams ---

    def share(self, what: Described, change_id: str, all_rows: Iterable[SharedRow], author: Author) -> None:
        described = asdict(what)
        del described["person"]  # the token says whose it is
        head = wire.Share(**described, change_id=change_id, node=author.node)
        with self._stream("share", _lines(head, all_rows)) as answer:
            answer.read()

    @contextmanager
    def incoming(self, workspace_id: str, position: Position) -> Iterator[Incoming | None]:
        asked = wire.Incoming(workspace_id=workspace_id, seq=position.seq, change=position.change)
        if self.registered(workspace_id) is None:
            yield None
            return
        with self._stream("incoming", [wire.header(asked)]) as answer:
            lines = answer.iter_lines()
            try:
                head = json.loads(next(lines, ""))
                found, is_all = CALLS["registered"].answer_of(head["registered"]), bool(head["is_all"])
            except (ValueError, KeyError, TypeError):
                raise _other_program() from None
            yield Incoming(found, wire.rows_of(lines), is_all)

    def listen(
        self, workspace_id: str, node: str, heard: Callable[[bool], None], is_stopped: Callable[[], bool]
    ) -> None:
        """Call ``heard(True)`` once it listens, and whenever somebody tells of a change, until ``is_stopped``.

        The gateway looks for its machines, so that they need not: ``heard(False)`` says that nothing has changed.
        Raises JobError as ``Team``."""
        mark = None
        while not is_stopped():
            body = {"workspace_id": workspace_id, "node": node, "mark": mark, "seconds": _LISTEN_SECONDS}
            answer = self._ask("listen", body)
            mark = answer["mark"]
            heard(answer["changed"])

    def close(self) -> None:
        self._client.close()


def _lines(head: wire.Body, rows: Iterable[SharedRow]) -> Iterator[bytes]:
    yield wire.header(head)
    for row in rows:
        yield wire.row_line(row)
    yield wire.END


def _require_success(answer: httpx.Response) -> None:
    """Raises the gateway's error, or TEAM_REFUSED and TEAM_UNUSABLE for an answer that is none of its own."""
    if answer.status_code == 200:
        return
    try:
        error = answer.json()
        code = error["error_code"]
        if code in ERRORS:
            details = error.get("error_details") or {}
            raise JobError(code, error["error"], remediation=str(error.get("remediation") or ""), details=details)
    except (ValueError, KeyError, TypeError):
        pass
    if answer.status_code in (401, 403):
        raise unreached.refused_by_gateway()
    about = ": it may be of an earlier version, which is to be updated first" if answer.status_code == 404 else ""
    raise JobError("TEAM_UNUSABLE", f"The team's gateway answered with status {answer.status_code}{about}.")


def _other_program() -> JobError:
    return JobError("TEAM_UNREACHABLE", "Another program answered in the place of the team's gateway.")
