"""Questions through a running worker: the same bytes, whatever happens to it, and nothing held while nobody asks."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cross_encoder
import psutil
import pytest
from contract import checked
from harness import PATIENCE, PROJECT, SOAK, Place, RealWorker, at_once, is_running, until
from shelf import legacy, record, summary

from bridge.interface.question_arguments import with_settings
from bridge.memory import Memory, References
from bridge.search import query_client
from bridge.search.reader import Verb
from bridge.settings import Settings, load

NOW = "2026-11-20T12:00:00Z"
SCRIPT = str(PROJECT / "bridge" / "retrieve.py")
CONSOLE = (sys.executable, "-m", "worker.cli")


def memories() -> list[Memory]:
    day = "2026-11-{}T12:00:00Z".format
    login = {"topic": "Login and sessions", "topic_id": "login"}
    return [
        summary(
            "summary-1", "Users lost their session overnight.", **login, decisions=("Only the tray renews tokens",),
            rationale=("It removes the race",), open_questions=("Does the tool need it?",),
            next_steps=("Replay the traces",), references=References(("src/renew.rs",), (), ("fix/race",), ("#7",)),
            session_id="session-1", plan_id="plan-014", importance=0.5,
            created_at=day(18), updated_at=day(18), source_created_at=day(17),
        ),
        record(
            "record-1", "What holds of the session of a user.", ("old-1", "old-2"),
            topic_id="login", plan_id="014", created_at=day(19), updated_at=day(19),
        ),
        summary(
            "superseded-1", "Each window renews the session of a user by itself.", "Superseded", **login,
            created_at=day(19), updated_at=day(19),
        ),
        legacy(
            "legacy-1", "User asked: why do users lose their session?\n\nAssistant answered: the token expires.",
            created_at=day(10), importance=0.25,
        ),
    ]  # fmt: skip


class Served(Place):
    """A workspace with a memory of each kind, and ways to ask its worker."""

    def __init__(self, base: Path, **variables: str) -> None:
        super().__init__(base, **variables)
        self.keep(memories(), NOW)

    @property
    def settings(self) -> Settings:
        return load(environment=self.environment)

    @property
    def http(self) -> dict[str, Any]:
        return self.heartbeat()["http"]

    @property
    def port(self) -> int:
        return query_client.port_of(self.http["url"])

    @property
    def server(self) -> int:
        """The process id of the one that answers, once it is warm."""
        return int(until(lambda: self.http["serving"] and self.http["server"], "it serves")["pid"])

    def ask(self, verb: str = "retrieve", token: str | None = None, **arguments: Any) -> tuple[int, bytes]:
        """Over HTTP: the status and the body."""
        answer = self.asked("POST", f"/v1/{verb}", arguments, Authorization=f"Bearer {token or self.token}")
        return answer.status_code, answer.content

    def warm(self) -> int:
        """Let it load the model; the server's process id."""
        status, _ = self.ask(query="session")
        assert status == 200
        return self.server

    def through_worker(self, verb: Verb, **arguments: Any) -> bytes | None:
        return query_client.from_worker(verb, self.workspace, self.settings, arguments)

    def printed(self, *arguments: str, way: tuple[str, ...] = CONSOLE, **variables: str) -> tuple[int, bytes]:
        """What a command prints to stdout, and its exit status; nothing may be on stderr."""
        root = str(self.workspace.root)
        words = [root, *arguments] if way[-1] == SCRIPT else [*arguments, "--workspace", root]
        done = subprocess.run(
            [*way, *words], env=self.environment | variables, cwd="/", capture_output=True, timeout=PATIENCE
        )
        assert done.stderr == b""
        return done.returncode, done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Served:
    return Served(tmp_path_factory.mktemp("http"))


