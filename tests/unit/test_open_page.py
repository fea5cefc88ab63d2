"""Opening the page: where there is a browser, and what is told where there is none."""

import stat
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import Place
from http_server import TOKEN, Running

from jobs import clock, files
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import encode
from worker.http.executor import RequestExecutor
from worker.terminal import open_page
from worker.terminal.command_line import Given


class Opening:
    """A workspace whose worker listens, and a browser that notes where it was led."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.workspace = Place(base).workspace
        self.running = Running(RequestExecutor(self.workspace, lambda: None))
        files.replace_without_sync(self.workspace.spool.token, TOKEN.encode())
        self.says(url=f"http://127.0.0.1:{self.running.port}", problem=None)
        self.alive, self.shown, self.browser = True, [], True  # type: tuple[bool, list[str], bool]
        monkeypatch.setattr("jobs.launch.is_alive", lambda workspace: self.alive)
        monkeypatch.setattr("jobs.launch.start", self._start)
        monkeypatch.setattr(webbrowser, "open", self._show)
        for name in ("SSH_CONNECTION", "SSH_TTY", "BROWSER", "WAYLAND_DISPLAY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("DISPLAY", ":0")

    def says(self, **http: Any) -> None:
        beat = {"http": http or None, "heartbeat_at": clock.iso(clock.now())}
        files.replace_without_sync(self.workspace.spool.heartbeat, encode(beat))

    def _start(self, workspace: Workspace, **more: Any) -> bool:
        self.alive = True
        return True

    def _show(self, address: str) -> bool:
        self.shown.append(address)
        return self.browser

    def run(self, *, only_print: bool = False, no_start: bool = False) -> dict[str, Any]:
        given = Given(workspace=str(self.workspace.root), only_print=only_print, no_start=no_start)
        return open_page.open_page(given)


@pytest.fixture
def opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    made = Opening(tmp_path, monkeypatch)
    yield made
    made.running.close()


def ticket_of(found: dict[str, Any]) -> str:
    return str(found["url"].partition("#ticket=")[2])


def test_the_browser_is_led_there_by_a_private_file(opening: Opening) -> None:
    """What is a program's argument, every user of the machine can read."""
    found = opening.run()
    page = opening.workspace.spool.open_page
    assert (found["opened"], opening.shown) == (True, [page.as_uri()])
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert f'url={found["url"]}"' in page.read_text("utf-8")
    assert TOKEN not in page.read_text("utf-8")
    assert opening.running.ask("/v1/session", {"ticket": ticket_of(found)}, token=None).status == 200


def test_each_time_there_is_another_ticket(opening: Opening) -> None:
    first, second = opening.run(only_print=True), opening.run(only_print=True)
    assert ticket_of(first) != ticket_of(second)
    assert opening.shown == []
    assert not (opening.workspace.spool.open_page).exists()


def test_where_no_browser_opens_the_address_is_told(opening: Opening, capsys: pytest.CaptureFixture[str]) -> None:
    opening.browser = False
    found = opening.run()
    assert found["opened"] is False
    open_page.show_page(found)
    assert found["url"] in capsys.readouterr().out


def test_over_ssh_it_is_told_how_to_come_by_the_port(
    opening: Opening, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    found = opening.run()
    assert (found["opened"], opening.shown) == (False, [])
    open_page.show_page(found)
    port = opening.running.port
    assert f"ssh -N -L {port}:127.0.0.1:{port}" in capsys.readouterr().out


BROWSERS = [
    ({}, "linux", False), ({"DISPLAY": ":0"}, "linux", True), ({"WAYLAND_DISPLAY": "w"}, "linux", True),
    ({}, "darwin", True), ({}, "win32", True), ({"BROWSER": "firefox"}, "linux", True),
    ({"SSH_TTY": "/dev/pts/1", "DISPLAY": "host:10"}, "linux", False), ({"SSH_CONNECTION": "x"}, "darwin", False),
]  # fmt: skip


@pytest.mark.parametrize(("environment", "platform", "there"), BROWSERS)
def test_a_browser_is_tried_only_where_it_is_seen(environment: dict[str, str], platform: str, there: bool) -> None:
    assert open_page.has_browser(environment, platform) is there


def test_a_worker_is_started_unless_that_is_not_wanted(opening: Opening) -> None:
    opening.alive = False
    with pytest.raises(JobError, match="WORKER_NOT_RUNNING"):
        opening.run(no_start=True)
    assert opening.run()["opened"] is True


def test_where_the_worker_does_not_serve_it_is_said_why(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_page, "_LISTENING_SECONDS", 0.0)
    for http, said in (({}, "off"), ({"url": None, "problem": "taken"}, "taken"), ({"url": None, "problem": None}, "")):
        opening.says(**http)
        with pytest.raises(JobError, match=f"HTTP_OFF.*{said}"):
            opening.run()
    opening.says(url="http://127.0.0.1:1", problem=None)
    with pytest.raises(JobError, match="HTTP_OFF"):
        opening.run()
    monkeypatch.setenv("COGNEE_MEMORY_HTTP", "0")
    with pytest.raises(JobError, match="HTTP_OFF"):
        opening.run()


def test_an_address_of_another_machine_is_never_told_the_token(opening: Opening) -> None:
    opening.says(url="http://evil.example:80", problem=None)
    with pytest.raises(JobError, match="no address of this machine"):
        opening.run()
