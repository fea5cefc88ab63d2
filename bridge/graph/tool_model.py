"""The command line of a coding tool as the language model: a program that the person has, and is signed in to.

Each call is a process of its own. It runs in an empty folder, without tools, hooks, MCP servers and the instructions of
any project, gets the question on standard input, and keeps no session where the tool can do without. By the folder's
name, readers of transcripts and our hook know such a session, and leave it alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jobs import files
from jobs.errors import JobError

from ..privacy import redaction
from ..settings import OF_TOOLS, OWN_MODEL_FOLDER, USER_HOME, inherited_environment
from ..slices import SLICE_SECONDS
from .llm_budget import Meter

if TYPE_CHECKING:
    from pydantic import BaseModel

Shape = TypeVar("Shape", bound="BaseModel")

_FILES = f"{OWN_MODEL_FOLDER}-files"  # beside it
_MOST_ANSWERS = 2  # per question: the first, and one more after an answer of the wrong form
_BYTES_PER_TOKEN = 4  # in English; used where the tool reports no number
_MOST_REASON = 200  # characters of what a tool says of its failure

# Never passed on: our settings and keys, and what would make a tool take itself for a part of another session.
_OURS = ("COGNEE_", "LLM_", "EMBEDDING_", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT",
         "CLAUDE_CODE_SESSION", "CODEX_SANDBOX", "CODEX_THREAD", "GEMINI_CLI_IDE_", "OPENCODE_CONFIG_CONTENT",
         "OPENCODE_SERVER_")  # fmt: skip
_NOT_SIGNED_IN = re.compile(
    r"log ?in|sign ?in|\b40[13]\b|unauthori[sz]ed|api.?key|credential|authenticat", re.IGNORECASE
)
_UNREACHABLE = re.compile(r"connect|network|econn|enotfound|sending request", re.IGNORECASE)
_LATER = re.compile(r"\b429\b|rate.?limit|usage limit|quota|hit your limit", re.IGNORECASE)
_NOT_SERVED = ("LLM_CONFIG", "LLM_KEY_REFUSED", "LLM_UNREACHABLE", "RATE_LIMITED")  # nothing was spent
_LONGER = "Try it in a terminal, or raise COGNEE_MEMORY_LLM_TIMEOUT_SECONDS."
_UNPROTECTED = "Skipping system settings file"  # Gemini CLI, of a file that others could change


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool printed: the model's text, the tokens and the cost that it reports, and why it failed, if so."""

    text: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int = 0
    cost_usd: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool's arguments are made of: the instruction, as text and as a file, the tool's settings file, and the
    environment of the process."""

    system: str
    system_file: str
    settings_file: str
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's row: its program and arguments, how its output is read, and what it finds in its environment.

    ``model``: the model that it takes unless somebody names another; None: the one of its own settings. ``settings``:
    the content of its settings file. ``overhead``: about how many tokens it adds to a question.
    """

    program: str
    arguments: Callable[[Call], Iterable[str]]
    read: Callable[[str], Answer]
    overhead: int
    model: str | None = None
    environment: Callable[[Call], Mapping[str, str]] = lambda call: {}
    settings: Mapping[str, Any] = field(default_factory=dict)


def _of_claude(printed: str) -> Answer:
    said = _objects(printed)[-1]
    usage, result = said.get("usage", {}), str(said.get("result", ""))
    if said.get("is_error"):
        return Answer(reason=result)
    asked = sum(usage.get(f"{name}input_tokens") or 0 for name in ("", "cache_creation_", "cache_read_"))
    return Answer(result, asked, usage.get("output_tokens") or 0, said.get("total_cost_usd"))


def _of_codex(printed: str) -> Answer:
    text, reason, usage = "", "", dict[str, Any]()
    for event in _objects(printed):
        item = event.get("item", {})
        text = item["text"] if item.get("type") == "agent_message" else text
        usage = event.get("usage") or usage
        if event.get("type") in ("error", "turn.failed"):
            reason = str(event.get("message") or event.get("error", {}).get("message", ""))
    return Answer(text, usage.get("input_tokens"), usage.get("output_tokens") or 0, reason="" if text else reason)


