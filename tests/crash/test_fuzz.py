"""Thousands of damaged job files before a real worker: it lives, each gets its answer, and nothing else is touched.

A run is made from its seed alone; a failure names it, and ``COGNEE_MEMORY_FUZZ_SEED`` repeats it.
"""

import base64
import json
import os
import random
import shutil
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness import SOAK, Place, RealWorker, is_running, processes, until

from bridge.text.template import parse as parse_text
from jobs import plain_files
from jobs.errors import ERRORS, JobError, Reaction
from jobs.ids import is_job_id
from jobs.kinds import KIND_NAMES
from jobs.model import Job
from jobs.parse import parse_job
from jobs.payloads import Ingest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and owners of POSIX")

# The environment is read before the fixture that clears it.
SEED = int(os.environ.get("COGNEE_MEMORY_FUZZ_SEED", "20261121"))
FILES = 20_000 if SOAK else 500
AT_ONCE = 250
LIMIT = 64 * 1024  # the worker's setting for the largest file: smaller, so that going beyond it is cheap

MARK = "do-not-read-this-7f3a9c"
LATER = "2099-01-01T00:00:00Z"


# --- what valid jobs look like ---

_SUMMARY = {
    "topic": "The queue", "context": "What was said.", "decisions": ["a", "b"], "open_questions": [],
    "time_scope": {"start": "2026-11-20", "turn_count": 3}, "importance": 0.5, "plan_id": "014", "status": "Draft",
}  # fmt: skip
PAYLOADS: dict[str, list[dict[str, Any]]] = {
    "ingest": [
        {"summary": _SUMMARY},
        {"summary_text": "A plain text.", "topic_id": "a-topic", "session_id": "s"},
        {"summaryText": "# Summary: t\n\n**Status:** Active\n\n## Context\nc"},
        {"conversation": {"user_message": "q", "assistantMessage": "a", "timestamp": "2026-11-20T20:00:00+01:00"}},
    ],
    "cognify": [{"texts": ["a", "b"]}, {"paths": ["docs/a.md", "../../secret/key"]}, {}],
    "migrate": [{"dry_run": True, "limit": 3}, {"undo": "receipt"}],
    "capture": [{"tools": ["claude-code"], "dry_run": True}, {"file": "../../etc/passwd"}, {"undo": "receipt"}],
    "compact": [{"topic_id": "t", "preview": True}, {"topicId": "t", "preview_digest": "0" * 64}],
    "restore": [{"decision_record_id": "x"}],
    "forget": [{"memory_ids": ["a"]}, {"topic_id": "t"}, {"session": "codex/s"}],
    "set_status": [{"memory_id": "a", "status": "Active"}],
    "feedback": [{"memory_id": "a", "verdict": "helpful"}, {"memoryId": "a", "verdict": "wrong", "note": "n"}],
    "resolve": [
        {
            "older": {"memory_id": "a", "statement": "s"},
            "newer": {"memory_id": "b", "statement": "t"},
            "verdict": "both",
        }
    ],
    "judge": [{}],
    "ask": [{"question": "why?", "top_k": 5}],
    "import": [{"path": "docs/a.json"}, {"path": "/etc/passwd"}],
    "rebuild": [{"what": "index"}, {}],
    "graph": [{}],
    "check": [{}],
    "noop": [{}, {"sleep_ms": 1}, {"outcome": "fail"}],
}
assert set(PAYLOADS) == set(KIND_NAMES)

_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 1.0, 2**31, 2**63, -(2**63), 10**25, 0.1, 1e308, "", " ", "a", "ä", "\u202e", "\x00",
    "\ud800", "😀", "x" * 300, "2026-11-20", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", [], {}, [[]],
    [None], {"a": 1}, "ingest", "noop", "../..", "null", "NaN", "1", "%s%n", "${HOME}", "\r\n", "\x1b[2J", "'; --",
]  # fmt: skip
_TOKENS = [
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1" + b"0" * 5000, b"9" * 400, b"0x10", b"01", b".5",
    b"1e-999", b"undefined", b"'a'", b"// c", b"/* c */", b",", b",,", b":", b"{", b"}", b"[", b"]", b'"', b"\\",
    b"\\u0000", b"\\ud800", b"\\uZZZZ", b"\0", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xef\xbb\xbf", b"\r", b"\x0b",
    b'{"a":1,"a":2}', b"[" * 40, b"]" * 40, b"[" * 3000, b"null", b"true", b"\xe2\x80\xa8",
]  # fmt: skip
_NAMES = [
    "con", "nul", "com1", "aux", "CON", "A", "ab.cd", "a b", "a.", "a ", " a", "a\n", "a\t", "\u0430", "a\u0301",
    "ａ", "-a", "_a", "a" * 64, "a" * 65, "a" * 240, "ä" * 110, "😀", "\x1b[2J", "\u202ecba", "..", "...", "~", "*",
    "a:b", "a\\b", "a'b", 'a"b', "$(x)", "a;b", "%00", "a.json", "a.reason", "active ", "Active", "results.",
    "\udcff\udcfe", "a\udc80", "0", "0" * 64, "heartbeat", "lock",
]  # fmt: skip