@pytest.fixture(scope="module")
def worker(place: Served) -> Iterator[RealWorker]:
    with place.worker() as worker:
        yield worker


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it matters who answers, and not how quick this machine is."""
    monkeypatch.setattr(query_client, "PATIENCE_SECONDS", 30.0)


# What this client has for a model: nothing. An answer with hits can only come from the worker.
NO_MODEL = {"PYTHONPATH": str(PROJECT / "tests" / "no_model")}
ALONE = {"COGNEE_MEMORY_HTTP": "false"}


# --- before anybody asks ---


def test_until_somebody_asks_the_worker_holds_neither_server_nor_model(tmp_path: Path) -> None:
    place = Served(tmp_path)
    with place.worker() as worker:
        assert (place.http["serving"], place.http["server"]) == (False, None)
        maps = Path(f"/proc/{worker.process.pid}/maps").read_text()
        print(f"idle worker: {psutil.Process(worker.process.pid).memory_info().rss / 2**20:.0f} MiB resident")
    assert not [name for name in ("onnxruntime", "tokenizers", "safetensors", "lancedb", "ladybug") if name in maps]


def test_the_first_question_starts_the_server_and_is_answered_by_it(place: Served, worker: RealWorker) -> None:
    began = time.monotonic()
    status, data = place.ask(query="session of a user")
    print(f"the first answer came after {time.monotonic() - began:.2f} s")
    assert status == 200
    assert checked(data)["results"]
    assert is_running(place.server)
    maps = Path(f"/proc/{place.server}/maps").read_text()
    assert [name for name in ("onnxruntime", "lancedb", "ladybug") if name in maps] == ["onnxruntime"], "no cognee"


def test_importing_the_server_loads_none_of_the_heavy_packages(place: Served) -> None:
    forbidden = ("cognee", "lancedb", "litellm", "huey", "watchdog", "pydantic_settings", "torch", "ladybug")
    loaded = f"[name for name in {forbidden!r} if name in sys.modules]"
    code = f"import sys, worker.server.main, worker.server.idle_server; print({loaded})"
    done = place.python("-c", code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# --- the same bytes ---

QUESTIONS: list[tuple[Verb, dict[str, Any]]] = [
    *(
        ("retrieve", {"query": "session of a user", "as_of": NOW, **more})
        for more in (
            {},
            {"max_results": "2"},
            {"max_results": 5000, "half_life_days": 0, "alpha": 7, "ranking_mode": "blend"},
            {"include_superseded": "false"},
            {"topic_id": "login", "plan_id": "14"},
            {"since": "2026-11-18", "until": "2026-11-19T12:00:00Z"},
            {"preset": "long-lived", "recency_floor": 0.3},
            {"legacy": "append", "relevance_floor": 0},
            {"as_of": "yesterday"},
            {"since": "2026-11-19", "until": "2026-11-18"},
            {"maxResults": 2, "halfLifeDays": 3},
        )
    ),
    ("retrieve", {"query": "Wer verlor die Sitzung? 状态 🙂 \u2028 \udcff", "as_of": NOW, "relevance_floor": 0}),
    ("retrieve", {"query": "word " * 3000, "as_of": NOW}),
    ("retrieve", {"query": " \n"}),
    ("context", {"query": "session of a user", "as_of": NOW, "max_tokens": 60}),
    ("context", {"query": ""}),
    ("explain", {"query": "session", "as_of": NOW, "limit": 2, "ids": [4, 1, 99], "include_pack_context": True}),
    ("explain", {"ids": [1, 1, 3], "as_of": NOW}),
    ("explain", {"query": "session", "as_of": NOW, "project": "elsewhere"}),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "arguments"), QUESTIONS, ids=lambda value: str(value)[:70])
@pytest.mark.usefixtures("patient")
def test_the_answer_is_the_same_byte_for_byte_with_and_without_the_worker(
    place: Served, worker: RealWorker, monkeypatch: pytest.MonkeyPatch, verb: Verb, arguments: dict[str, Any]
) -> None:
    place.as_ours(monkeypatch)
    place.warm()
    status, over_http = place.ask(verb, **arguments)
    by_default = query_client.ask_for(verb, str(place.workspace.root), arguments)
    with monkeypatch.context() as alone:
        alone.setenv("COGNEE_MEMORY_HTTP", "false")
        ourselves = query_client.ask_for(verb, str(place.workspace.root), arguments)
    assert over_http == by_default == ourselves
    assert checked(ourselves, verb)["success"] is (status == 200)


@pytest.mark.usefixtures("patient")
def test_a_rerankers_bytes_need_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the same with and without it."""
    folder = cross_encoder.make(tmp_path / "model", ["users lost their session overnight, the token of a user"])
    place = Served(tmp_path, COGNEE_MEMORY_RERANK_MODEL=str(folder))
    place.as_ours(monkeypatch)
    asked: list[tuple[Verb, dict[str, Any]]] = [
        ("retrieve", {"query": "session of a user", "as_of": NOW, "relevance_floor": 0}),
        ("context", {"query": "session of a user", "as_of": NOW}),
        ("explain", {"query": "session", "as_of": NOW, "limit": 2, "ids": [4, 1], "include_pack_context": True}),
    ]
    with place.worker():
        place.warm()
        for verb, arguments in asked:
            through = place.through_worker(verb, **with_settings(arguments, load()))
            with monkeypatch.context() as alone:
                alone.setenv("COGNEE_MEMORY_HTTP", "false")
                ourselves = query_client.ask_for(verb, str(place.workspace.root), arguments)
            assert checked(ourselves, verb)["success"] is True
            assert through == ourselves
            assert b'"rerank' in ourselves
            in_another_process = place.python(
                "-c",
                "import sys; from bridge.search.query_client import ask_for;"
                f"sys.stdout.buffer.write(ask_for({verb!r}, {str(place.workspace.root)!r}, {arguments!r}))",
            )
            assert in_another_process.stdout.encode() == ourselves


