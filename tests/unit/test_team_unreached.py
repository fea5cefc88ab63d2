"""A team that is not reached: each cause with its remedy, over real TLS; what every answer says meanwhile; when it is
tried again."""

import shutil
import socket
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import loopback
import pytest
from postgres import free_port

from bridge.interface import submission
from bridge.search import listing
from bridge.search.snapshot import open_snapshot
from bridge.settings import load
from bridge.store.opening import reader_of
from bridge.store.team.position import CopyState
from bridge.team import last_try, unreached
from bridge.team.gateway_team import GatewayTeam
from bridge.team.rows import Position, Registered
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record
from worker.scheduling.ledger import Ledger
from worker.team import team_scheduling
from worker.team.team_scheduling import TeamScheduling


class Certified(NamedTuple):
    """Certificates as the guide makes them: an authority, and one for localhost and memory.example.org."""

    authority: str
    other_authority: str
    context: ssl.SSLContext


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    for name in ("ca", "other"):
        uses = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
        openssl("req", "-x509", *key, "-subj", f"/CN={name}", *uses, "-keyout", f"{name}.key", "-out", f"{name}.pem")
    names = ("-addext", "subjectAltName=DNS:memory.example.org,DNS:localhost")
    openssl("req", *key, "-subj", "/CN=g", *names, "-keyout", "g.key", "-out", "g.csr")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy")
    openssl("x509", "-req", "-in", "g.csr", *signed, "-out", "g.pem")
    openssl("x509", "-req", "-in", "g.csr", *signed, "-days", "0", "-out", "ended.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "g.pem", folder / "g.key")
    return Certified(str(folder / "ca.pem"), str(folder / "other.pem"), context)


class Answering(loopback.Handler):
    def do_POST(self) -> None:
        self.body()
        self.answer(b'{"value": "2026-11-20T12:00:00Z"}')


def error_of(address: str, ca_file: str | None = None, patience: float = 20) -> JobError:
    team = GatewayTeam(address, "cmt_a_b", ca_file=ca_file, patience=patience)
    try:
        with pytest.raises(JobError) as caught:
            team.time()
    finally:
        team.close()
    assert "cmt_a_b" not in f"{caught.value.message} {caught.value.remediation}"
    return caught.value


def told(error: JobError) -> str:
    return f"{error.code}: {error.message} {error.remediation}"


def test_with_the_authority_and_the_right_name_the_gateway_is_reached(certified: Certified) -> None:
    with loopback.serving(Answering, certified.context) as port:
        team = GatewayTeam(f"https://localhost:{port}", "cmt_a_b", ca_file=certified.authority)
        assert team.time()
        team.close()


def test_without_the_authority_it_says_which_setting_needs_it(certified: Certified) -> None:
    with loopback.serving(Answering, certified.context) as port:
        found = error_of(f"https://localhost:{port}")
        assert found.code == "TEAM_MISCONFIGURED"
        assert "does not trust the certificate of the team's gateway at localhost" in found.message
        assert "team_ca_file" in found.remediation
        other = error_of(f"https://localhost:{port}", certified.other_authority)
    assert f"team_ca_file is {certified.other_authority}, which is of another authority" in other.remediation


@pytest.mark.parametrize(("name", "says"), [("g", None), ("ended", "certificate has expired"), ("absent", None)])
def test_a_gateways_own_certificate_is_told_once_it_has_ended(
    certified: Certified, name: str, says: str | None
) -> None:
    folder = Path(certified.authority).parent
    assert unreached.invalid_now(folder / f"{name}.pem") == says


def test_a_name_that_the_certificate_does_not_have_is_told_with_those_that_it_has(certified: Certified) -> None:
    with loopback.serving(Answering, certified.context) as port:
        found = error_of(f"https://127.0.0.1:{port}", certified.authority)
    assert found.code == "TEAM_MISCONFIGURED"
    assert "is for memory.example.org, localhost, not for 127.0.0.1" in found.message
    assert "setting team" in found.remediation


def test_http_where_https_is_spoken_is_told_and_the_other_way_round(certified: Certified) -> None:
    with loopback.serving(Answering, certified.context) as port:
        found = error_of(f"http://localhost:{port}")
    assert told(found).startswith("TEAM_MISCONFIGURED: ")
    assert "speaks https, not http" in found.message
    assert "https://" in found.remediation
    with loopback.serving(Answering) as port:
        found = error_of(f"https://localhost:{port}")
    assert told(found).startswith("TEAM_MISCONFIGURED: ")
    assert "does not speak https" in found.message


def test_a_gateway_that_is_not_there_is_told_by_host_and_port_as_an_outage() -> None:
    port = free_port()
    found = error_of(f"https://localhost:{port}")
    assert (found.code, f"nothing listens at localhost:{port}" in found.message) == ("TEAM_UNREACHABLE", True)
    assert "whether the gateway runs" in found.remediation
    found = error_of("https://no-such-host.invalid")
    assert (found.code, "does not find the name no-such-host.invalid" in found.message) == ("TEAM_UNREACHABLE", True)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        found = error_of(f"http://127.0.0.1:{deaf.getsockname()[1]}", patience=0.2)
    assert (found.code, "did not answer in time" in found.message) == ("TEAM_UNREACHABLE", True)


def test_a_file_of_certificates_that_is_none_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing")
    for path in (str(empty), str(tmp_path / "absent")):
        with pytest.raises(JobError, match="SETTING_INVALID") as caught:
            GatewayTeam("https://localhost", "t", ca_file=path)
        assert path in caught.value.message
        assert "ca.pem" in caught.value.remediation


UNREACHED = [
    ('root certificate file "/ca.pem" does not exist', "TEAM_MISCONFIGURED", "sslrootcert=FILE"),
    ("SSL error: certificate verify failed", "TEAM_MISCONFIGURED", "sslrootcert=FILE"),
    ('server certificate for "a" does not match host name "b"', "TEAM_MISCONFIGURED", "the certificate has"),
    ("server does not support SSL, but SSL was required", "TEAM_MISCONFIGURED", "ssl = on"),
    ("Connection refused", "TEAM_UNREACHABLE", "whether PostgreSQL runs"),
    ("no connection in time", "TEAM_UNREACHABLE", "No action needed if it comes back"),
]


@pytest.mark.parametrize(("said", "code", "remedy"), UNREACHED)
def test_of_a_database_that_is_not_reached_each_cause_has_its_remedy(said: str, code: str, remedy: str) -> None:
    found = unreached.of_database(said)
    assert (found.code, remedy in found.remediation) == (code, True)
    assert said in found.message


# --- what every answer says meanwhile, and when a refused copy answers no more ---


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
REFUSED = JobError("TEAM_REFUSED", "The token is revoked.", remediation="Ask for a new one.")
AWAY = JobError("TEAM_UNREACHABLE", "Nothing listens.")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    workspace.memory.mkdir()
    return workspace


def is_let_in(workspace: Workspace, at: datetime) -> bool:
    try:
        last_try.require_let_in(workspace, at)
    except JobError:
        return False
    return True


@pytest.mark.parametrize("code", sorted({*last_try.NOT_LET_IN, "TEAM_NOT_SHARED"}))
def test_every_answer_says_why_the_team_is_not_reached_and_what_helps(workspace: Workspace, code: str) -> None:
    assert last_try.note_of_answers(workspace) is None
    last_try.note(workspace, JobError(code, "That is why.", remediation="That helps."), NOW, 24)
    said = str(last_try.note_of_answers(workspace))
    assert said.startswith("That is why.")
    assert said.endswith("That helps.")
    assert last_try.error_of(workspace)["code"] == code
    last_try.note(workspace, None, NOW, 24)
    assert last_try.note_of_answers(workspace) is None
    assert not workspace.team_problem.exists()


def test_an_error_after_which_the_team_was_reached_is_no_problem(workspace: Workspace) -> None:
    last_try.note(workspace, REFUSED, NOW, 24)
    last_try.note(workspace, JobError("TEAM_LEASE_LOST"), NOW, 24)
    assert last_try.error_of(workspace) is None
    assert is_let_in(workspace, NOW + 99 * HOUR)


def test_a_refused_copy_answers_for_some_hours_whatever_happens_and_again_once_let_in(workspace: Workspace) -> None:
    last_try.note(workspace, REFUSED, NOW, 24)
    last_try.begin(workspace)  # a restart
    assert last_try.error_of(workspace) is None, "the new worker has not tried yet"
    last_try.note(workspace, AWAY, NOW + 3 * HOUR, 24)
    last_try.note(workspace, REFUSED, NOW + 5 * HOUR, 24)
    assert "answers until 2026-11-21T12:00:00Z" in str(last_try.note_of_answers(workspace))
    assert is_let_in(workspace, NOW + 24 * HOUR)
    assert not is_let_in(workspace, NOW + 24 * HOUR + timedelta(seconds=1))
    last_try.note(workspace, REFUSED, NOW + 6 * HOUR, 2)  # its owner has shortened it
    assert not is_let_in(workspace, NOW + 6 * HOUR)
    last_try.note(workspace, None, NOW + 25 * HOUR, 24)
    assert is_let_in(workspace, NOW + 25 * HOUR)


def test_an_outage_alone_ends_no_answers(workspace: Workspace) -> None:
    last_try.note(workspace, AWAY, NOW, 24)
    assert is_let_in(workspace, NOW + 9999 * HOUR)
    last_try.begin(workspace)
    assert not workspace.team_problem.exists()


def test_no_way_of_reading_answers_from_a_copy_that_was_refused_for_too_long(workspace: Workspace) -> None:
    last_try.note(workspace, REFUSED, clock.now() - 25 * HOUR, 24)
    reader = reader_of(workspace)
    for read in (lambda: open_snapshot(workspace), reader.lists, reader.export, lambda: listing.memories(workspace, 1)):
        with pytest.raises(JobError, match="TEAM_REFUSED"):
            read()


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b"{}", b'{"error": 7}', b'{"error": null, "refused_at": "x"}'])
def test_a_damaged_note_is_none(workspace: Workspace, damaged: bytes) -> None:
    workspace.team_problem.write_bytes(damaged)
    assert last_try.note_of_answers(workspace) is None
    assert is_let_in(workspace, NOW)


