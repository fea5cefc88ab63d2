"""The parent's side of a child process: it never waits for ever, blames nobody wrongly, and leaves nothing behind.

The child is a few lines of Python here, which say what a real one would at the instant in question.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE, raising, until

from bridge.settings import Settings
from jobs.layout import Workspace
from worker.child import process as child_process
from worker.child.process import ChildProcess
from worker.child.supervisor import Child, ChildEnded

REQUEST: dict[str, Any] = {"kind": "noop", "jobs": [{}]}

SPEAKING = """
import json, os, sys
def say(**message):
    os.write(1, json.dumps(message).encode() + b"\\n")
say(loading=False)
"""

ANSWERING = SPEAKING + "for line in sys.stdin: say(outcomes={}, graph_lag=0)"

GIVING_WAY = (
    SPEAKING
    + """
for line in sys.stdin:
    if json.loads(line).get("slice_seconds") is None:
        say(outcomes={}, graph_lag=0)
    else:
        say(give_way=True)
"""
)

Made = Callable[[str], Child]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    """A parent whose child runs the given lines."""
    workspace = Workspace(tmp_path)
    popen = subprocess.Popen
    children: list[Child] = []

    def make(script: str) -> Child:
        def start(arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
            return popen([sys.executable, "-c", script], **options)

        monkeypatch.setattr(child_process.subprocess, "Popen", start)
        children.append(Child(workspace, Settings(config_dir=tmp_path / "config")))
        return children[-1]

    yield make
    for child in children:
        child.end_for_good()  # else a request that nobody ends would keep it
        child.close()


def process_of(child: Child) -> ChildProcess:
    return child._process


def in_thread(ask: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    """Do it in a thread of its own; the list has what came of it."""
    came: list[object] = []

    def run() -> None:
        try:
            came.append(ask())
        except Exception as error:
            came.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, came


def end_of(asked: tuple[threading.Thread, list[object]]) -> str:
    """Why the child ended of which a thread had asked something."""
    thread, came = asked
    thread.join(20)
    assert not thread.is_alive()
    (error,) = came
    assert isinstance(error, ChildEnded)
    return error.why


def test_a_job_ending_as_it_is_too_large_leaves_the_next_watched(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the instant in which the watcher decides, it may have answered: the watcher has to go on all the same."""
    child = made(ANSWERING)
    child.ask(REQUEST)
    process = process_of(child)
    seen = threading.Event()

    def answers() -> int:
        if not seen.is_set():
            process.finish(1)
            seen.set()
            return 1 << 60
        return 0

    monkeypatch.setattr(process, "memory_bytes", answers)
    process.begin(None)
    assert seen.wait(30)
    assert process.is_usable()
    process.begin(0.01)
    until(lambda: process.why == "timeout", "the next job's timeout is heeded", 10)
    process.finish(1)


