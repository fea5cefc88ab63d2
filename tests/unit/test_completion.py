"""What a real shell offers when Tab is pressed."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_embedder import FakeEmbedder
from harness import PATIENCE, PROJECT, Place

from bridge.memory import Content, Memory, Metadata
from bridge.store.store import Store
from jobs import spool
from jobs.errors import JobError
from jobs.model import Record
from worker.cli import main
from worker.terminal import completion

# Asks bash's own machinery what it would offer behind each line of stdin.
_ASK = """
eval "$(cognee-memory completion bash)"
while IFS= read -r line; do
    COMP_LINE="$line" COMP_POINT=${#line} COMP_TYPE=9 COMPREPLY=()
    _python_argcomplete cognee-memory
    (IFS='|'; printf '%s\\n' "${COMPREPLY[*]}")
done
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    error = JobError("TOPIC_NOT_FOUND").as_dict()
    records = [
        Record("done-1", "noop", "", "succeeded", accepted_at="2026-11-20T10:00:00Z"),
        Record("wrong-1", "noop", "", "failed", accepted_at="2026-11-20T11:00:00Z", error=error),
        Record("waits-1", "noop", "", "queued", accepted_at="2026-11-20T12:00:00Z"),
    ]
    spool.write_records(place.spool, records)
    commands = tmp_path / "bin"
    commands.mkdir()
    program = commands / "cognee-memory"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{PROJECT}" exec "{sys.executable}" -m worker.cli "$@"\n')
    program.chmod(0o755)
    place.environment["PATH"] = f"{commands}:{place.environment['PATH']}"
    return place


def test_a_shell_offers_what_may_follow(place: Place) -> None:
    expected = {
        "cognee-memory jo": {"jobs "},
        "cognee-memory jobs re": {"retry", "resume"},
        "cognee-memory jobs show ": {"waits-1", "wrong-1", "done-1"},
        "cognee-memory jobs retry ": {"wrong-1 "},
        "cognee-memory jobs cancel ": {"waits-1 "},
        "cognee-memory jobs show do": {"done-1 "},
        "cognee-memory jobs list --state fa": {"failed "},
        "cognee-memory jobs list --state failed,re": {"failed,retrying", "failed,rejected"},
        "cognee-memory jobs list --error NOTHING": {"NOTHING_TO_COMPACT "},
        "cognee-memory jobs list --kind re": {"restore", "rebuild", "resolve"},
        "cognee-memory retrieve x --preset ": {"contract", "long-lived"},
        "cognee-memory compact ": set(),
        "cognee-memory memories show ": set(),
        "cognee-memory worker lo": {"logs "},
        "cognee-memory completion z": {"zsh "},
    }
    done = subprocess.run(
        ["bash", "-c", _ASK],
        input="".join(f"{line}\n" for line in expected),
        env=place.environment, cwd=place.workspace.root, capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    offered = [set(line.split("|")) - {""} for line in done.stdout.splitlines()]
    assert dict(zip(expected, offered, strict=True)) == expected
    assert done.stderr == ""


def test_a_beginning_finds_jobs_that_are_not_among_the_newest(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(place.config))
    monkeypatch.setattr(completion, "_MOST", 1)
    given = argparse.Namespace(workspace=str(place.workspace.root), verb="show")
    assert set(completion.job_ids(given, prefix="")) == {"waits-1"}
    assert set(completion.job_ids(given, prefix="do")) == {"done-1"}


def test_a_topic_is_offered_with_its_title(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(place.config))
    now = "2026-11-20T12:00:00Z"
    metadata = Metadata(topic_id="topic-263200d7", status="Active", created_at=now, updated_at=now)
    store = Store(place.workspace, FakeEmbedder())
    store.add([(Memory("a", 0, "summary", metadata, now, Content("发票号", "Context")), None)], now)
    store.close()
    given = argparse.Namespace(workspace=str(place.workspace.root))
    assert completion.topics(given, prefix="topic-") == {"topic-263200d7": "发票号, 1 memory"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_each_shell_has_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "cognee-memory" in capsys.readouterr().out


def test_nothing_of_completion_is_imported_by_a_command_that_runs() -> None:
    code = "import sys, worker.cli; worker.cli.main(['jobs', 'list']); print('argcomplete' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
