"""Noticing drops by events, and noticing that events no longer come. With the real watchdog and real folders."""

import errno
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import until

from bridge.store.mounts import Mount
from worker.inbox import watcher
from worker.inbox.watcher import Watcher, choose

LOCAL = Mount("/", "ext4", events=True, wal=True)
SHARED = Mount("/net", "nfs4", events=False, wal=False)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Watch:
    """A watcher of two folders, with its wake-up."""

    def __init__(self, base: Path, mode: watcher.Mode = "events") -> None:
        self.inbox, self.control = base / "inbox", base / "inbox" / "control"
        self.control.mkdir(parents=True)
        self.wake = threading.Event()
        self.clock = Clock()
        self.watcher = Watcher([self.inbox, self.control], self.wake, mode, self.clock)

    def hears_of(self, path: Path) -> None:
        """A file that is put there sets the wake-up."""
        self.wake.clear()
        path.write_bytes(b"{}")
        until(self.wake.is_set, f"an event of {path.name}", 10)

    def in_state(self, state: watcher.State) -> None:
        def tended() -> bool:
            self.watcher.ensure_watching()
            return self.watcher.state == state

        until(tended, state, 10)


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    made = Watch(tmp_path)
    made.watcher.start()
    yield made
    made.watcher.stop()


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


MODES = [
    ("auto", LOCAL, "events"),
    ("auto", SHARED, "polling"),
    ("events", SHARED, "events"),
    ("polling", LOCAL, "polling"),
]


@pytest.mark.parametrize(("setting", "mount", "mode"), MODES)
def test_the_setting_wins_and_else_the_mount_decides(setting: watcher.Mode, mount: Mount, mode: watcher.Mode) -> None:
    assert choose(setting, mount) == mode


def test_a_drop_is_heard_of_in_every_folder_and_by_every_kind_of_write(watch: Watch) -> None:
    watch.hears_of(watch.inbox / "written.json")
    watch.hears_of(watch.control / "pause.json")
    part = watch.inbox / ".part"
    part.write_bytes(b"{}")
    watch.wake.clear()
    part.rename(watch.inbox / "renamed.json")
    until(watch.wake.is_set, "an event of the rename", 10)
    assert watch.watcher.state == "events"


def test_a_name_with_a_leading_dot_is_nobodys_business(watch: Watch) -> None:
    watch.wake.clear()
    (watch.inbox / ".part").write_bytes(b"{}")
    heard: list[str] = []
    watch.watcher.on_any_event = lambda event: heard.append(str(event.src_path))  # type: ignore[method-assign]
    (watch.inbox / "last.json").write_bytes(b"{}")
    until(lambda: any(path.endswith("last.json") for path in heard), "the event behind it", 10)
    assert not watch.wake.is_set()


def test_nothing_is_watched_anew_while_all_is_well(watch: Watch) -> None:
    before = watch.watcher._observer
    for _ in range(3):
        watch.watcher.ensure_watching()
    assert watch.watcher._observer is before


# --- a watcher that died ---


def test_a_folder_that_was_made_anew_is_watched_again(watch: Watch) -> None:
    # While somebody has the old one open, the new one has another number: with the same, it is the end of the
    # thread that watched the old one by which the difference is noticed, a moment later.
    held = os.open(watch.inbox, os.O_RDONLY)
    shutil.rmtree(watch.inbox)
    watch.control.mkdir(parents=True)
    os.close(held)
    watch.in_state("events")
    until(lambda: watch.watcher.ensure_watching() or watch.watcher._lives(), "all threads live", 10)
    watch.hears_of(watch.inbox / "a.json")
    watch.hears_of(watch.control / "pause.json")


def test_a_folder_that_was_moved_away_and_replaced_is_watched_again(watch: Watch, tmp_path: Path) -> None:
    watch.inbox.rename(tmp_path / "moved")
    watch.control.mkdir(parents=True)
    watch.wake.clear()
    watch.watcher.ensure_watching()
    assert watch.wake.is_set(), "what was dropped meanwhile gave no event: look once more"
    watch.hears_of(watch.inbox / "a.json")


