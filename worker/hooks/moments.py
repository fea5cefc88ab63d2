"""Notes for a tool while it works: asked of the running worker, and a record of what each session was shown.

The worker looks, since it has the model and the index in memory, and it checks the workspace as for every query. Where
none answers in time there are no notes. This module loads no library and little of ours, for each prompt waits for it.

The record is a file of lines of JSON in the user's configuration folder, named by the workspace's owner id: the tool,
the session, the moment, the numbers of the memories, and their tokens. It has no texts.
"""

from __future__ import annotations

import json
import os
import time

from bridge.search import loopback

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FOLDER = "moments"  # in the configuration folder
PATIENCE_SECONDS = 0.25  # of the whole exchange with the worker
_MOST_RECORD = 256 * 1024  # bytes; then it begins again, with the former one beside it
_MOST_READ = 64 * 1024  # of a worker's file
_MOST_FILES = 8  # of one event

# A file's path in what tools say of their tools; Codex gives a patch with the paths in it, VS Code lists.
_PATHS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "files", "filePaths")
# The tools that run a command in a shell, and where tools say what it printed.
_SHELLS = ("Bash", "bash", "run_shell_command", "run_in_terminal", "runInTerminal")
_OUTPUTS = ("llmContent", "stdout", "stderr", "output", "content")
_MOST_OUTPUT = 32 * 1024  # characters: half of them of the beginning, half of the end
_PATCHES = ("command", "input", "patch")
_PATCHED = ("*** Update File: ", "*** Delete File: ", "*** Move to: ")


class NoWorker(Exception):
    """No worker answers yet, or in time; its message is the reason, as a sentence."""


def ask(workspace: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The worker's answer: ``context``, ``memory_numbers``, ``total_tokens``. Raises NoWorker."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    try:
        port, token, serving = _address(workspace)
        if not serving:
            loopback.poke(port, deadline)  # so that it answers the next time
            raise NoWorker("The worker's server was asleep; it starts now.")
        body = json.dumps(asked).encode("utf-8", "replace")
        answer = json.loads(loopback.exchange(port, "/v1/moment", token, body, deadline))
        if answer["success"] is not True or not isinstance(answer["context"], str):
            raise ValueError("not an answer")
        return {name: answer[name] for name in ("context", "memory_numbers", "total_tokens")}
    except TimeoutError as error:
        raise NoWorker(f"The worker did not answer within {PATIENCE_SECONDS * 1000:.0f} ms.") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise NoWorker("No worker answers.") from error


def wake(workspace: str) -> None:
    """Have the worker, if one runs, load what the first prompt needs. Raises nothing."""
    try:
        loopback.poke(_address(workspace)[0], time.monotonic() + PATIENCE_SECONDS)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass


def files_of(said: dict[str, Any]) -> list[str]:
    """The paths of the files that a tool is about to read or change, or has just read."""
    given = said.get("tool_input")
    given = given if isinstance(given, dict) else {}
    found: list[Any] = []
    for name in _PATHS:
        value = given.get(name)
        found += value if isinstance(value, list) else [value]
    patches = (given.get(name) for name in _PATCHES)
    lines = [line for patch in patches if isinstance(patch, str) for line in patch.splitlines()]
    found += [line[len(mark) :] for line in lines for mark in _PATCHED if line.startswith(mark)]
    return list(dict.fromkeys(path for path in found if isinstance(path, str) and path))[:_MOST_FILES]


def output_of(said: dict[str, Any]) -> str:
    """What a command printed that failed, or may have; empty for any other call."""
    told = said.get("error") or said.get("tool_response")
    if said.get("tool_name") not in _SHELLS or said.get("is_interrupt"):
        return ""
    parts = [told.get(name) for name in _OUTPUTS] if isinstance(told, dict) else [told]
    text = "\n".join(part for part in parts if isinstance(part, str))
    half = _MOST_OUTPUT // 2
    return text if len(text) <= _MOST_OUTPUT else f"{text[:half]}\n{text[-half:]}"


def shown(config: str, owner: str, session: str) -> set[int]:
    """The numbers of the memories that the session was shown."""
    numbers: set[int] = set()
    for entry in records(config, owner):
        if entry.get("session") == session:
            numbers.update(entry.get("memories", ()))
    return numbers


def records(config: str, owner: str) -> Iterator[dict[str, Any]]:
    """The entries of the record, the oldest first; damaged lines are left out."""
    for path in (f"{_record(config, owner)}.1", _record(config, owner)):
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.readlines()
        except (OSError, ValueError):
            continue
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry


def add(config: str, owner: str, entry: dict[str, Any]) -> None:
    """Append an entry to the record. Raises OSError."""
    path = _record(config, owner)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if os.path.exists(path) and os.path.getsize(path) > _MOST_RECORD:
        os.replace(path, f"{path}.1")
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, json.dumps({"at": at, **entry}).encode() + b"\n")
    finally:
        os.close(descriptor)


def _record(config: str, owner: str) -> str:
    return os.path.join(config, FOLDER, f"{owner}.jsonl")


def _address(workspace: str) -> tuple[int, str, bool]:
    """The port and the token of the worker's server, and whether it serves. Raises OSError, ValueError, LookupError,
    TypeError."""
    folder = os.path.join(workspace, ".cognee_jobs", "worker")
    _require_held(os.path.join(folder, "lock"))
    http = json.loads(_own(os.path.join(folder, "heartbeat.json")))["http"]
    return loopback.port_of(http["url"]), _own(os.path.join(folder, "token")), http["serving"] is True


def _own(path: str) -> str:
    """A small file that only this user could write."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        found = os.fstat(descriptor)
        if os.name != "nt" and (found.st_uid != os.getuid() or found.st_mode & 0o077):
            raise ValueError("not a file of this user alone")
        return os.read(descriptor, _MOST_READ).decode("utf-8")
    finally:
        os.close(descriptor)


def _require_held(path: str) -> None:
    """Raises OSError unless a process holds the worker's lock: then the worker itself wrote its address. git writes
    files, and holds no lock."""
    if os.name == "nt":
        return
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    finally:
        os.close(descriptor)
    raise OSError("no worker holds the lock")