def _serialise(value: Any, pick: random.Random) -> bytes:
    text = json.dumps(value, ensure_ascii=pick.random() < 0.5, indent=pick.choice([None, None, 1]))
    return text.encode("utf-8", "surrogatepass")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _places(item)


def _change_structure(job: dict[str, Any], pick: random.Random) -> None:
    container, key = pick.choice(list(_places(job)))
    match pick.randrange(5 if isinstance(container, dict) else 3):
        case 0:
            container[key] = pick.choice(_VALUES)
        case 1:
            del container[key]
        case 2:
            container[key] = [container[key]] * pick.choice([1, 2, 50])
        case 3:
            name = pick.choice([str(key).upper(), f"{key} ", f"{key}s", "".join(w.title() for w in key.split("_")), ""])
            container[name] = container.pop(key)
        case 4:
            container[pick.choice(["x", "jobId", "kind", "payload", "__proto__", "\x1b", "\ud800", "é"])] = pick.choice(
                _VALUES
            )


def _change_bytes(data: bytes, pick: random.Random) -> bytes:
    at, to = sorted((pick.randrange(len(data) + 1), pick.randrange(len(data) + 1)))
    match pick.randrange(8):
        case 0:
            return data[:at] + pick.randbytes(pick.randrange(1, 4)) + data[at:]
        case 1:
            return data[:at] + data[at + 1 :]
        case 2:
            return data[:at]
        case 3:
            return data[:at] + data[to:]
        case 4:
            return data[:to] + data[at:]
        case 5 | 6:
            return data[:at] + pick.choice(_TOKENS) + data[at:]
        case _:
            return data[:at] + pick.choice(_TOKENS) + data[to:]


def _nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


_WHOLE: list[Callable[[bytes], bytes]] = [
    lambda data: data.decode("utf-8", "replace").encode("utf-16"),
    lambda data: data.decode("utf-8", "replace").encode("utf-16-le"),
    lambda data: data.decode("utf-8", "replace").encode("utf-32"),
    lambda data: data.decode("utf-8", "replace").encode("latin-1", "replace") + b"\xe9",
    lambda data: b"\xef\xbb\xbf" + data,
    lambda data: data + b"\0" * 4096,
    lambda data: data + data,
    lambda data: b"",
    lambda data: b" " * 100,
    lambda data: b"[" + data + b"]",
    lambda data: b'"' + base64.b64encode(data) + b'"',
    lambda data: data + b" " * (LIMIT - len(data)),
    lambda data: data + b" " * (LIMIT - len(data) + 1),
    lambda data: data[:-1] + b',"x":"' + b"y" * LIMIT + b'"}',
    lambda data: _nested(33),
    lambda data: _nested(10_000),
    lambda data: b"[" * 50_000,
    lambda data: data[:-1] + b',"priority":' + b"9" * 50_000 + b"}",
    lambda data: data[:-1] + b',"job_id":"other"}',
    lambda data: random.Random(len(data)).randbytes(1000),
    lambda data: bytes(range(256)),
]


# --- what is dropped ---


@dataclass
class Drop:
    """An entry of the inbox: its name's bytes, and its content, or what makes the special thing that it is."""

    name: bytes
    data: bytes | None
    make: Callable[[Path], object] | None = None

    @property
    def job_id(self) -> str | None:
        stem = os.fsdecode(self.name).removesuffix(".json")
        return stem if self.name.endswith(b".json") and is_job_id(stem) else None

    def verdict(self) -> Job | JobError:
        """What it is by the rules."""
        if self.job_id is None:
            return JobError("NAME_INVALID")
        if self.data is None:
            return JobError("FILE_UNSAFE")
        if len(self.data) > LIMIT:
            return JobError("FILE_TOO_LARGE")
        try:
            job = parse_job(self.job_id, self.data, test_jobs=True)
            if isinstance(job.payload, Ingest) and job.payload.summary_text is not None:
                parse_text(job.payload.summary_text)
        except JobError as error:
            return error
        return job


def _chowned(path: Path) -> None:
    path.write_bytes(b"{}")
    os.chown(path, 65534, 65534)


