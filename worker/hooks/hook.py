"""The program that other tools call when a session begins, is compacted or ends, and while it works.

    python -S -P worker/hooks/hook.py --config FOLDER --tool NAME [JSON]

The tool says what happened as JSON, on standard input or as the last argument. At the beginning of a session, the
program prints the block of notes for it, in the form that the tool reads; before a prompt is answered, before a file is
read or changed, and after a command failed, the notes that fit, if any does (``moments``). Otherwise it drops a job
``capture``, if the user enabled capture for the tool in this workspace, and the workspace may be opened
(``bridge/trust``). It loads no library, since it runs within the tool's own time, and after ``_MOST_SECONDS`` it ends
without an answer; it ends with the status 0 whatever happens, and says in ``hooks.log`` of the configuration folder
what it did and why.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import time
import zlib

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from jobs.layout import Workspace

LOG = "hooks.log"  # in the configuration folder
FAILED = "Nothing was done"  # begins a line of the log about an error
_MOST_INPUT = 1024 * 1024  # bytes
_INPUT_SECONDS = 2.0
_MOST_SECONDS = 4.0  # in all; tools end a hook after five seconds or more
_CATCH_UP_SECONDS = 2.0  # of them, for a team's copy to lose what others have forgotten
_MOST_LOG = 256 * 1024  # bytes; then it begins again, with the former one beside it

# The events at which a session begins, and those that come after each answer or before it (Gemini CLI's PreCompress,
# whether it compresses or not); any other one is an end or a compaction.
_BEGINNING = ("SessionStart", "sessionStart")
_AFTER_EACH_ANSWER = ("agent-turn-complete", "Stop", "stop", "session.idle", "PreCompress")
_BEFORE_ANSWER = ("UserPromptSubmit", "BeforeAgent", "chat.message")
# Gemini CLI and OpenCode take notes only with what a tool of theirs has done.
_AFTER_A_TOOL = ("AfterTool", "tool.execute.after")
_OF_A_FILE = ("PreToolUse", *_AFTER_A_TOOL)
_AFTER_A_COMMAND = ("PostToolUseFailure", "PostToolUse")

# The names under which tools say an event's name, the session's id and its folder.
_EVENT = ("hook_event_name", "hookEventName", "type")
_SESSION = ("session_id", "sessionId", "thread-id", "conversation_id")
# Tools whose events do not name the session as its transcript does: all that is new is captured.
_NAMES_NO_SESSION = ("cursor", "opencode", "vscode")

_OF_OURS = "cognee-memory-model"  # ``bridge.settings.OWN_MODEL_FOLDER``

_PAUSE_SECONDS = 1800
_MOST_FOLDERS = 64  # the session's and those above it, in which a workspace is looked for


class NotNow(Exception):
    """There is nothing to do; its message is the reason, as a sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Do what the tool's event asks for. Returns 0."""
    arguments = sys.argv[1:] if arguments is None else arguments
    config = _option(arguments, "--config")
    tool = _option(arguments, "--tool")
    began = time.monotonic()
    turn = _limited(config, tool)
    answer = ""
    try:
        said = _event(arguments)
        what, answer = _carried_out(tool, said, config)
    except NotNow as why:
        what = str(why)
    except Exception as error:
        what = f"{FAILED}: {type(error).__name__}: {str(error).rstrip('.')}."
    turn.acquire()
    if answer:
        sys.stdout.write(answer)
        sys.stdout.flush()
    if what:
        _log(config, f"{tool or '?'}: {what} ({(time.monotonic() - began) * 1000:.0f} ms)")
    return 0


def _limited(config: str, tool: str) -> _thread.LockType:
    """Ends the process when the time is over, whatever it waits for: a database, a file system, git. Who takes the
    returned lock first answers, or ends without an answer, so that no half answer is printed."""
    turn = _thread.allocate_lock()

    def end() -> None:
        time.sleep(_MOST_SECONDS)
        if turn.acquire(blocking=False):
            _log(config, f"{tool or '?'}: {FAILED}: it took longer than {_MOST_SECONDS:.0f} s.")
            os._exit(0)

    _thread.start_new_thread(end, ())
    return turn


def _option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1] if name in arguments[:-1] else ""


def _event(arguments: list[str]) -> dict[str, Any]:
    """The event: the last argument if that is JSON, else standard input."""
    last = arguments[-1] if arguments else ""
    text = last if last.startswith("{") else _input()
    try:
        said = json.loads(text)
    except ValueError as error:
        raise NotNow("What the tool said is no JSON.") from error
    if not isinstance(said, dict):
        raise NotNow("What the tool said is no JSON object.")
    return said


def _input() -> str:
    """Standard input until its end, for a limited time and size: a tool may leave it open."""
    import select

    if sys.stdin is None or sys.stdin.isatty():
        raise NotNow("The tool said nothing.")
    descriptor, data, deadline = sys.stdin.fileno(), b"", time.monotonic() + _INPUT_SECONDS
    while len(data) < _MOST_INPUT:
        if os.name != "nt" and not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        part = os.read(descriptor, 65536)
        if not part:
            break
        data += part
    return data.decode("utf-8", "replace")