def test_a_deadline_that_is_no_more_ends_nobody(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the watcher has seen is looked at again where it acts: another job may have begun since."""
    child = made(ANSWERING)
    child.ask(REQUEST)
    process = process_of(child)
    ended: list[str] = []
    end = process.end

    def late(why: Any) -> None:  # the instant between the watcher's look and its act
        ended.append(why)
        process.finish(1)
        process.begin(None)
        end(why)

    monkeypatch.setattr(process, "end", late)
    process.begin(0.0)
    until(lambda: ended or process.why, "the watcher has acted", 10)
    assert (ended, process.why) == ([], "timeout"), "looked and acted in one step"
    process.finish(1)


def test_who_ends_for_good_ends_what_runs_and_what_is_only_about_to_be_asked(made: Made) -> None:
    child = made(SPEAKING + "for line in sys.stdin: say(begun=True)")
    running = in_thread(lambda: child.ask(REQUEST))
    until(lambda: child.pid is not None and process_of(child).executing, "it runs")
    child.end_for_good()
    assert end_of(running) == "stopped"
    assert end_of(in_thread(lambda: child.ask(REQUEST))) == "stopped"


@pytest.mark.skipif(sys.platform == "win32", reason="nothing inherits a pipe there")
def test_a_dead_child_whose_pipe_somebody_else_still_holds_is_not_waited_for(made: Made, tmp_path: Path) -> None:
    heir = tmp_path / "heir"
    script = (
        SPEAKING
        + f"""
pid = os.fork()
if not pid:
    import time
    time.sleep(600)
open({str(heir)!r}, "w").write(str(pid))
sys.stdin.readline()
os._exit(70)
"""
    )
    child = made(script)
    asked = in_thread(lambda: child.ask(REQUEST))
    try:
        assert end_of(asked) == "died"
    finally:
        os.kill(int(heir.read_text()), signal.SIGKILL)


def test_an_answer_that_was_given_right_before_the_end_counts(made: Made) -> None:
    child = made(SPEAKING + "sys.stdin.readline(); say(outcomes={}, graph_lag=7); os._exit(70)")
    assert child.ask(REQUEST)["graph_lag"] == 7


def test_a_child_that_closes_its_pipe_and_goes_on_is_ended(made: Made) -> None:
    child = made(SPEAKING + "sys.stdin.readline(); os.close(1); sys.stdin.read(); import time; time.sleep(600)")
    assert end_of(in_thread(lambda: child.ask(REQUEST))) == "died"
    assert child.pid is None


def test_a_mistake_while_long_work_stands_still_does_not_leave_it_standing(made: Made) -> None:
    """Else the next request would be served inside the one that nobody waits for any more."""
    child = made(GIVING_WAY)

    with pytest.raises(RuntimeError):
        child.ask(REQUEST, on_pause=raising(RuntimeError("a mistake")))
    assert child.pid is None
    assert child.ask(REQUEST)["graph_lag"] == 0


def test_long_work_that_goes_on_after_a_pause_has_what_was_left_of_its_time(made: Made) -> None:
    child = made(SPEAKING + "for line in sys.stdin: 'go_on' in line or say(give_way=True)")
    assert end_of(in_thread(lambda: child.ask(REQUEST, timeout_seconds=0.5))) == "timeout"


def test_a_job_in_between_has_its_own_clock_and_gives_the_other_its_own_back(made: Made) -> None:
    child = made(GIVING_WAY)
    seen: list[float | None] = []

    def between() -> None:
        seen.append(process_of(child)._deadline)
        child.ask(REQUEST)
        seen.append(process_of(child)._deadline)

    child.ask(REQUEST, timeout_seconds=1000.0, on_pause=between)
    assert seen == [None, None]
    assert process_of(child).is_usable()


def test_pauses_of_loading_take_no_time_of_a_job_nor_give_it_more(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a child that loads for ever, and pauses now and then, would never be ended."""
    script = (
        SPEAKING
        + """
for line in sys.stdin:
    asked = json.loads(line)
    if "go_on" in asked or asked["jobs"]:
        if not asked.get("go_on"):
            say(begun=True)
            say(loading=True)
        say(give_way=True)
    else:
        say(outcomes={}, graph_lag=0)
"""
    )
    monkeypatch.setattr(child_process, "_LOADING_SECONDS", 0.3)
    child = made(script)
    executing: list[bool] = []

    def between() -> None:
        executing.append(process_of(child).executing)
        child.ask({**REQUEST, "jobs": []})

    began = time.monotonic()
    with pytest.raises(ChildEnded) as ended:
        child.ask(REQUEST, timeout_seconds=0.2, on_pause=between)
    assert ended.value.why == "timeout"
    assert time.monotonic() - began >= 0.3
    assert set(executing) == {True}, "what runs in a pause is not what loads"


def test_no_thread_and_no_descriptor_is_left_of_processes_that_have_ended(made: Made) -> None:
    child = made(SPEAKING + "sys.stdin.readline(); os._exit(1)")

    def count() -> tuple[int, int]:
        own = [t for t in threading.enumerate() if t.name in ("child-watch", "child-stderr", "child-end")]
        return len(own), len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0

    with pytest.raises(ChildEnded):
        child.ask(REQUEST)
    until(lambda: count()[0] == 0, "the threads have ended")
    before = count()
    for _ in range(5):
        with pytest.raises(ChildEnded):
            child.ask(REQUEST)
    until(lambda: count() == before, f"as many as before: {before}")


def test_a_child_that_stands_still_is_killed_at_the_stop(made: Made) -> None:
    child = made(ANSWERING)
    child.ask(REQUEST)
    pid = child.pid
    os.kill(pid, signal.SIGSTOP)
    child.stop(0.1)
    assert child.pid is None


def test_a_child_whose_parent_was_cut_off_in_the_middle_of_a_request_leaves() -> None:
    """Not every system ends it from outside: it has to see for itself."""
    script = "from worker.child.main import Pipes; import os; Pipes(os.dup(1)).next(); print('left')"
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=b'{"kind": "noop", "jo',
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"left" + os.linesep.encode(), b"")


def test_a_child_is_ended_also_where_no_thread_is_left_to_do_it(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    child = made(SPEAKING + "for line in sys.stdin: pass")
    child._running()

    class NoThread:
        def __init__(self, **_: object) -> None:
            pass

        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    asked = in_thread(lambda: child.ask(REQUEST))
    until(lambda: process_of(child).busy, "it is asked")
    monkeypatch.setattr(child_process.threading, "Thread", NoThread)
    child.end("cancelled")
    monkeypatch.undo()
    assert end_of(asked) == "cancelled"


DYING = [
    ("raise SystemExit(1)", [False]),
    (SPEAKING + "sys.stdin.readline()", [False]),
    (SPEAKING + "sys.stdin.readline(); say(begun=True)", [True, True]),
    (SPEAKING + "sys.stdin.readline(); say(begun=True); say(loading=True)", [True, False, False]),
    (SPEAKING + "sys.stdin.readline(); say(begun=True); say(loading=True); say(loading=False)",
     [True, False, True, True]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("script", "executing"),
    DYING,
    ids=["before it has loaded", "before the operation", "in the operation", "while it loads more", "after that"],
)
def test_a_child_that_dies_says_whether_the_operation_ran(made: Made, script: str, executing: list[bool]) -> None:
    told: list[bool] = []
    with pytest.raises(ChildEnded) as ended:
        made(script).ask(REQUEST, on_executing=told.append)  # type: ignore[arg-type]
    assert [*told, ended.value.executing] == executing
    assert ended.value.why == "died"