def _of_gemini(printed: str) -> Answer:
    said = _objects(printed)[-1]
    if "error" in said:
        return Answer(reason=str(said["error"].get("message", "")))
    spent = [model["tokens"] for model in said.get("stats", {}).get("models", {}).values()]
    asked = sum(each.get("prompt", 0) for each in spent)
    return Answer(str(said["response"]), asked, sum(each.get("total", 0) for each in spent) - asked)


def _of_opencode(printed: str) -> Answer:
    text, reason, asked, answered, cost = "", "", 0, 0, 0.0
    for event in _objects(printed):
        part = event.get("part", {})
        text += part.get("text", "") if part.get("type") == "text" else ""
        if tokens := part.get("tokens"):
            cached = tokens.get("cache", {})
            asked += tokens["input"] + cached.get("read", 0) + cached.get("write", 0)
            answered += tokens["output"] + tokens.get("reasoning", 0)
            cost += part.get("cost") or 0
        if event.get("type") == "error":
            error = event.get("error", {})
            reason = str(error.get("data", {}).get("message") or error.get("name", ""))
    return Answer(text, asked or None, answered, cost or None, reason)


def _objects(printed: str) -> list[dict[str, Any]]:
    """The JSON objects among what was printed: one over several lines, or one a line. Raises ValueError without any."""
    start = printed.find("{")
    try:
        found = [json.loads(printed[start:])] if start >= 0 else []
    except ValueError:
        found = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    if not found:
        raise ValueError("no JSON")
    return [each for each in found if isinstance(each, dict)]


