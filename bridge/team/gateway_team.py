"""The team, reached through a gateway over HTTPS: this machine has a token, and no address of the database."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from jobs import clock
from jobs.errors import ERRORS, JobError
from jobs.model import Job, Record

from . import unreached, wire
from .copies import Access, Copy, Overview
from .copy_age import Missing
from .leases import Lease
from .protocol import Incoming, Turn
from .rows import Author, Described, Position, Registered, SharedRow
from .shared_jobs import Cancellation, FailedJob, Posted, Report, SharedJob

_ANSWER_SECONDS = 60.0
_CONNECT_SECONDS = 10.0
_LISTEN_SECONDS = 25.0  # proxies and networks end what is silent for longer than a minute


class GatewayTeam:
    """``Team`` over HTTPS."""

    def __init__(
        self, address: str, token: str, *, ca_file: str | None = None, patience: float = _ANSWER_SECONDS
    ) -> None:
        """``patience``: the seconds after which the gateway counts as unreachable. Raises JobError: SETTING_INVALID for
        an address that is not https, except on this machine, and for a file that has no certificates."""
        parts = urlsplit(address)
        is_https = parts.scheme == "https" and parts.hostname
        if not is_https and not (parts.scheme == "http" and _is_this_machine(parts.hostname or "")):
            raise JobError("SETTING_INVALID", "The setting team is no address https://….")
        self._address, self._ca_file = address, ca_file
        self._client = httpx.Client(
            base_url=address.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"},
            verify=unreached.trusted(ca_file),
            timeout=httpx.Timeout(patience, connect=min(patience, _CONNECT_SECONDS)),
            follow_redirects=False,
            trust_env=False,
        )

    # --- requests ---

    def _ask(self, operation: str, **body: Any) -> Any:
        try:
            answer = self._client.post(wire.PREFIX + operation, json=body)
        except httpx.HTTPError as error:
            raise self._unreached(error) from None
        _require_success(answer)
        return _value(answer)

    def _ask_if_known(self, operation: str, workspace_id: str) -> Any:
        """The answer about a workspace; None if the gateway knows none of this id for this person."""
        try:
            return self._ask(operation, workspace_id=workspace_id)
        except JobError as error:
            if error.code == "TEAM_NOT_SHARED":
                return None
            raise

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

    # --- memories ---

    def registered(self, workspace_id: str) -> Registered | None:
        return wire.registered_of(self._ask_if_known("registered", workspace_id))

    def missing(self, workspace_id: str, position: Position) -> Missing | None:
        try:
            found = self._ask("missing", workspace_id=workspace_id, seq=position.seq, change=position.change)
        except JobError as error:
            if error.code == "TEAM_NOT_SHARED":
                return None
            raise
        return Missing(**found)

    def memory_count(self, workspace_id: str) -> int:
        return int(self._ask("memory_count", workspace_id=workspace_id))

    def answer(self, workspace_id: str, verb: str, arguments: dict[str, Any], root: str) -> dict[str, Any]:
        """The answer to a question, from a copy that the gateway has. ``root``: the folder that it shows as the
        workspace's. Raises JobError: TEAM_READER_BUSY, TEAM_NO_COPY, and as ``Team``."""
        found = self._ask("answer", workspace_id=workspace_id, verb=verb, arguments=arguments, root=root)
        return cast("dict[str, Any]", found)

    def share(self, what: Described, change_id: str, all_rows: Iterable[SharedRow], author: Author) -> None:
        head = wire.Share(
            workspace_id=what.workspace_id,
            name=what.name,
            format=what.format,
            embedder=what.embedder,
            dimensions=what.dimensions,
            change_id=change_id,
            node=author.node,
            group=what.group,
        )
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
                found, is_all = wire.registered_of(head["registered"]), head["is_all"]
            except (ValueError, KeyError, TypeError):
                raise _other_program() from None
            yield None if found is None else Incoming(found, wire.rows_of(lines), is_all)

    def commit(
        self,
        workspace_id: str,
        before: Position,
        changed: Iterable[SharedRow],
        jobs: Sequence[str],
        author: Author,
        format_: int,
    ) -> Position:
        if author.lease is None or author.lease < 0:
            raise JobError("TEAM_LEASE_LOST")  # the gateway takes changes of jobs alone
        head = wire.Commit(
            workspace_id=workspace_id,
            seq=before.seq,
            change=before.change,
            jobs=list(jobs),
            node=author.node,
            lease=author.lease,
            format=format_,
        )
        with self._stream("commit", _lines(head, changed)) as answer:
            answer.read()
            return Position(*_value(answer))

    # --- leases ---

    def look(self, workspace_id: str, node: str, seconds: float) -> Turn:
        try:
            found = self._ask("look", workspace_id=workspace_id, node=node, seconds=seconds)
        except JobError as error:
            if error.code == "TEAM_NOT_SHARED":
                return Turn(None, None, None)
            raise
        lease = None if found["lease"] is None else Lease(workspace_id, found["lease"])
        return Turn(lease, wire.registered_of(found["registered"]), found["due_seconds"])

    def take(self, node: str, served: Sequence[str] | None, seconds: float) -> Lease | None:
        for workspace_id in served or ():
            if self.registered(workspace_id) is not None:
                number = self._ask("take", workspace_id=workspace_id, node=node, seconds=seconds)
                if number is not None:
                    return Lease(workspace_id, number)
        return None

    def renew(self, lease: Lease, seconds: float) -> bool:
        return bool(self._ask("renew", **_of(lease), seconds=seconds))

    def release(self, lease: Lease) -> bool:
        return bool(self._ask("release", **_of(lease)))

    # --- jobs of the lease's holder ---

    def time(self) -> datetime:
        return clock.parse(self._ask("time"))

    def due(self, lease: Lease, node: str, limit: int) -> list[SharedJob]:
        found = self._ask("due", **_of(lease), node=node, limit=limit)
        return [SharedJob(Record.from_dict(each["record"]), each["job"]) for each in found]

    def running(self, lease: Lease) -> list[Record]:
        return [Record.from_dict(each) for each in self._ask("running", **_of(lease))]

    def write(self, lease: Lease, records: Sequence[Record]) -> None:
        self._ask("write", **_of(lease), records=[record.as_dict() for record in records])

    def cancel_requests(self, lease: Lease) -> list[str]:
        return cast("list[str]", self._ask("cancel_requests", **_of(lease)))

    def is_committed(self, workspace_id: str, record: Record) -> bool:
        return bool(self._ask("is_committed", workspace_id=workspace_id, record=record.as_dict()))

    def forget_texts(self, lease: Lease) -> None:
        self._ask("forget_texts", **_of(lease))

    # --- jobs of who asks ---

    def post(self, workspace_id: str, node: str, jobs: Sequence[tuple[Job, Record]]) -> dict[str, Posted]:
        posted = [{"job": job.as_dict(), "record": record.as_dict()} for job, record in jobs]
        return cast("dict[str, Posted]", self._ask("post", workspace_id=workspace_id, node=node, jobs=posted))

    def reports(self, node: str, workspace_id: str) -> list[Report]:
        found = self._ask("reports", workspace_id=workspace_id, node=node)
        return [Report(workspace_id, Record.from_dict(each["record"]), each["version"]) for each in found]

    def acknowledge(self, node: str, seen: Sequence[Report]) -> None:
        by_workspace: dict[str, list[dict[str, Any]]] = {}
        for report in seen:
            entry = {"record": report.record.as_dict(), "version": report.version}
            by_workspace.setdefault(report.workspace_id, []).append(entry)
        for workspace_id, entries in by_workspace.items():
            self._ask("acknowledge", workspace_id=workspace_id, node=node, seen=entries)

    def cancel(self, workspace_id: str, job_id: str) -> Cancellation:
        return cast("Cancellation", self._ask("cancel", workspace_id=workspace_id, job_id=job_id))

    # --- copies, and what operators see ---

    def note_copy(
        self, workspace_id: str, node: str, applied_seq: int, version: str, has_removed_all: bool, *, runs_jobs: bool
    ) -> None:
        self._ask(
            "note_copy",
            workspace_id=workspace_id,
            node=node,
            applied_seq=applied_seq,
            version=version,
            has_removed_all=has_removed_all,
            runs_jobs=runs_jobs,
        )

    def remove_copy(self, workspace_id: str, node: str) -> None:
        self._ask("remove_copy", workspace_id=workspace_id, node=node)

    def copies(self, workspace_id: str) -> list[Copy]:
        found = self._ask_if_known("copies", workspace_id) or []
        return [Copy(**(each | {"seen_at": clock.parse(each["seen_at"])})) for each in found]

    def access(self, workspace_id: str) -> Access | None:
        try:
            found = self._ask_if_known("access", workspace_id)
        except JobError as error:
            if error.code == "TEAM_UNUSABLE":  # a gateway of an earlier version
                return None
            raise
        return None if found is None else wire.access_of(found)

    def overview(self, workspace_id: str) -> Overview | None:
        return _overview(self._ask_if_known("overview", workspace_id))

    def failed_jobs(self, workspace_id: str, limit: int) -> list[FailedJob]:
        found = self._ask("failed_jobs", workspace_id=workspace_id, limit=limit)
        return [FailedJob(**(each | {"failed_at": clock.parse(each["failed_at"])})) for each in found]

    def dismiss(self, workspace_id: str, job_ids: Sequence[str] | None) -> int:
        ids = None if job_ids is None else list(job_ids)
        return int(self._ask("dismiss", workspace_id=workspace_id, job_ids=ids))

    def workspaces(self, limit: int) -> list[Overview]:
        found = [_overview(each) for each in self._ask("workspaces")]
        return [each for each in found if each is not None][:limit]

    # --- notices ---

    def tell(self, workspace_id: str) -> None:
        self._ask("tell", workspace_id=workspace_id)

    def listen(
        self, workspace_id: str, node: str, heard: Callable[[bool], None], is_stopped: Callable[[], bool]
    ) -> None:
        mark = None
        while not is_stopped():
            answer = self._ask("listen", workspace_id=workspace_id, node=node, mark=mark, seconds=_LISTEN_SECONDS)
            mark = answer["mark"]
            heard(answer["changed"])

    def close(self) -> None:
        self._client.close()


def _of(lease: Lease) -> dict[str, Any]:
    return {"workspace_id": lease.workspace_id, "lease": lease.number}


def _overview(value: dict[str, Any] | None) -> Overview | None:
    if value is None:
        return None
    until = value["lease_until"]
    return Overview(**(value | {"lease_until": None if until is None else clock.parse(until)}))


def _lines(head: wire.Call, rows: Iterable[SharedRow]) -> Iterator[bytes]:
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
    raise JobError("TEAM_UNUSABLE", f"The team's gateway answered with status {answer.status_code}.")


def _value(answer: httpx.Response) -> Any:
    """The value of a good answer. Raises JobError: TEAM_UNREACHABLE for one that is not the gateway's, as a network
    that wants a person to sign in gives it."""
    try:
        return answer.json()["value"]
    except (ValueError, KeyError, TypeError):
        raise _other_program() from None


def _other_program() -> JobError:
    return JobError("TEAM_UNREACHABLE", "Another program answered in the place of the team's gateway.")


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