def _carried_out(tool: str, said: dict[str, Any], config: str) -> tuple[str, str]:
    """Do it. Returns what was done, as a sentence, and what is to be printed."""
    folder = _folder(said)
    workspace = _workspace(folder)
    owner, recall = _enabled(workspace, tool, config)
    event = _first(said, _EVENT) or "session_end"
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    if moment := _moment(event, said):
        if moment not in recall:
            raise NotNow(f"{event}: notes for {moment} are not enabled for {tool} in {workspace}.")
        about = {"tool": tool, "session": _first(said, _SESSION), "moment": moment}
        return _at_the_moment(workspace, folder, said, event, about, (config, owner))
    opened = _opened(workspace, config)
    if event in _BEGINNING:
        about = {"tool": tool, "session": _first(said, _SESSION), "moment": "start"}
        return _notes(opened, folder, event, about, (config, owner) if recall else None)
    session = "" if tool in _NAMES_NO_SESSION else _first(said, _SESSION)
    if not session and tool not in _NAMES_NO_SESSION:
        raise NotNow("The tool named no session.")
    name = _drop(workspace, tool, session, _first(said, ("transcript_path",)), event)
    return f"{event}: the job {name} was dropped in {workspace}." if name else f"{event}: that job waits already.", ""


def _moment(event: str, said: dict[str, Any]) -> str:
    """The moment at which notes may fit, of ``consent.MOMENTS``; empty for any other event."""
    if event in _BEFORE_ANSWER:
        return "prompts"
    is_command = event in _AFTER_A_TOOL and said.get("tool_name") in ("run_shell_command", "bash")
    return "failures" if is_command or event in _AFTER_A_COMMAND else "files" if event in _OF_A_FILE else ""


