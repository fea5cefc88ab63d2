"""A tool's own command line as the model of captures: what it is given, what comes of its answer, and of its failure.

With a real worker. The program is a script of this test on the ``PATH``, in the place of ``claude`` and the others: it
notes how it was called, and prints what ``answers`` holds, in the forms that the real programs printed.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness import Place, until
from transcript_shelf import claude_session

from bridge.capture.model_summary import ModelSummary
from bridge.graph import tool_model
from bridge.graph.tool_model import TOOLS
from bridge.settings import OWN_MODEL_FOLDER

SECRET = "ghp_" + "a1B2" * 9
TALK = (
    ("user", f"Let's try uploads five times. My token is {SECRET}. <private>I may quit in May.</private>"),
    ("assistant", "Done. Uploads are now tried five times, with full jitter."),
)
SUMMARY = {
    "title": "Retries of uploads",
    "request": "Uploads should survive a short failure.",
    "decided": [{"text": "Uploads are tried five times.", "quote": "try uploads five times"},
                {"text": "Uploads go to Berlin.", "quote": "we decided to upload to Berlin"}],
}  # fmt: skip
PROGRAM = """#!{python}
import json, os, pathlib, sys, time
box = pathlib.Path({box!r})
call = {{"arguments": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd(), "around": os.listdir("."),
         "files": [path.read_text() for path in pathlib.Path("../{folder}-files").glob("*")],
         "input": sys.stdin.read()}}
with (box / "calls").open("a") as file:
    file.write(json.dumps(call) + "\\n")
said = json.loads((box / "answer").read_text())
if "beside" in said:
    import subprocess
    beside = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (box / "beside").write_text(str(beside.pid))
    time.sleep(600)