def _codex_arguments(call: Call) -> Iterator[str]:
    yield from ("exec", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only", "--json", "--color", "never")
    for setting in (f"model_instructions_file={call.system_file}", *_CODEX_OFF, *_mcp_servers_off(call.environment)):
        yield from ("-c", setting)


# Its newest models are still offered functions, which reach neither files nor the network.
_CODEX_OFF = (
    *(f"features.{name}=false" for name in ("hooks", "plugins", "apps", "multi_agent", "goals", "shell_tool",
                                            "unified_exec", "view_image", "sleep_tool",
                                            "unbounded_connection_retries")),
    *(f"include_{name}=false" for name in ("environment_context", "permissions_instructions",
                                           "collaboration_mode_instructions")),
    "agents.enabled=false", "tools.experimental_request_user_input.enabled=false", 'web_search="disabled"',
    "skills.include_instructions=false", "project_doc_max_bytes=0", "notify=[]", 'developer_instructions=""',
    'model_reasoning_effort="low"',
)  # fmt: skip


def _mcp_servers_off(environment: Mapping[str, str]) -> list[str]:
    """What switches off the MCP servers of Codex's own settings: it takes them by name alone."""
    home = Path(environment.get("CODEX_HOME") or Path(environment.get("HOME", ""), ".codex"))
    try:
        named = tomllib.loads((home / "config.toml").read_text("utf-8")).get("mcp_servers", {})
    except (OSError, ValueError):
        return []
    return [f"mcp_servers.{name}.enabled=false" for name in named]


def _opencode_settings(call: Call) -> str:
    agent = {"mode": "primary", "prompt": call.system, "permission": {"*": "deny"}}
    return json.dumps({"share": "disabled", "autoupdate": False, "agent": {OWN_MODEL_FOLDER: agent}})


TOOLS = {
    "claude-code": Tool(
        "claude",
        lambda call: ("-p", "--safe-mode", "--tools", "", "--strict-mcp-config", "--disable-slash-commands",
                      "--no-session-persistence", "--output-format", "json", "--system-prompt", call.system),
        _of_claude, 450, model="haiku", environment=lambda call: {"CLAUDE_CODE_MAX_RETRIES": "2"},
    ),
    "codex": Tool("codex", _codex_arguments, _of_codex, 3000),
    "gemini-cli": Tool(
        "gemini",
        lambda call: ("--skip-trust", "--extensions", "none", "--allowed-mcp-server-names", "none",
                      "--output-format", "json", "--prompt", ""),
        _of_gemini, 350, model="flash",
        environment=lambda call: {"GEMINI_SYSTEM_MD": call.system_file,
                                  "GEMINI_CLI_SYSTEM_SETTINGS_PATH": call.settings_file},
        settings={
            "hooksConfig": {"enabled": False}, "tools": {"core": ["none"]}, "mcp": {"allowed": ["none"]},
            "skills": {"enabled": False}, "context": {"fileName": "none.md", "includeDirectoryTree": False},
            "general": {"enableAutoUpdate": False, "maxAttempts": 2},
        },
    ),
    "opencode": Tool(
        "opencode",
        lambda call: ("run", "--pure", "--agent", OWN_MODEL_FOLDER, "--title", OWN_MODEL_FOLDER, "--format", "json"),
        _of_opencode, 150,
        environment=lambda call: {
            "OPENCODE_CONFIG_CONTENT": _opencode_settings(call), "OPENCODE_DB": ":memory:",
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        },
    ),
}  # fmt: skip


def require(tool: str) -> str:
    """The path of the tool's program. Raises JobError: LLM_CONFIG where the ``PATH`` of this process has none."""
    program = TOOLS[tool].program
    path = shutil.which(program, path=_environment().get("PATH"))
    if path is None or not Path(path).is_absolute():
        fix = f"Put {program} on the PATH of the worker and restart it: cognee-memory worker restart."
        raise JobError("LLM_CONFIG", f"{program} is not on the PATH.", remediation=fix)
    return path


def ask(
    meter: Meter,
    tool: str,
    model: str | None,
    system: str,
    user: str,
    shape: type[Shape],
    pause: Callable[[], None] = lambda: None,
) -> Shape:
    """The answer of the tool's model, in the form ``shape``. While it waits, it calls ``pause`` twice a second; other
    jobs may run in there. Secrets in ``user`` and in the answer are replaced.

    Raises JobError: LLM_CONFIG, LLM_KEY_REFUSED, LLM_UNREACHABLE, LLM_TIMEOUT, LLM_FAILED, LLM_BUDGET_SPENT,
    RATE_LIMITED.
    """
    from pydantic import ValidationError  # not at the top: commands that only look at the table do not need it

    redacts = meter.settings.redact_secrets
    form = json.dumps(shape.model_json_schema())
    system = f"{system}\nAnswer with one JSON object that fits this JSON schema, and with nothing else:\n{form}\n"
    user = redaction.redact(user).text if redacts else user
    for _ in range(_MOST_ANSWERS):
        call = meter.begin((len(system) + len(user)) // _BYTES_PER_TOKEN)
        try:
            answer = _asked(meter, tool, model, system, user, pause)
        except JobError as error:
            if error.code in _NOT_SERVED:
                meter.take_back(call)
            meter.failure = error
            raise
        meter.end(call, answer.prompt_tokens, answer.completion_tokens, answer.cost_usd)
        text = redaction.redact(answer.text).text if redacts else answer.text
        try:
            return shape.model_validate_json(text[text.find("{") : text.rfind("}") + 1])
        except ValidationError:
            pass
    raise JobError("LLM_FAILED", f"The answer of {TOOLS[tool].program} is not of the form that was asked for, twice.")


def _asked(meter: Meter, name: str, model: str | None, system: str, user: str, pause: Callable[[], None]) -> Answer:
    tool, path, config_folder = TOOLS[name], require(name), meter.settings.config_folder
    environment = _environment() | {"PWD": str(config_folder / OWN_MODEL_FOLDER)}
    call = _prepared(config_folder, tool, system, environment)
    named = ["--model", model or tool.model or ""] if model or tool.model else []
    environment |= tool.environment(call)
    command = [path, *tool.arguments(call), *named]
    seconds = meter.settings.llm_timeout_seconds
    status, printed, complaint = _run(command, user, config_folder / OWN_MODEL_FOLDER, environment, seconds, pause)
    if _UNPROTECTED in complaint:
        message = f"{tool.program} did not take the settings that switch off its tools, since a folder above them"
        raise JobError("LLM_CONFIG", f"{message} can be written by others: {config_folder}.")
    answer = _read(tool, printed)
    if answer.text:
        return answer
    plain = (line for line in complaint.splitlines() if line.lower().startswith("error"))
    raise _failure(tool.program, status, answer.reason or _read(tool, complaint).reason or next(plain, ""))


def _read(tool: Tool, printed: str) -> Answer:
    """What the tool printed; without a text and a reason where it is of an unknown form."""
    try:
        return tool.read(printed)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Answer()


def _failure(program: str, status: int, reason: str) -> JobError:
    said = redaction.redact(" ".join(reason.split())[:_MOST_REASON]).text.rstrip(".!")
    message = f"{program} gave no answer (exit status {status}){f': {said}' if said else ''}."
    if _LATER.search(reason):
        return JobError("RATE_LIMITED", message)
    if _NOT_SIGNED_IN.search(reason):
        fix = (
            f"Run {program} in a terminal and sign in. If it takes a key from the environment, the worker must have it:"
        )
        fix += " run cognee-memory worker restart where it is set."
        return JobError("LLM_KEY_REFUSED", message, remediation=fix)
    if _UNREACHABLE.search(reason):
        return JobError("LLM_UNREACHABLE", message, remediation="Check the network.")
    return JobError("LLM_FAILED", message, remediation=f"Try it in a terminal, or update {program}.")


def _prepared(config_folder: Path, tool: Tool, system: str, environment: Mapping[str, str]) -> Call:
    """The call, with its files written, beside the empty folder in which the tool runs."""
    beside = config_folder / _FILES

    def written(content: str, ending: str) -> str:
        path = beside / f"{sha256(content.encode()).hexdigest()[:16]}{ending}"
        if not path.exists():
            files.replace(path, content.encode())
        return str(path)

    try:
        for folder in (config_folder / OWN_MODEL_FOLDER, beside):
            files.make_folder(folder, links=True)
        return Call(system, written(system, ".md"), written(json.dumps(tool.settings), ".json"), environment)
    except OSError as error:
        message = f"{error.filename or beside} cannot be written: {error.strerror}."
        raise JobError("CONFIG_UNWRITABLE", message) from error


def _environment() -> dict[str, str]:
    """The person's environment, without ours."""
    given = inherited_environment()
    kept = {name: value for name, value in given.items() if not name.startswith((*_OURS, OF_TOOLS, USER_HOME))}
    kept |= {name.removeprefix(OF_TOOLS): value for name, value in given.items() if name.startswith(OF_TOOLS)}
    return kept | ({"HOME": given[USER_HOME]} if USER_HOME in given else {})


def _run(
    command: Sequence[str],
    text: str,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    pause: Callable[[], None],
) -> tuple[int, str, str]:
    """Run it. Returns its status and what it printed on the two outputs. It is killed with its children when its time
    is over or ``pause`` raises. Raises JobError: LLM_TIMEOUT, LLM_CONFIG."""
    deadline = time.monotonic() + seconds
    given: bytes | None = text.encode()
    try:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise JobError("LLM_CONFIG", f"{command[0]} cannot be started: {error.strerror}.") from error
    with process:
        try:
            while True:
                try:
                    printed, complaint = process.communicate(given, timeout=SLICE_SECONDS)
                    return process.returncode, printed.decode("utf-8", "replace"), complaint.decode("utf-8", "replace")
                except subprocess.TimeoutExpired:
                    given = None  # it has it
                if time.monotonic() > deadline:
                    message = f"{Path(command[0]).name} gave no answer within {seconds:g} seconds."
                    raise JobError("LLM_TIMEOUT", message, remediation=_LONGER)
                pause()
        finally:
            if process.poll() is None and os.name == "nt":
                process.kill()
            elif process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
