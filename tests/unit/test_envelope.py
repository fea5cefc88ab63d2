"""One JSON object on stdout, whole, whatever else the process prints."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.interface import envelope
from jobs.errors import ERRORS, JobError, Reaction

LARGE = 5_000_000
PROJECT = Path(__file__).resolve().parents[2]


def program(body: str, **options: object) -> subprocess.Popen[bytes]:
    code = f"import os, sys\nfrom bridge.interface import envelope as answer\n{body}"
    return subprocess.Popen([sys.executable, "-c", code], cwd=PROJECT, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for end in (reader, writer):
        try:
            os.close(end)
        except OSError:
            pass  # the test has closed it


SEND_LARGE = (
    "answer.claim_stdout(); print('sending', flush=True)\n"
    f"answer.send(answer.success(text='ä' * {LARGE // 2}))\n"
    "print('sent', flush=True)"
)


def test_an_answer_of_five_megabytes_arrives_whole_at_a_slow_reader() -> None:
    """The reader begins only when the writer stands before a full pipe, and takes a little at a time."""
    with program(SEND_LARGE, stdout=subprocess.PIPE) as process:
        assert process.stderr.readline() == b"sending\n"
        received = bytearray()
        while piece := os.read(process.stdout.fileno(), 3_000):
            received += piece
        assert process.stderr.readline() == b"sent\n"
    assert len(json.loads(received)["text"]) == LARGE // 2
    assert received.count(b"\n") == 1
    assert process.returncode == 0


def test_an_answer_arrives_whole_through_a_pipe_that_refuses_to_wait(pipe: tuple[int, int]) -> None:
    """Some parents hand over the end of a pipe that raises where others block."""
    reader, writer = pipe
    os.set_blocking(writer, False)
    with program(SEND_LARGE, stdout=writer) as process:
        os.close(writer)
        received = bytearray()
        while piece := os.read(reader, 65_536):
            received += piece
        errors = process.stderr.read() if process.stderr else b""
    assert errors == b"sending\nsent\n"
    assert len(json.loads(received)["text"]) == LARGE // 2


def test_what_others_print_lands_on_stderr_at_every_level() -> None:
    body = """
print("before", end="")  # still in Python's buffer when stdout is claimed
sys.stdout.flush()
answer.claim_stdout()
answer.claim_stdout()
print("from python")
sys.stdout.write("from the stream\\n")
sys.stdout.flush()
os.write(1, b"from the descriptor\\n")
os.system("echo from a process")
answer.send(answer.success(number=1))
print("afterwards")
"""
    with program(body, stdout=subprocess.PIPE) as process:
        output, errors = process.communicate()
    assert output == b'before{"success": true, "number": 1}\n'
    for line in (b"from python", b"from the stream", b"from the descriptor", b"from a process", b"afterwards"):
        assert line in errors


def test_a_reader_that_has_gone_is_no_error(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    with program(SEND_LARGE, stdout=writer) as process:
        os.close(writer)
        os.read(reader, 10)
        os.close(reader)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"sending\nsent\n")


def test_text_that_is_no_unicode_does_not_break_the_answer() -> None:
    with program("answer.send({'text': 'half \\ud800 of a pair'})", stdout=subprocess.PIPE) as process:
        output, _ = process.communicate()
    assert json.loads(output) == {"text": "half ? of a pair"}


@pytest.mark.parametrize("name", ["compact", "ingest", "migrate_summaries"])
def test_a_script_that_is_run_by_its_path_answers_with_one_object_and_no_other_word(name: str, tmp_path: Path) -> None:
    script = [sys.executable, str(PROJECT / "bridge" / f"{name}.py"), "--loud"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")
    assert json.loads(done.stdout)["error_code"] == "ARGUMENT_INVALID"


def test_an_error_is_an_answer_with_code_and_remedy() -> None:
    error = JobError("QUERY_EMPTY", "Nothing was asked.", details={"near": ["a"]})
    assert {**envelope.failure(error), "results": []} == {
        "success": False,
        "error": "Nothing was asked.",
        "error_code": "QUERY_EMPTY",
        "remediation": ERRORS["QUERY_EMPTY"].remediation,
        "error_details": {"near": ["a"]},
        "results": [],
    }


STATUSES = [
    ("ARGUMENT_INVALID", 2),
    ("QUERY_EMPTY", 2),
    ("SETTING_INVALID", 2),
    ("WORKER_NOT_RUNNING", 3),
    ("WORKER_START_FAILED", 3),
    ("JOB_INVALID", 4),
    ("KIND_UNKNOWN", 4),
    ("WAIT_TIMEOUT", 5),
    ("INTERNAL", 1),
    ("WORKSPACE_MISSING", 1),
]


@pytest.mark.parametrize(("code", "status"), STATUSES)
def test_the_exit_status_tells_the_kind_of_error(code: str, status: int) -> None:
    assert envelope.exit_code(envelope.failure(JobError(code))) == status


def test_success_is_the_exit_status_nought() -> None:
    assert envelope.exit_code(envelope.success()) == 0


def test_every_rejection_has_the_exit_status_of_a_rejection() -> None:
    rejections = [code for code, kind in ERRORS.items() if kind.reaction is Reaction.REJECT]
    assert {envelope.exit_code(envelope.failure(JobError(code))) for code in rejections} == {envelope.REJECTED}