def test_who_waits_is_told_once_for_what(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "_SURE_SECONDS", 0)
    monkeypatch.setattr(submission, "is_held", lambda path: True)
    said: list[str] = []
    notices = submission.WaitNotices(workspace, said.append)
    waits = Record(job_id="a", kind="noop", job_sha256="0", state="queued")
    notices(waits)
    last_try.note(workspace, REFUSED, NOW, 24)
    workspace.spool.worker.mkdir(parents=True)
    workspace.spool.paused.touch()
    workspace.spool.heartbeat.write_text('{"heartbeat_at": "2026-01-01T00:00:00Z"}')
    for record in (waits, None, waits):
        notices(record)
    assert said[0] == "The job waits: The token is revoked. Ask for a new one."
    assert ["jobs resume" in said[1], "doctor" in said[2], len(said)] == [True, True, 3]


def test_a_worker_that_ends_at_once_leaves_why(workspace: Workspace, tmp_path: Path) -> None:
    made = load(
        environment={
            "COGNEE_MEMORY_CONFIG_DIR": str(tmp_path / "config"),
            "COGNEE_MEMORY_TEAM": "https://localhost",
            "COGNEE_MEMORY_TEAM_TOKEN": "t",
            "COGNEE_MEMORY_TEAM_CA_FILE": str(tmp_path / "absent.pem"),
        }
    )
    needed: Any = None
    with pytest.raises(JobError, match="team_ca_file"):
        TeamScheduling(workspace, made, needed, needed, needed, needed, needed)
    assert "absent.pem" in str(last_try.note_of_answers(workspace))