print(said.get("output", ""))
print(said.get("complaint", ""), file=sys.stderr)
sys.exit(said.get("status", 0))
"""


def of_claude(text: str) -> str:
    usage = {"input_tokens": 900, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 100, "output_tokens": 50}
    return json.dumps(
        {"type": "result", "is_error": False, "result": text, "usage": usage, "total_cost_usd": 0.0021, "num_turns": 1}
    )


def of_codex(text: str) -> str:
    events = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "error", "message": "Model metadata not found."}},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": text}},
        {"type": "turn.completed", "usage": {"input_tokens": 1000, "cached_input_tokens": 0, "output_tokens": 50}},
    ]
    return "\n".join(map(json.dumps, events))


def of_gemini(text: str) -> str:
    tokens = {"input": 1000, "prompt": 1000, "candidates": 40, "total": 1050, "cached": 0, "thoughts": 10, "tool": 0}
    stats = {"models": {"flash": {"api": {"totalRequests": 1}, "tokens": tokens}}}
    return json.dumps({"session_id": "s", "response": text, "stats": stats}, indent=2)


def of_opencode(text: str) -> str:
    tokens = {"total": 1050, "input": 900, "output": 50, "reasoning": 0, "cache": {"write": 0, "read": 100}}
    events = [
        {"type": "step_start", "part": {"type": "step-start"}},
        {"type": "text", "part": {"type": "text", "text": text}},
        {"type": "step_finish", "part": {"type": "step-finish", "reason": "stop", "tokens": tokens, "cost": 0.0021}},
    ]
    return "\n".join(map(json.dumps, events))


ANSWERS = {"claude-code": of_claude, "codex": of_codex, "gemini-cli": of_gemini, "opencode": of_opencode}


class OwnPlace(Place):
    """A workspace of a home in which the four programs are scripts."""

    def __init__(self, base: Path, **more: str) -> None:
        programs = base / "bin"
        programs.mkdir()
        self.box = base / "box"
        self.box.mkdir()
        for tool in TOOLS.values():
            path = programs / tool.program
            path.write_text(PROGRAM.format(python=sys.executable, box=str(self.box), folder=OWN_MODEL_FOLDER), "utf-8")
            path.chmod(0o755)
        path_of = os.pathsep.join([str(programs), os.environ["PATH"]])
        super().__init__(base, HOME=str(base / "home"), PATH=path_of, **more)
        self.environment.pop("CLAUDE_CONFIG_DIR", None)
        self._numbers = count(1)
        self.reset()

    def reset(self) -> None:
        (self.box / "calls").unlink(missing_ok=True)
        self.answer(output=of_claude(json.dumps(SUMMARY)))

    def answer(self, **said: Any) -> None:
        (self.box / "answer").write_text(json.dumps(said), "utf-8")

    def ended(self, job_id: str) -> dict[str, Any] | None:
        """The job's result; None while it has none."""
        record = self.record(job_id)
        return record.result if record and record.state == "succeeded" else None  # type: ignore[return-value]

    def calls(self) -> list[dict[str, Any]]:
        path = self.box / "calls"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def session(self) -> str:
        """A transcript of Claude Code, whose words no other session has. Returns the session's id."""
        number = next(self._numbers)
        return claude_session(self, [(who, f"{what} It is session {number}.") for who, what in TALK], number, number)

    def captured(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The result of the capture of a new session, and the memory that it made."""
        result = self.json("capture", "run", "--session", self.session())["result"]
        (item,) = result["items"]
        (kept,) = item["memories"]
        memory: dict[str, Any] = self.json("memories", "show", str(kept["memory_number"]))["memory"]
        return result, memory


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnPlace]:
    place = OwnPlace(tmp_path_factory.mktemp("own"))
    of_the_tool = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/", "CLAUDECODE": "1", "PWD": "/"}
    place.environment |= {**of_the_tool, "LLM_API_KEY": "of-ours"}
    place.json("capture", "enable", "claude-code", "--summaries", "own")
    with place.worker():
        yield place


@pytest.fixture
def place(running: OwnPlace) -> OwnPlace:
    running.reset()
    return running


def test_an_enabled_tool_summarises_its_own_sessions_and_only_what_its_transcript_has_is_kept(place: OwnPlace) -> None:
    preview = place.json("capture", "preview", "--session", place.session())["result"]
    assert (preview["model_calls"], place.calls()) == (1, []), "a preview asks nothing"
    assert 500 < preview["model_tokens"] < 3000
    result, memory = place.captured()
    assert "Uploads are tried five times." in memory["summary_text"]
    assert "Berlin" not in memory["summary_text"]
    assert memory["captured_from"]["method"] == "model"
    assert [result[f"model_{name}"] for name in ("calls", "tokens", "cost_usd")] == [1, 1050, 0.0021]
    (call,) = place.calls()
    assert "try uploads five times" in call["input"]
    assert [word in json.dumps(call) for word in (SECRET, "quit in May", "of-ours")] == [False] * 3
    status = place.cli("capture", "status").stdout
    assert re.search(r"Language models today, in this workspace: [\d,]+ calls?, [\d,]+ tokens \(\$0\.0\d+\)\.", status)
    assert "own" in next(line for line in status.splitlines() if line.startswith("claude-code"))
    assert "claude-code (summarised by itself)" in place.cli("doctor", check=False).stdout


def test_the_program_runs_in_an_empty_folder_as_the_person_would_run_it(place: OwnPlace) -> None:
    place.captured()
    (call,) = place.calls()
    environment = call["environment"]
    assert (Path(call["folder"]).name, call["around"]) == (OWN_MODEL_FOLDER, [])
    assert environment["PWD"] == call["folder"]
    assert environment["HOME"] == place.environment["HOME"], "where its sign-in is, not the child's own home"
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9/"
    assert "CLAUDECODE" not in environment, "it is no part of the session that started the worker"
    assert not [name for name in environment if name.startswith(("COGNEE_", "LLM_"))]
    assert ("--safe-mode" in call["arguments"], "--no-session-persistence" in call["arguments"]) == (True, True)
    assert call["arguments"][call["arguments"].index("--tools") + 1] == ""
    assert call["arguments"][-2:] == ["--model", "haiku"]


@pytest.mark.parametrize("tool", ANSWERS)
def test_the_answer_of_each_tool_is_read(tool: str, tmp_path: Path) -> None:
    place = OwnPlace(tmp_path)
    place.answer(output=ANSWERS[tool](f"```json\n{json.dumps(SUMMARY)}\n```"), complaint="Warning: no 256 colours")
    spent: list[Any] = []
    meter = SimpleNamespace(
        settings=SimpleNamespace(config_folder=tmp_path / "config", redact_secrets=True, llm_timeout_seconds=60.0),
        begin=lambda estimate: estimate, end=lambda call, *numbers: spent.append(numbers),
    )  # fmt: skip
    config = tmp_path / "home" / ".codex" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[mcp_servers.tickets]\ncommand = "tickets"\n', "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        place.as_ours(patch)
        found = tool_model.ask(meter, tool, "small", "Summarise.", "1. Person: …", ModelSummary)  # type: ignore[arg-type]
    assert (found.title, spent[0][:2]) == ("Retries of uploads", (1000, 50))
    (call,) = place.calls()
    told = json.dumps([call["arguments"], call["files"], call["environment"].get("OPENCODE_CONFIG_CONTENT")])
    assert "Summarise." in told
    assert call["arguments"][-2:] == ["--model", "small"]
    off = {
        "claude-code": "--strict-mcp-config", "codex": "mcp_servers.tickets.enabled=false", "gemini-cli": "hooksConfig",
        "opencode": "deny",
    }  # fmt: skip
    assert off[tool] in told


PROGRAM_FAILS = [
    ({"output": json.dumps({"is_error": True, "result": "Not logged in · Please run /login"}), "status": 1},
     "LLM_KEY_REFUSED", 1),
    ({"output": json.dumps({"is_error": True, "result": "API Error: ECONNREFUSED"}), "status": 1},
     "LLM_UNREACHABLE", 1),
    ({"complaint": "error: unknown option '--safe-mode'", "status": 1}, "LLM_FAILED", 1),
    ({"output": of_claude("I would rather talk about bananas.")}, "LLM_FAILED", 2),
    ({"output": json.dumps({"is_error": True, "result": "Claude usage limit reached"}), "status": 1},
     "RATE_LIMITED", 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "code", "calls"), PROGRAM_FAILS, ids=["not signed in", "offline", "an old version", "no JSON", "limit"]
)
def test_where_it_fails_the_rules_summarise(place: OwnPlace, said: dict[str, Any], code: str, calls: int) -> None:
    """The result says why the program failed."""
    place.answer(**said)
    result, memory = place.captured()
    assert memory["captured_from"]["method"] == "rules"
    assert "Let's try uploads five times" in memory["summary_text"]
    (warning,) = result["warnings"]
    assert (code in warning, "Rules did" in warning) == (True, True)
    counted = calls if code == "LLM_FAILED" else 0  # a call that was not served costs nothing
    assert (len(place.calls()), result["model_calls"]) == (calls, counted)


def test_a_program_that_hangs_ends_with_its_children_and_others_are_served(tmp_path: Path) -> None:
    place = OwnPlace(tmp_path, COGNEE_MEMORY_LLM_TIMEOUT_SECONDS="3")
    place.json("capture", "enable", "claude-code", "--summaries", "own")
    place.answer(beside=True)
    place.session()
    place.session()
    with place.worker():
        job = place.json("capture", "run", "--no-wait")["job_id"]
        until(lambda: (place.box / "beside").exists(), "the program runs")
        note = place.json("ingest", "--wait", "--topic", "Queue", "--context", "Stored while the capture waits.")
        assert (note["state"], place.ended(job)) == ("succeeded", None)
        result = until(lambda: place.ended(job), "the capture ends")
    assert [warning for warning in result["warnings"] if "LLM_TIMEOUT" in warning and "for the rest" in warning]
    assert (result["captured"], len(place.calls())) == (2, 1), "after that, nobody waits for it again"
    process = Path("/proc", (place.box / "beside").read_text(), "cmdline")
    until(lambda: not process.exists() or not process.read_bytes(), "what it started is ended")


def test_the_tool_writes_a_compactions_narrative_where_the_settings_name_it(tmp_path: Path) -> None:
    place = OwnPlace(tmp_path, COGNEE_MEMORY_LLM_TOOL="claude-code")
    prose = "The team first weighed several stores for the queue, and then kept to one file on this machine."
    place.answer(output=of_claude(json.dumps({"paragraphs": [prose], "verdicts": []})))
    with place.worker():
        for number in range(5):
            place.json("ingest", "--wait", "--topic", "Queue", "--context", f"Store {number} of the queue was weighed.")
        assert prose in json.dumps(place.json("compact", "queue", "--preview")["result"])
        assert {call["arguments"][0] for call in place.calls()} == {"-p"}
        assert "It is the command line of claude-code." in place.cli("doctor", check=False).stdout
        assert place.json("worker", "status")["worker"]["heartbeat"]["llm_configured"] is True


def test_nothing_is_asked_without_consent(place: OwnPlace) -> None:
    place.json("capture", "enable", "claude-code", "--summaries", "rules")
    try:
        assert place.captured()[1]["captured_from"]["method"] == "rules"
        assert {each["summaries"] for each in place.json("capture", "status")["tools"]} == {"rules"}
    finally:
        place.json("capture", "enable", "claude-code", "--summaries", "own")
    assert place.calls() == []


CANNOT_SUMMARISE = [
    (("vscode", "--summaries", "own"), "vscode has no command line that could summarise"),
    (("claude-code", "--model", "haiku"), "--model goes with --summaries own"),
]


@pytest.mark.parametrize(("arguments", "why"), CANNOT_SUMMARISE)
def test_a_non_summariser_is_refused(tmp_path: Path, arguments: tuple[str, ...], why: str) -> None:
    refused = OwnPlace(tmp_path).cli("capture", "enable", *arguments, check=False)
    assert (refused.returncode, why in refused.stderr) == (2, True)


def test_a_program_that_is_not_there_is_refused_when_it_is_enabled(tmp_path: Path) -> None:
    place = OwnPlace(tmp_path)
    (tmp_path / "bin" / "gemini").unlink()
    place.environment["PATH"] = str(tmp_path / "bin")
    refused = place.cli("capture", "enable", "gemini-cli", "--summaries", "own", check=False)
    assert "LLM_CONFIG: gemini is not on the PATH." in " ".join(refused.stderr.split())