COMMANDS = [
    ["retrieve", "session of a user", "--as-of", NOW],
    ["retrieve", "Wer verlor die Sitzung? 状态", "--as-of", NOW, "--max-results", "2", "--since", "2026-11-01"],
    ["retrieve", "history of it all", "--as-of", NOW, "--relevance-floor", "0", "--preset", "long-lived"],
    ["explain", "session of a user", "--id", "1", "4", "77", "--as-of", NOW, "--include-pack-context", "--limit", "1"],
    ["context", "session of a user", "--as-of", NOW, "--max-tokens", "200"],
]


PROGRAMS = {" ".join(command)[:50]: (CONSOLE, [*command, "--json"]) for command in COMMANDS}
PROGRAMS["the script"] = (sys.executable, SCRIPT), ["session of a user", "--as-of", NOW]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_same_with_and_without_the_worker(place: Served, worker: RealWorker, name: str) -> None:
    place.warm()
    way, arguments = PROGRAMS[name]

    def through_the_worker() -> bytes | None:
        _, data = place.printed(*arguments, way=way, **NO_MODEL)
        return data if json.loads(data)["success"] else None  # else it was too slow for once

    from_worker = until(through_the_worker, "the worker answers in time")
    assert place.printed(*arguments, way=way, **ALONE) == (0, from_worker)


def test_what_a_person_sees_is_the_same_with_and_without_the_worker(place: Served, worker: RealWorker) -> None:
    place.warm()
    for arguments in COMMANDS[1::2] + COMMANDS[4:]:
        shown = place.printed(*arguments)
        assert shown == place.printed(*arguments, **ALONE)
        assert shown[0] == 0
        assert b'"success"' not in shown[1]


def test_what_a_terminal_cannot_show_is_no_error(place: Served) -> None:
    for arguments in COMMANDS[1::2] + COMMANDS[4:]:
        status, shown = place.printed(*arguments, **ALONE, PYTHONIOENCODING="ascii")
        assert (status, shown.isascii()) == (0, True)


def test_a_context_is_printed_alone_ready_to_be_pasted(place: Served, worker: RealWorker) -> None:
    _, shown = place.printed("context", "session of a user", "--as-of", NOW)
    _, envelope = place.printed("context", "session of a user", "--as-of", NOW, "--json")
    assert shown.decode() == json.loads(envelope)["context"]


def test_an_explanation_shows_the_parts_of_each_score(place: Served, worker: RealWorker) -> None:
    _, shown = place.printed("explain", "session of a user", "--id", "99", "--as-of", NOW)
    lines = shown.decode().splitlines()
    assert lines[0].split()[:4] == ["memory", "rank", "score", "words"]
    assert lines[-1] == "NOT_FOUND: there is no memory 99."
    _, envelope = place.printed("explain", "session of a user", "--as-of", NOW, "--json")
    best = json.loads(envelope)["items"][0]
    assert lines[1].split()[:3] == [f"#{best['id']}", "1", f"{best['score']['total']:.3f}"]


@pytest.mark.usefixtures("patient")
def test_many_who_ask_at_once_get_each_their_own_answer(place: Served, worker: RealWorker) -> None:
    place.warm()
    texts = [f"session of user {number}" for number in range(24)]
    found = at_once(lambda text: place.ask("explain", query=text, ids=[1], as_of=NOW)[1], texts, threads=8)
    assert [json.loads(answer)["metadata"]["query"] for answer in found] == texts


# --- a worker that is hindered ---


def test_a_server_that_does_not_answer_delays_the_command_line_by_little(place: Served, worker: RealWorker) -> None:
    pid = place.warm()
    arguments = ("retrieve", "session of a user", "--as-of", NOW, "--json")
    quiet = place.printed(*arguments, **ALONE)
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert place.through_worker("retrieve", query="session of a user") is None
        left_after = time.monotonic() - began
        began = time.monotonic()
        assert place.printed(*arguments) == quiet
        whole = time.monotonic() - began
    finally:
        os.kill(pid, signal.SIGCONT)
    print(f"beside a stopped server: left after {left_after * 1000:.0f} ms, answered after {whole * 1000:.0f} ms")
    assert left_after < 2.0