def _bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, suppress(OSError):  # a name may be too long for a socket
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            listener.bind(os.fsencode(path.name))
        finally:
            os.chdir(here)
    if not os.path.lexists(path):
        os.mkfifo(path)


def _full_folder(path: Path) -> None:
    path.mkdir()
    (path / "inner.json").write_bytes(b"{}")


def special(place: Place) -> list[Callable[[Path], object]]:
    """What is no plain file of this user's alone. Each links to where the worker has nothing to look for."""
    decoy = place.workspace.root / "decoy"
    made: list[Callable[[Path], object]] = [
        lambda path: path.symlink_to(decoy / "file"),
        lambda path: path.symlink_to("../decoy/file"),
        lambda path: path.symlink_to(decoy),
        lambda path: path.symlink_to("none"),
        lambda path: path.symlink_to(path.name),
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(decoy / "pipe"),
        lambda path: path.hardlink_to(decoy / "file"),
        lambda path: path.mkdir(),
        _full_folder,
        os.mkfifo,
        _bound,
    ]
    if os.getuid() == 0:
        made += [_chowned, lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))]
    return made


def _base(job_id: str, pick: random.Random) -> dict[str, Any]:
    kind = pick.choice([*KIND_NAMES, *["noop"] * 3])
    job: dict[str, Any] = json.loads(json.dumps({
        "schema_version": 1, "job_id": job_id, "kind": kind, "payload": pick.choice(PAYLOADS[kind]),
        "submitted_at": "2026-11-20T20:00:00Z", "priority": pick.choice([None, 0, 5]), "max_attempts": 2,
        "timeout_seconds": None, "submitted_by": "fuzz", "correlation_id": "c",
    }))  # fmt: skip
    if kind != "noop":
        job["not_before"] = LATER  # a valid one is accepted, and waits
    return job


def _is_quick(job: Job) -> bool:
    """Whether the engine has done with an accepted job at once: it waits, or does nothing."""
    if job.not_before is not None and job.not_before >= "2099":
        return True
    nothing = job.payload.model_dump()
    return job.kind == "noop" and nothing["outcome"] in ("succeed", "fail") and nothing["sleep_ms"] <= 1


def drops(place: Place, seed: int, count: int) -> Iterator[Drop]:
    pick = random.Random(seed)
    made = special(place)
    used: set[bytes] = set()  # the same name twice would be one file
    number = 0
    while number < count:
        job_id = f"f{number}"
        job = _base(job_id, pick)
        drop = Drop(f"{job_id}.json".encode(), None)
        way = pick.random()
        if way < 0.08:
            drop.make = pick.choice(made)
        elif way < 0.2:
            stem = f"{pick.choice(_NAMES)}" if number < len(_NAMES) else f"{pick.choice(_NAMES)[:60]}{number}"
            name = os.fsencode(stem)[:240] + pick.choice([b".json", b".json", b".JSON", b"", b".txt", b".json "])
            drop = Drop(f"f{number}-".encode() + name if name[:1] in b"." else name, _serialise(job, pick))
        else:
            for _ in range(pick.choice([0, 1, 1, 2, 4])):
                with suppress(IndexError):  # nothing is left of it
                    _change_structure(job, pick)
            drop.data = _serialise(job, pick)
            if way < 0.5:
                for _ in range(pick.choice([1, 1, 2, 5])):
                    drop.data = _change_bytes(drop.data, pick)
            elif way < 0.6:
                drop.data = pick.choice(_WHOLE)(drop.data)
        verdict = drop.verdict()
        if drop.name in used or (isinstance(verdict, Job) and not _is_quick(verdict)):
            continue
        used.add(drop.name)
        number += 1
        yield drop


# --- the world around ---


def surroundings(place: Place, base: Path) -> dict[str, tuple[object, ...]]:
    """Everything below the base but the spool: names, kinds, modes, owners, times, contents."""
    found = {}
    spool_root = place.spool.root
    for path in sorted(base.rglob("*")):
        if path == spool_root or spool_root in path.parents:
            continue
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        # A hard link's making changes the count and the change time of the file; its modification time it does not.
        found[str(path.relative_to(base))] = (status.st_mode, status.st_uid, status.st_mtime_ns, content)
    return found


def make_decoy(place: Place) -> None:
    decoy = place.workspace.root / "decoy"
    decoy.mkdir()
    (decoy / "file").write_text(json.dumps({"schema_version": 1, "job_id": MARK, "kind": "noop", "payload": {}}))
    os.mkfifo(decoy / "pipe")


def processes_of(place: Place) -> list[int]:
    """All processes that were started with this place's settings, whoever their parent is by now."""
    needle = f"COGNEE_MEMORY_CONFIG_DIR={place.config}".encode()
    found = [pid for pid, variables in processes("environ") if needle in variables.split(b"\0")]
    return [pid for pid in found if pid != os.getpid() and is_running(pid)]