def _first(said: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first of these values that the tool gave, as text."""
    return next((str(said[name]) for name in names if said.get(name)), "")


def _folder(said: dict[str, Any]) -> str:
    """The folder of the session."""
    roots = said.get("workspace_roots")
    root = str(roots[0]) if isinstance(roots, list) and roots else ""
    return _first(said, ("cwd",)) or root or os.getcwd()


def _workspace(folder: str) -> str:
    """The nearest folder with a memory, from this one upwards. None is created."""
    if os.path.basename(os.path.realpath(folder)) == _OF_OURS:
        raise NotNow("The tool summarises for the capture itself.")
    for path in _upwards(folder):
        if os.path.isfile(os.path.join(path, ".cognee_jobs", ".owner")):
            return path
    raise NotNow(f"There is no memory in {folder} or above it.")


def _upwards(folder: str) -> Iterator[str]:
    """A folder and those above it."""
    path = os.path.realpath(folder)
    for _ in range(_MOST_FOLDERS):
        yield path
        former, path = path, os.path.dirname(path)
        if path == former:
            return


def _opened(workspace: str, config: str) -> Workspace:
    """The workspace, once it is known to be this user's. Raises JobError: WORKSPACE_NOT_TRUSTED."""
    from pathlib import Path

    from bridge import trust
    from jobs.layout import Workspace

    opened = Workspace(Path(workspace))
    trust.require_trusted(opened, Path(config))
    return opened


def _enabled(workspace: str, tool: str, config: str) -> tuple[str, list[str]]:
    """The workspace's owner id, and the moments at which the tool may be shown notes, as ``bridge/capture/consent``
    says: a look that imports nothing, for the many sessions in other folders. Raises NotNow unless a mark of this user
    is there and the tool is enabled."""
    try:
        with open(os.path.join(workspace, ".cognee_jobs", ".owner"), encoding="ascii") as file:
            owner = file.read(64).strip()
        is_id = len(owner) == 32 and all(digit in "0123456789abcdef" for digit in owner)
        if is_id and os.path.isfile(os.path.join(config, "workspaces", f"{owner}.json")):
            with open(os.path.join(config, "captures", f"{owner}.json"), encoding="utf-8") as file:
                entry = json.load(file)
            folders = (workspace, os.path.join(workspace, ".cognee_jobs"))
            if tool in entry["tools"] and entry["folder"] == [os.stat(folder).st_ino for folder in folders]:
                return owner, list(entry.get("recall", {}).get(tool, ()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise NotNow(f"Capture from {tool} is not enabled for {workspace}.")


def _drop(workspace: str, tool: str, session: str, transcript: str, event: str) -> str:
    """Drop the job, and start a worker if none runs. Returns the job's id; empty if the same job waits already.

    The id is made of the session, the event and the transcript's state, so that a thousand calls for one make one job.
    What comes after each answer makes one job in half an hour, at its end: a session that goes on is not captured each
    time.
    """
    payload: dict[str, Any] = {"tools": [tool], "reason": event[:256]}
    if session:
        payload["session"] = session[:256]
    job: dict[str, Any] = {"schema_version": 1, "kind": "capture", "payload": payload, "submitted_by": "hook"}
    if event in _AFTER_EACH_ANSWER:
        end = (int(time.time()) // _PAUSE_SECONDS + 1) * _PAUSE_SECONDS
        state = str(end)
        job["not_before"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
    else:
        try:
            status = os.stat(transcript)
            state = f"{status.st_size}-{status.st_mtime_ns}"
        except OSError:
            state = str(time.time_ns())
    named = "".join(letter if letter in "0123456789abcdefghijklmnopqrstuvwxyz" else "-" for letter in session.lower())
    checksum = zlib.crc32("\0".join((tool, session, event, state)).encode("utf-8", "replace"))
    job_id = job["job_id"] = f"capture-{named[:40] or tool}-{checksum:08x}"
    inbox = os.path.join(workspace, ".cognee_jobs")
    target = os.path.join(inbox, f"{job_id}.json")
    if os.path.lexists(target):
        return ""
    part = os.path.join(inbox, f".{job_id}.{os.urandom(6).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, flags, 0o600)
    try:
        try:
            os.write(descriptor, json.dumps(job).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise
    _start_worker(workspace)
    return job_id


def _start_worker(workspace: str) -> None:
    """Start a worker and do not wait for it. Without the session's folder on the path of modules (-P), since anybody's
    code may be there. One that runs already, or starts at the same time, keeps this one out."""
    command = [sys.executable, "-P", "-m", "worker.cli", "worker", "start", "--workspace", workspace]
    if os.name == "nt":
        import subprocess

        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        nothing = subprocess.DEVNULL
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=flags)
        return
    nothing_in = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    nothing_out = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    actions = [nothing_in, *nothing_out]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setpgroup=0)


def _at_the_moment(
    workspace: str, folder: str, said: dict[str, Any], event: str, about: dict[str, Any], record: tuple[str, str]
) -> tuple[str, str]:
    """The notes that fit a prompt, a file or a failure, each memory once a session. Says nothing of a moment without
    any."""
    from worker.hooks import moments

    if about["moment"] == "prompts":
        asked = [{"prompt": _first(said, ("prompt",))}]
    elif about["moment"] == "failures":
        asked = [{"output": output}] if (output := moments.output_of(said)) else []
    else:
        paths = [os.path.realpath(os.path.join(folder, path)) for path in moments.files_of(said)]
        asked = [{"file": path} for path in paths if path.startswith(os.path.join(workspace, ""))]
    shown = sorted(moments.shown(*record, about["session"]))
    answer: dict[str, Any] = {"context": "", "memory_numbers": [], "total_tokens": 0}
    for each in asked:
        if not answer["context"]:
            try:
                answer = moments.ask(workspace, {**each, "shown": shown})
            except moments.NoWorker as why:
                raise NotNow(f"{event}: {why}") from why
    numbers, tokens, text = answer["memory_numbers"], answer["total_tokens"], answer["context"]
    if text or about["moment"] == "prompts":
        moments.add(*record, {**about, "memories": numbers, "tokens": tokens})
    if not text:
        return "", ""
    named = ", ".join(f"#{number}" for number in numbers)
    return f"{event}: {named} of the memory ({tokens} tokens).", _in_form(about["tool"], event, text)


def _notes(
    workspace: Workspace, folder: str, event: str, about: dict[str, Any], record: tuple[str, str] | None
) -> tuple[str, str]:
    """The notes with which a session begins; what they show is recorded if there may be others later."""
    import site

    site.main()  # only this needs installed packages, and -S has left them out

    from bridge.search import following
    from bridge.search.session_start import numbers_in, session_start
    from jobs import clock
    from worker.wording import counted

    lacks = following.note(workspace, clock.now(), catch_up_seconds=_CATCH_UP_SECONDS)
    text = session_start(workspace, _branch(folder))
    if record is not None:
        from worker.hooks import moments

        moments.wake(str(workspace.root))
        moments.add(*record, {**about, "memories": numbers_in(text)})
    if not text:
        return "SessionStart: there is nothing to recall.", ""
    if lacks is not None:
        text += f"\n{lacks}\n"
    shown = counted(text.count("\n> "), "note")
    return f"SessionStart: printed: {shown}.", _in_form(about["tool"], event, text)


def _in_form(tool: str, event: str, text: str) -> str:
    """The notes as the tool reads them."""
    if tool == "opencode":  # our own plugin there
        return text
    if tool == "cursor":
        return json.dumps({"additional_context": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def _branch(folder: str) -> str | None:
    """The checked out branch, read from git's files; None outside of a repository, or without a branch."""
    for path in _upwards(folder):
        git = os.path.join(path, ".git")
        try:
            if os.path.isfile(git):  # a linked worktree
                with open(git, encoding="utf-8") as file:
                    git = os.path.join(path, file.read(4096).strip().removeprefix("gitdir:").strip())
            with open(os.path.join(git, "HEAD"), encoding="utf-8") as file:
                head = file.read(1024).strip()
            return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None
        except OSError:
            pass
    return None


def _log(config: str, line: str) -> None:
    """Append a line to the log. Raises nothing."""
    try:
        path = os.path.join(config, LOG)
        if os.path.exists(path) and os.path.getsize(path) > _MOST_LOG:
            os.replace(path, f"{path}.1")
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{when} {' '.join(line.split())}\n")
    except OSError:
        pass


if __name__ == "__main__":
    sys.exit(main())