def test_the_hours_after_a_refusal_can_be_fewer_and_not_more() -> None:
    assert load(environment={"COGNEE_MEMORY_TEAM_REFUSED_HOURS": "1"}).team_refused_hours == 1
    with pytest.raises(JobError, match="at most 24"):
        load(environment={"COGNEE_MEMORY_TEAM_REFUSED_HOURS": "24.5"})


# --- a copy that does not come on ---


class Told:
    """A team, a child and all else that is asked for nothing here."""

    def __init__(self) -> None:
        self.asked = 0
        self.workspace_id, self.node = "w", "n"
        self.shares = False

    def scrub_here(self, job_files: dict[str, Any]) -> None:
        raise AssertionError("nothing was forgotten")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        return {"job_files": None}


def test_a_stuck_copy_is_tried_after_pauses_of_up_to_a_minute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first is a second, each further one twice as long."""
    now, told, state = [1000.0], Told(), [CopyState(Position(3, "before"), 0)]
    monkeypatch.setattr(team_scheduling, "copy_state", lambda workspace: state[0])
    monkeypatch.setattr(team_scheduling.time, "monotonic", lambda: now[0])
    anything: Any = told
    nothing = lambda: None  # noqa: E731
    ledger = Ledger(Workspace(tmp_path).spool, [])
    monkeypatch.setattr(team_scheduling, "_team_of", lambda *_: told)
    monkeypatch.setattr(team_scheduling, "uncompared_in", lambda place: 3)
    work = TeamScheduling(Workspace(tmp_path), load(environment={}), anything, ledger, anything, nothing, nothing)
    assert work.runner.wants_maintenance, "what is not compared is, without a job"
    found = Registered(Position(7, "change"), "a model", 3, 8)
    tried = []
    for _ in range(600):
        before = told.asked
        rests = work._follow(found)
        if told.asked > before:
            tried.append(now[0] - 1000.0)
        assert 0 < rests <= 60, "nothing looks before"
        now[0] += 0.5
    assert tried[:7] == [0, 1, 3, 7, 15, 31, 63]
    assert {later - earlier for earlier, later in pairwise(tried[7:])} == {60.0}
    now[0] += 60
    monkeypatch.setattr(
        told, "ask", lambda request: state.insert(0, CopyState(Position(7, "change"), 0)) or {"job_files": None}
    )
    assert work._follow(found) == 0, "it has come on, and looks again at once"