def put(place: Place, drop: Drop) -> None:
    path = place.spool.root / os.fsdecode(drop.name)
    if drop.make is not None:
        drop.make(path)
        return
    assert drop.data is not None
    part = place.spool.root / ".fuzz.tmp"
    part.write_bytes(drop.data)
    part.rename(path)


def waiting(place: Place) -> list[str]:
    own = {folder.name for folder in place.spool.folders}
    names = (path.name for path in place.spool.root.iterdir())
    return [name for name in names if not name.startswith(".") and name not in own]


def reasons(place: Place) -> dict[str, list[str]]:
    """The codes in rejected/ by the name of the file that they are about."""
    found: dict[str, list[str]] = {}
    for path in place.spool.rejected.glob("*.reason.json"):
        if path.is_file() and not path.is_symlink():
            with suppress(ValueError, KeyError, TypeError):
                reason = json.loads(path.read_bytes())
                found.setdefault(reason["file"], []).append(reason["error"]["code"])
    return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(
        tmp_path,
        COGNEE_MEMORY_MAX_ACTIVE_JOBS="1000000",
        COGNEE_MEMORY_KEEP_REJECTED_FILES="1000000",
        COGNEE_MEMORY_KEEP_ENDED_JOBS="1000000",
        COGNEE_MEMORY_MIN_FREE_BYTES="1000000",
        COGNEE_MEMORY_MAX_JOB_BYTES=str(LIMIT),
        COGNEE_MEMORY_PARTIAL_WRITE_GRACE="0.1",
        COGNEE_MEMORY_RESCAN_SECONDS="0.2",
    )


@pytest.mark.timeout(3600 if SOAK else 600)
@pytest.mark.parametrize("seed", [SEED + turn for turn in range(4)] if SOAK else [SEED])
def test_no_file_whatever_it_is_ends_the_worker_or_goes_unanswered(place: Place, tmp_path: Path, seed: int) -> None:
    make_decoy(place)
    with place.worker() as worker:
        before = surroundings(place, tmp_path)
        made: list[Drop] = []
        for drop in drops(place, seed, FILES // 4 if SOAK else FILES):
            put(place, drop)
            made.append(drop)
            if len(made) % AT_ONCE == 0:
                _until_answered(place, worker, made[-1].name)
        _until_answered(place, worker, None)
        _check_answers(place, made)
        assert surroundings(place, tmp_path) == before
        _lives(place, worker)
    until(lambda: not processes_of(place), "no process is left", 20)
    assert surroundings(place, tmp_path) == before
    _nothing_was_followed(place)
    shutil.rmtree(place.spool.root)


def _until_answered(place: Place, worker: RealWorker, last: bytes | None) -> None:
    def look() -> bool:
        assert worker.process.poll() is None, f"the worker has ended:\n{place.log_end()}"
        return not waiting(place)

    try:
        until(look, "every file has left the inbox", 120)
    except AssertionError as error:
        raise AssertionError(f"{error}: {waiting(place)[:20]!r} (up to {last!r})\n{place.log_end()}") from None


def _check_answers(place: Place, made: list[Drop]) -> None:
    """Each file has the answer that the rules give it."""
    accepted, said = 0, reasons(place)
    for drop in made:
        verdict = drop.verdict()
        shown = drop.name.decode("utf-8", "replace")
        record = place.record(drop.job_id) if drop.job_id is not None else None
        if isinstance(verdict, Job):
            assert record is not None, drop
            assert record.state != "rejected", (drop, record.error)
            assert record.job_sha256 == verdict.sha256, drop
            accepted += 1
            continue
        assert ERRORS[verdict.code].reaction is Reaction.REJECT
        assert verdict.code in said.get(shown, []), (drop, verdict, said.get(shown))
        assert (record is not None) == (drop.job_id is not None), drop
        if record is not None:
            assert record.state == "rejected", drop
            assert record.error["code"] == verdict.code, drop
    assert accepted, "some mutations leave a job valid"


def _lives(place: Place, worker: RealWorker) -> None:
    """It is the same worker, and it works."""
    assert worker.process.poll() is None
    assert place.ended(place.submit("noop", {"sleep_ms": 0})).state == "succeeded"


def _nothing_was_followed(place: Place) -> None:
    """Nowhere in what the worker wrote is anything of what the links lead to."""
    for path in place.spool.root.rglob("*"):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
            assert MARK.encode() not in path.read_bytes(), path
        if path.parent == place.spool.results:
            assert plain_files.is_own_file(path)
            assert stat.S_IMODE(status.st_mode) == 0o600
