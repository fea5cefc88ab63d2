"""Claude Code, Codex, Gemini CLI and OpenCode themselves: they call their hooks, from one session to the notes of the
next, and summarise their own sessions.

The programs are real, and talk to a model on loopback. Each is looked for in the folder ``COGNEE_MEMORY_TOOLS``, else
on the ``PATH``; where it is absent, its test is skipped.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from agent_models import AgentModels
from harness import PATIENCE, Place, until

pytestmark = pytest.mark.cognee

SEARCHED = os.pathsep.join(filter(None, (os.environ.get("COGNEE_MEMORY_TOOLS"), os.environ.get("PATH"))))
ANSWER = "We decided to keep the queue in SQLite because one file is easy to back up."
NOTES = "# Notes from earlier sessions"


@dataclass(frozen=True)
class Tool:
    name: str
    program: str
    prompt: tuple[str, ...]  # what runs one session, before its question
    settings: str  # below the home
    question: str  # which only this one is asked: how several sessions begin, notes leave out
    before: str = ""  # what the settings hold


TOOLS = (
    Tool("claude-code", "claude", ("-p",), ".claude/settings.json", "How should the importer keep its queue of jobs?"),
    # A person trusts the hooks in Codex's own screen, so a session without one has to be told that they may run.
    Tool(
        "codex", "codex", ("exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"), ".codex/config.toml",
        "Where do uploads wait that a server refused?",
        '# mine\nmodel = "test-model"\nmodel_provider = "loop"\n\n[model_providers.loop]\nname = "loop"\n'
        'base_url = "SERVER/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n',
    ),
    Tool(
        "gemini-cli", "gemini", ("-m", "gemini-2.5-flash", "-p"), ".gemini/settings.json",
        "Which store is right for the scheduled mails?",
        '// mine\n{\n    "security": { "auth": { "selectedType": "gemini-api-key" } } // a key\n}\n',
    ),
    Tool(
        "opencode", "opencode", ("run",), ".config/opencode/opencode.json",
        "What could hold the calls that we owe to others?",
        '{"$schema": "https://opencode.ai/config.json", "model": "loop/test", "small_model": "loop/test",'
        ' "autoupdate": false, "provider": {"loop": {'
        '"npm": "@ai-sdk/openai-compatible", "name": "loop", "options": {"baseURL": "SERVER/v1", "apiKey": "test-key"},'
        ' "models": {"test": {"name": "test", "limit": {"context": 100000, "output": 4000}}}}}}',
    ),
)  # fmt: skip
WITH_EACH_ANSWER = ("opencode",)  # these tell no end of a session, so their job waits for half an hour


SUMMARY = {
    "title": "The importer's queue", "request": "A queue for the importer.",
    "decided": [{"text": "The queue of the importer is kept in SQLite.", "quote": "keep its queue of jobs in SQLite"}],
}  # fmt: skip


@pytest.fixture(scope="module", params=["hooks"])
def running(request: pytest.FixtureRequest) -> Iterator[tuple[Place, AgentModels]]:
    """A worker, and the model of the tools. Gemini CLI takes no settings below a folder that others can write."""
    folder = TemporaryDirectory(prefix=request.param, dir=Path.home(), ignore_cleanup_errors=True)
    base = Path(folder.name)
    place = Place(base, HOME=str(base / "home"), PATH=SEARCHED)
    foreign = ("CLAUDE", "ANTHROPIC", "CODEX", "OPENAI", "GEMINI", "GOOGLE", "OPENCODE", "XDG_")
    place.environment = {name: value for name, value in place.environment.items() if not name.startswith(foreign)}
    with folder, AgentModels(ANSWER).running() as server:
        place.environment |= {
            "PWD": str(place.workspace.root),  # which OpenCode takes for the folder
            "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "test-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
            "OPENAI_API_KEY": "test-key",
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "GOOGLE_GEMINI_BASE_URL": server.url, "GEMINI_API_KEY": "test-key", "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }  # fmt: skip
        with place.worker():
            yield place, server


def set_up(tool: Tool, place: Place, url: str) -> tuple[str, Path]:
    """The tool's program, and its settings as somebody has them. Skips the test without the program."""
    program = shutil.which(tool.program, path=SEARCHED)
    if program is None:
        pytest.skip(f"{tool.program} is neither in the folder COGNEE_MEMORY_TOOLS nor on the PATH")
    settings = Path(place.environment["HOME"]) / tool.settings
    settings.parent.mkdir(parents=True, exist_ok=True)
    if tool.before:
        settings.write_bytes(tool.before.replace("SERVER", url).encode())
    return program, settings


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_session_is_captured_by_itself_and_begins_the_next(tool: Tool, running: tuple[Place, AgentModels]) -> None:
    place, server = running
    program, settings = set_up(tool, place, server.url)
    before = settings.read_bytes() if settings.exists() else b""
    assert any(each["changed"] for each in place.json("capture", "install", tool.name, "--yes")["files"])

    def session(question: str) -> None:
        done = subprocess.run(
            [program, *tool.prompt, question], env=place.environment, cwd=place.workspace.root,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert ANSWER in done.stdout, done.stdout + done.stderr

    def captured() -> list[dict[str, object]]:
        if tool.name in WITH_EACH_ANSWER:
            place.json("capture", "run", "--tool", tool.name)
        found = place.json("capture", "list")["sessions"]
        return [each for each in found if each["tool"] == tool.name and each["memories"]]

    session(f"{tool.question} ({tool.name})")
    until(lambda: len(captured()) == 1, "the session is captured")
    memories = place.json("memories", "list")["memories"]
    assert [memory["title"] for memory in memories if tool.name in json.dumps(memory)], memories
    session("What did we decide on that queue?")
    asked = next(request for request in reversed(server.requests) if "What did we decide" in request)
    assert NOTES in asked
    assert tool.question in asked.partition(NOTES)[2]
    until(lambda: len(captured()) == 2, "the second session is captured, without the notes as words of anybody")
    assert NOTES not in place.cli("capture", "preview", "--tool", tool.name, "--text").stdout
    for memory in place.json("memories", "list")["memories"]:
        assert "Notes from earlier" not in place.cli("memories", "show", memory["memory_id"]).stdout
    for each in place.json("capture", "uninstall", tool.name)["files"]:
        path = Path(each["path"])
        assert not path.exists() or "worker/hooks/hook.py" not in path.read_text("utf-8")
    assert (settings.read_bytes() if settings.exists() else b"") == before


@pytest.mark.parametrize("running", ["summaries"], indirect=True)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_summarises_its_session_without_tools_or_trace(tool: Tool, running: tuple[Place, AgentModels]) -> None:
    place, server = running
    program, _ = set_up(tool, place, server.url)
    (place.workspace.root / "AGENTS.md").write_text("Talk like a pirate.", "utf-8")
    asked = f"Let's have the importer keep its queue of jobs in SQLite. ({tool.name})"
    command = [program, *(part for part in tool.prompt if "hook" not in part), asked]
    subprocess.run(
        command, env=place.environment, cwd=place.workspace.root, stdin=subprocess.DEVNULL, capture_output=True,
        check=True, timeout=PATIENCE,
    )  # fmt: skip
    server.answers["long-term memory"] = json.dumps(SUMMARY)
    before = len(server.requests)
    place.json("capture", "enable", tool.name, "--summaries", "own")
    result = place.json("capture", "run", "--tool", tool.name)["result"]
    assert (result["warnings"], result["model_calls"], result["captured"]) == ([], 1, 1)
    (request,) = [each for each in server.requests[before:] if "long-term memory" in each]
    assert (asked in request, "pirate" in request) == (True, False)
    assert json.loads(request).get("tools", []) in ([], [{"functionDeclarations": []}])
    assert place.json("capture", "run", "--tool", tool.name)["result"]["captured"] == 0
    (item,) = result["items"]
    shown = place.json("memories", "show", item["memories"][0]["memory_id"])["memory"]
    assert (shown["captured_from"]["method"], "kept in SQLite" in shown["summary_text"]) == ("model", True)