def test_while_a_folder_is_gone_it_is_polled_and_then_watched_again(watch: Watch) -> None:
    shutil.rmtree(watch.inbox)
    watch.in_state("failed")
    assert watch.watcher.pause(2.0, 0.5) == 0.5
    watch.control.mkdir(parents=True)
    watch.watcher.ensure_watching()
    assert watch.watcher.state == "events"
    watch.hears_of(watch.inbox / "a.json")


@pytest.mark.parametrize("victim", ["observer", "emitter", "reader"])
def test_a_thread_that_died_is_noticed_and_replaced(watch: Watch, victim: str) -> None:
    observer = watch.watcher._observer
    threads = {"observer": observer, "emitter": next(iter(observer.emitters))}
    if victim == "reader":
        if not hasattr(observer, "_inotify_fd"):
            pytest.skip("only inotify has one")
        threads["reader"] = observer._inotify_fd
    threads[victim].stop()
    threads[victim].join(10)
    assert not threads[victim].is_alive()
    watch.watcher.ensure_watching()
    assert watch.watcher._observer is not observer
    assert watch.watcher.state == "events"
    watch.hears_of(watch.inbox / "a.json")
    watch.hears_of(watch.control / "pause.json")


# --- no events at all ---


def refuse(*arguments: object) -> None:
    raise OSError(errno.EMFILE, "inotify instance limit reached")


def test_without_room_for_a_watch_the_inbox_is_polled_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(tmp_path)
    with monkeypatch.context() as full:
        full.setattr(watcher, "Observer", refuse)
        watch.watcher.start()
        assert (watch.watcher.state, watch.watcher.pause(2.0, 0.5)) == ("failed", 0.5)
        watch.clock.now += 31
        watch.watcher.ensure_watching()
        assert watch.watcher.state == "failed"
    watch.watcher.ensure_watching()
    assert watch.watcher.state == "failed", "not at every look"
    watch.clock.now += 31
    watch.watcher.ensure_watching()
    try:
        assert (watch.watcher.state, watch.watcher.pause(2.0, 0.5)) == ("events", 2.0)
        watch.hears_of(watch.inbox / "a.json")
    finally:
        watch.watcher.stop()


def test_a_refused_watch_costs_neither_threads_nor_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(tmp_path)
    threads, open_before = threading.active_count(), descriptors()
    monkeypatch.setattr(watch.watcher, "_folders", [watch.inbox, tmp_path / "none"])
    for _ in range(5):
        watch.watcher.start()
        assert watch.watcher.state == "failed"
    assert (threading.active_count(), descriptors()) == (threads, open_before)


def test_watching_again_and_again_leaves_no_threads_and_no_descriptors(watch: Watch) -> None:
    threads, open_before = threading.active_count(), descriptors()
    for _ in range(5):
        watch.watcher._observer.emitters.copy().pop().stop()
        until(lambda: not watch.watcher._lives(), "one is dead", 10)
        watch.watcher.ensure_watching()
    assert (threading.active_count(), descriptors()) == (threads, open_before)


def test_a_polling_watcher_has_no_threads_and_looks_more_often(tmp_path: Path) -> None:
    threads = threading.active_count()
    watch = Watch(tmp_path, "polling")
    watch.watcher.start()
    shutil.rmtree(watch.inbox)
    watch.watcher.ensure_watching()
    assert threading.active_count() == threads
    assert watch.watcher.state == "polling"
    assert watch.watcher.pause(2.0, 0.5) == 0.5
    assert watch.watcher.pause(0.1, 0.5) == 0.1, "who set a shorter rescan gets it"
    watch.watcher.stop()


def test_stopping_twice_or_before_the_start_is_no_error(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.watcher.stop()
    watch.watcher.start()
    watch.watcher.stop()
    watch.watcher.stop()
    (watch.inbox / os.fsdecode(b"after.json")).write_bytes(b"{}")
    assert not [t for t in threading.enumerate() if "watchdog" in type(t).__module__]
