"""The command ``open``: opens the page in the browser, signed in.

The address contains a ticket. Every user of the machine can read the arguments of a program, so the browser gets a
private file that redirects to the address.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
import webbrowser
from collections.abc import Mapping
from html import escape
from typing import Any

from bridge.interface import envelope
from bridge.interface.arguments import add_no_start
from bridge.search.query_client import port_of
from bridge.settings import inherited_environment
from jobs import files, launch, plain_files
from jobs.errors import JobError
from jobs.layout import Workspace

from ..admin.requests import worker_of
from ..http import tickets
from .command_line import Given, added, command, option
from .output import Envelope, say

_LISTENING_SECONDS = 10.0
_ANSWER_SECONDS = 30.0  # the first request starts the serving process
_TOKEN_BYTES = 256

_LEADING_THERE = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>cognee-memory</title>
<p><a href="{address}">Open the page</a></p>
"""


def show_page(answer: Envelope) -> None:
    """Print that the page opens, or the address to open."""
    if answer["opened"]:
        say("The page opens in your browser. If it does not: cognee-memory open --print")
        return
    say(answer["url"])
    say(f"It signs one browser in, within {tickets.SECONDS} s.")
    if is_remote(inherited_environment()):
        port = port_of(answer["url"].partition("/#")[0])
        say(f"From your own machine, first:  ssh -N -L {port}:127.0.0.1:{port} <this machine>")


@command("open", ["open", "open --print"], needs="opens", show=show_page)
@option("--print", "print the address and do not open it", dest="only_print")
@added(add_no_start)
def open_page(args: Given) -> Envelope:
    """Start a worker if none runs, and open the page; returns its address and whether a browser was opened.

    Raises JobError: HTTP_OFF when the worker does not serve over HTTP, WORKER_NOT_RUNNING with ``--no-start``,
    WORKER_START_FAILED.
    """
    if not args.settings.http:
        raise JobError("HTTP_OFF", "The worker does not serve over HTTP: COGNEE_MEMORY_HTTP is off.")
    if not launch.is_alive(args.place) and args.no_start:
        raise JobError("WORKER_NOT_RUNNING", f"No worker works on {args.place.root}.")
    if not args.no_start:
        launch.start(args.place, leave_when_idle=True)
    port = _port(args.place)
    token = plain_files.read_plain(args.place.spool.token, _TOKEN_BYTES)[0].decode("ascii")
    _wake(port, token)
    url = f"http://127.0.0.1:{port}/#ticket={tickets.issue(token)}"
    shown = not args.only_print and has_browser(inherited_environment(), sys.platform) and _show(args.place, url)
    return envelope.success(url=url, opened=shown)


def _port(workspace: Workspace) -> int:
    """The port of the worker; waits until it listens. Raises JobError: HTTP_OFF when it does not."""
    deadline = time.monotonic() + _LISTENING_SECONDS
    while True:
        worker = worker_of(workspace)
        http: Mapping[str, Any] | None = {}
        if worker["alive"] and worker["heartbeat"] is not None:
            http = worker["heartbeat"].get("http")
        if http is None:
            raise JobError("HTTP_OFF", "The running worker was started with COGNEE_MEMORY_HTTP off.")
        if http.get("url"):
            try:
                return port_of(str(http["url"]))
            except ValueError:
                raise JobError("HTTP_OFF", "The heartbeat names no address of this machine.") from None
        if http.get("problem") or time.monotonic() > deadline:
            raise JobError("HTTP_OFF", http.get("problem") or "The worker does not listen.")
        time.sleep(0.02)


def _wake(port: int, token: str) -> None:
    """Start the serving process with a request: it accepts no ticket that is older than itself.

    Raises JobError: HTTP_OFF when it does not answer; also the error in its answer.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/v1/settings", headers={"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise JobError("HTTP_OFF", f"The worker does not answer over HTTP: {error}.") from error
    finally:
        connection.close()
    if response.status != 200:
        try:
            failure = json.loads(body)
            raise JobError(failure["error_code"], failure["error"], remediation=failure["remediation"])
        except (ValueError, KeyError, TypeError):
            raise JobError("HTTP_OFF", f"The worker answers over HTTP with status {response.status}.") from None


def is_remote(environment: Mapping[str, str]) -> bool:
    """Whether the user is logged in from another machine."""
    return bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"))


def has_browser(environment: Mapping[str, str], platform: str) -> bool:
    """Whether a browser with a window is available. One in this terminal would take the terminal over."""
    if is_remote(environment):
        return False
    if environment.get("BROWSER"):
        return True
    if platform in ("win32", "darwin"):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def _show(workspace: Workspace, url: str) -> bool:
    page = workspace.spool.open_page
    try:
        files.replace_without_sync(page, _LEADING_THERE.format(address=escape(url)).encode())
        return webbrowser.open(page.as_uri())
    except (OSError, webbrowser.Error):
        return False