@pytest.mark.usefixtures("patient")
def test_a_killed_server_costs_no_answer(place: Served, worker: RealWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    place.as_ours(monkeypatch)
    pid = place.warm()
    os.kill(pid, signal.SIGSTOP)
    found: list[bytes] = []
    arguments = {"query": "session of a user", "as_of": NOW}
    asker = threading.Thread(
        target=lambda: found.append(query_client.ask_for("retrieve", str(place.workspace.root), arguments))
    )
    asker.start()
    until(lambda: _connected_to(place.port), "it has asked")
    os.kill(pid, signal.SIGKILL)
    asker.join()
    assert checked(found[0])["results"]
    until(lambda: "status=-9" in place.log(), "it is said in the log")
    assert place.warm() != pid


def _connected_to(port: int) -> bool:
    return any(
        found.raddr and found.raddr.port == port and found.status == psutil.CONN_ESTABLISHED
        for found in psutil.Process().net_connections("tcp")
    )


def test_no_question_is_lost_as_the_server_leaves_and_comes_again(tmp_path: Path) -> None:
    """Asked again and again around the time at which it leaves for want of questions."""
    place = Served(tmp_path, COGNEE_MEMORY_HTTP_IDLE_SECONDS="0.4")
    dice = random.Random(5)
    with place.worker():
        servers: set[int | None] = {None}
        while len(servers) <= (30 if SOAK else 3):
            status, data = place.ask(query=f"session {len(servers)}", as_of=NOW)
            assert (status, json.loads(data)["success"]) == (200, True)
            servers.add((place.http["server"] or {}).get("pid"))
            time.sleep(dice.uniform(0.3, 0.6))  # the time itself is what is tried
        until(lambda: place.http["server"] is None, "it leaves at last")
    assert " died: " not in place.log()


def test_a_killed_worker_ends_its_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next one serves."""
    place = Served(tmp_path)
    first = place.worker().ready()
    server = place.warm()
    old = place.token
    os.kill(server, signal.SIGSTOP)  # it cannot even listen to what it is told
    first.kill()
    until(lambda: not is_running(server), "the server is gone")
    assert place.through_worker("retrieve", query="session") is None
    assert json.loads(place.printed("retrieve", "session", "--json")[1])["success"] is True
    with place.worker():
        assert place.warm() != server
        assert place.token != old
        status, data = place.ask(token=old, query="session")
        assert (status, json.loads(data)["error_code"]) == (401, "HTTP_UNAUTHORIZED")
        monkeypatch.setattr(query_client, "PATIENCE_SECONDS", 30.0)
        assert place.through_worker("retrieve", query="session") is not None


def test_a_server_says_of_broken_settings_to_whoever_asks_and_ends_with_its_worker(tmp_path: Path) -> None:
    place = Served(tmp_path)
    with place.worker() as worker:
        (place.config / "config.toml").write_text('max_results = "many"\n')
        status, data = place.ask(query="session")
        assert (status, json.loads(data)["error_code"]) == (500, "SETTING_INVALID")
        (place.config / "config.toml").unlink()
        server = place.warm()
        assert worker.stop() == 0
        assert not is_running(server)
    assert (place.http["url"], place.http["server"]) == (None, None)
    assert " died: " not in place.log()


def test_a_port_that_is_taken_costs_http_alone(tmp_path: Path, worker: RealWorker) -> None:
    taken = str(query_client.port_of(worker.place.heartbeat()["http"]["url"]))
    place = Served(tmp_path, COGNEE_MEMORY_HTTP_PORT=taken)
    with place.worker():
        assert place.http["url"] is None
        assert taken in place.http["problem"]
        assert place.ended(place.submit("noop", {})).success is True
        assert json.loads(place.printed("retrieve", "session", "--json")[1])["success"] is True
        assert place.http["problem"] in place.cli("worker", "status").stdout


def test_no_question_gets_into_the_log(place: Served, worker: RealWorker) -> None:
    place.warm()
    secret = "kv7-pelican"
    place.ask(query=secret)
    place.ask(query=secret, nonsense=secret)
    place.ask(f"retrieve/{secret}", query=secret)
    place.ask(query=secret, as_of=secret)
    assert secret not in place.log()


def test_a_worker_does_not_leave_while_somebody_asks(tmp_path: Path) -> None:
    place = Served(tmp_path, COGNEE_MEMORY_WORKER_IDLE_SECONDS="0.5", COGNEE_MEMORY_HTTP_IDLE_SECONDS="3")
    place.cli("ingest", "--summary", "Topic: A\nContext: B", "--no-start")
    for path in place.spool.inbox.glob("*.json"):
        path.unlink()
    code = "from jobs import launch; from jobs.layout import find_workspace; import sys; from pathlib import Path;"
    code += "launch.start(find_workspace(sys.argv[1], Path('/')), leave_when_idle=True)"
    assert place.python("-c", code, str(place.workspace.root)).returncode == 0
    pid = place.heartbeat()["pid"]
    until(lambda: place.http["url"], "it listens")
    server = place.warm()
    began = time.monotonic()
    until(lambda: not is_running(pid), "it leaves in the end")
    assert time.monotonic() - began > 2.5, "not while the server was there"
    assert not is_running(server)
