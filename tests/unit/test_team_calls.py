"""The table of a team's calls: what one side sends is what the other side gets."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from bridge.team import wire
from bridge.team.copies import Access, Copy, Machine, Overview
from bridge.team.gateway_team import GatewayTeam
from bridge.team.protocol import CALLS
from bridge.team.rows import Position, Registered
from bridge.team.shared_jobs import FailedJob, Report
from jobs import clock, lifecycle
from jobs.errors import JobError
from jobs.model import encode
from jobs.parse import parse_job

ID = str(UUID(int=7))
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
JOB = parse_job("a", encode({"schema_version": 1, "job_id": "a", "kind": "check", "payload": {}}))
RECORD = lifecycle.accept(JOB, clock.now())
REQUESTS: dict[str, dict[str, Any]] = {
    "missing": {"workspace_id": ID, "position": Position(3, ID)},
    "attach": {"workspace_id": ID, "job_id": "a", "digest": "0" * 64, "part": 1, "parts": 2, "data": bytes(range(256))},
    "post": {"workspace_id": ID, "node": "n", "jobs": [(JOB, RECORD)]},
    "acknowledge": {"node": "n", "workspace_id": ID, "seen": [Report(RECORD, 2)]},
    "dismiss": {"workspace_id": ID, "job_ids": None},
    "time": {},
}
ANSWERS: dict[str, Any] = {
    "registered": Registered(Position(3, ID), "a model", 8, 9),
    "time": AT,
    "reports": [Report(RECORD, 2)],
    "post": {"a": "posted"},
    "copies": [Copy("n", 1, 2, 3, "0", AT, False)],
    "access": Access(AT, [Machine("n", None, True)]),
    "overview": Overview(ID, "w", 3, "n", AT, {"waiting": 1}, 0, 1.5),
    "failed_jobs": [FailedJob("a", "check", "n", None, AT)],
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_has_the_arguments_that_it_was_made_of(name: str) -> None:
    call = CALLS[name]
    body = wire.parsed(call.body, json.dumps(call.request(**REQUESTS[name])).encode())
    assert call.arguments_of(body) == REQUESTS[name]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_read_as_it_was_shown(name: str) -> None:
    call = CALLS[name]
    assert call.answer_of(json.loads(json.dumps(call.shown(ANSWERS[name])))) == ANSWERS[name]


OTHER_REQUESTS = [
    ("attach", {"number": 7}),
    ("attach", {"part": "1"}),
    ("attach", {"part": -1}),
    ("attach", {"parts": 65}),
    ("attach", {"data": "a"}),
    ("attach", {"digest": "0"}),
    ("missing", {"change": "x"}),
    ("post", {"node": ""}),
    ("post", {"node": "a\0"}),
    ("post", {"jobs": [{"job": JOB.as_dict()}]}),
    ("post", {"jobs": [{"job": JOB.as_dict(), "record": dict(RECORD.as_dict()), "more": 1}]}),
    ("acknowledge", {"seen": [{"record": dict(RECORD.as_dict()), "version": 1, "more": 1}]}),
    ("acknowledge", {"seen": [{"record": dict(RECORD.as_dict()), "version": "1"}]}),
    ("acknowledge", {"seen": [{"record": {"job_id": "a"}, "version": 1}]}),
    ("dismiss", {"job_ids": ["../a"]}),
    ("time", {"more": 1}),
]


@pytest.mark.parametrize(("name", "change"), OTHER_REQUESTS)
def test_a_request_of_another_form_is_refused(name: str, change: dict[str, Any]) -> None:
    body = CALLS[name].request(**REQUESTS[name]) | change
    with pytest.raises(JobError, match="ARGUMENT_INVALID"):
        wire.parsed(CALLS[name].body, json.dumps(body).encode())


def test_a_gateway_without_the_route_is_said_to_be_of_an_earlier_version() -> None:
    team = GatewayTeam("http://localhost", "a token")
    team._client = httpx.Client(
        base_url="http://localhost", transport=httpx.MockTransport(lambda _: httpx.Response(404))
    )
    with pytest.raises(JobError, match="earlier version") as caught:
        team.access(ID)
    assert caught.value.code == "TEAM_UNUSABLE"
