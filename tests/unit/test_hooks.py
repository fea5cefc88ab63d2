"""The hooks of other tools: what they change in a tool's file, and what the program does that a tool calls."""

import io
import json
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from harness import at_once, raising
from hypothesis import given, strategies as st

from bridge import trust
from bridge.capture import consent
from bridge.settings import OWN_MODEL_FOLDER, USER_HOME, load
from bridge.store.store import Store
from jobs.errors import JobError
from jobs.kinds import CAPTURE_TOOLS
from jobs.layout import Workspace
from jobs.parse import parse_job
from worker.hooks import hook, installation, installers, json_text

ROOT = Path(__file__).resolve().parents[2]

CLAUDE_CODE, CODEX, GEMINI_CLI = installers.ClaudeCode(), installers.Codex(), installers.GeminiCli()
COMMAND = ("/opt/a python", "-P", "/opt/lib/worker/hooks/hook.py", "--config", "/home/a b/c", "--tool", "claude-code")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
HOOK = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=8)})
ENTRY = st.fixed_dictionaries(
    {"hooks": st.lists(HOOK, min_size=1, max_size=2)}, optional={"matcher": st.text(max_size=3)}
)
EVENTS = st.dictionaries(
    st.sampled_from([*CLAUDE_CODE.events, "Stop"]), st.lists(ENTRY, min_size=1, max_size=2), max_size=3
)


# --- the files of the tools ---


def test_every_tool_that_the_command_offers_has_an_installer() -> None:
    assert tuple(installers.INSTALLERS) == CAPTURE_TOOLS


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=3), EVENTS)
def test_settings_keep_all_they_had_and_lose_only_what_is_ours(others: dict[str, Any], hooks: dict[str, Any]) -> None:
    before = {name: value for name, value in others.items() if name != "hooks"} | ({"hooks": hooks} if hooks else {})
    added = CLAUDE_CODE.added(json.dumps(before), COMMAND)
    after = json.loads(added)
    for event in CLAUDE_CODE.events:
        assert after["hooks"][event][:-1] == hooks.get(event, [])
        assert "worker/hooks/hook.py" in after["hooks"][event][-1]["hooks"][0]["command"]
    assert CLAUDE_CODE.added(added, COMMAND) == added, "twice is once"
    assert json.loads(CLAUDE_CODE.removed(added)) == before


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"SessionEnd": {}}}', "// comment\n{}"])
def test_settings_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"its? "):
        CLAUDE_CODE.added(text, COMMAND)


def test_what_the_person_wrote_keeps_its_form_and_a_notification_goes_before_the_tables() -> None:
    assert '\n    "model"' in CLAUDE_CODE.added('{\n    "model": "opus"\n}\n', COMMAND)
    before = '# my model\nmodel = "o5" # fast\n\n[profiles.a]\nx = 1\n'
    added = CODEX.added(before, COMMAND)
    assert tomllib.loads(added)["notify"] == list(COMMAND)
    assert added.endswith(before)
    assert (CODEX.added(added, COMMAND), CODEX.removed(added)) == (added, before)
    assert CODEX.added('notify = ["beep"]\n', COMMAND) == 'notify = ["beep"]\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(USER_HOME, str(tmp_path / "home"))
    moved = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME")
    for name in moved:
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


OPENCODE = ".config/opencode/plugins/cognee-memory.js"
FILES = {  # what a file of a tool may hold
    ("claude-code", ".claude/settings.json"): b'{"hooks": {"Stop": []},\r\n\t"model":"x"}',
    ("codex", ".codex/config.toml"): b'#\tmine\r\nmodel="x"\r\n',
    ("codex", ".codex/hooks.json"): b'{"hooks": {"Stop": [{"hooks": []}]}}',
    ("cursor", ".cursor/hooks.json"): b'{"version":1,"hooks":{"stop":[{"command":"./a"}]}}',
    ("gemini-cli", ".gemini/settings.json"): b'{"ui":{}}',
    ("vscode", ".copilot/hooks/cognee-memory.json"): b'{ "hooks": {"Else": []} }',
    ("opencode", OPENCODE): b"",  # a file of our own: a person's change of it goes with it
}
EDITS = {".json": (b"{", b'{"new": 1, '), ".toml": (b"", b"# new\n"), ".js": (b"import", b"// new\nimport")}


@pytest.mark.parametrize(("tool", "name"), FILES)
@pytest.mark.parametrize("existed", [True, False])
@pytest.mark.parametrize("steps", ["ii", "iI", "ie", "ieI", "ieIe", "Iei", "im", "imI", "ir", "irI", "irmi", "oi"])
def test_an_uninstall_leaves_what_the_person_has_written(
    tool: str, name: str, existed: bool, steps: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After i: installing, I: with notes, o: elsewhere, e: an edit, m: a file of one's own instead, r: removing it."""
    path, config, left = home / name, tmp_path / "config", FILES[tool, name] if existed else None
    path.parent.mkdir(parents=True)
    if left is not None:
        path.write_bytes(left)
        path.chmod(0o640)
    for step in steps:
        if step in "iIo":
            monkeypatch.setenv(USER_HOME, str(tmp_path / "other" if step == "o" else home))
            moments = installers.moments_of(tool) if step == "I" else ()
            installers.write(tool, installers.install(tool, config, moments), config)
        elif step == "e":
            path.write_bytes(path.read_bytes().replace(*EDITS[path.suffix], 1))
            left = left and left.replace(*EDITS[path.suffix], 1)
        else:
            left = (b'{"mine":1}' if path.suffix == ".json" else b"") if step == "m" else None
            path.unlink(missing_ok=True)
            if left is not None:
                path.write_bytes(left)
    assert steps[-1] in "mr" or b"worker/hooks/hook.py" in path.read_bytes()
    installers.restore(tool, installers.uninstall(tool, config), config)
    found = path.read_bytes() if path.exists() else None
    assert b"worker/hooks/hook.py" not in (found or b"")
    assert found == left if existed or "e" not in steps or tool == "opencode" else b"new" in (found or b"")
    assert not existed or {*"mr"} & {*steps} or path.stat().st_mode & 0o777 == 0o640


def test_a_plugin_of_somebody_else_is_neither_replaced_nor_removed(home: Path, tmp_path: Path) -> None:
    path = home / OPENCODE
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = async () => ({})\n")
    with pytest.raises(JobError) as refused:
        installers.install("opencode", tmp_path / "config")
    installers.restore("opencode", installers.uninstall("opencode", tmp_path / "config"), tmp_path / "config")
    assert refused.value.code == "TOOL_CONFIG_UNUSABLE"
    assert path.read_text() == "export const Mine = async () => ({})\n"


def test_a_file_that_is_a_link_or_cannot_be_parsed_is_not_changed(home: Path, tmp_path: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    (tmp_path / "elsewhere.json").write_text("{}")
    path.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(JobError) as refused:
        installers.install("claude-code", tmp_path / "config")
    path.unlink()
    path.write_text("{ // a comment\n}")
    with pytest.raises(JobError) as unparsed:
        installers.install("claude-code", tmp_path / "config")
    assert {refused.value.code, unparsed.value.code} == {"TOOL_CONFIG_UNUSABLE"}
    assert (path.read_text(), (tmp_path / "elsewhere.json").read_text()) == ("{ // a comment\n}", "{}")


def test_what_the_tool_writes_while_the_difference_is_shown_is_not_lost(home: Path, tmp_path: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"permissions": {"allow": ["Bash(ls)"]}}')
    config = tmp_path / "config"
    later = '{"permissions": {"deny": ["Bash(rm:*)"]}}'
    edits = installers.install("claude-code", config)
    path.write_text(later)
    with pytest.raises(JobError, match="was changed meanwhile") as refused:
        installers.write("claude-code", edits, config)
    assert (refused.value.code, path.read_text()) == ("TOOL_CONFIG_UNUSABLE", later)
    installers.write("claude-code", installers.install("claude-code", config), config)
    edits = installers.uninstall("claude-code", config)
    path.write_text(path.read_text().replace("rm", "mv"))
    with pytest.raises(JobError, match="was changed meanwhile"):
        installers.restore("claude-code", edits, config)
    installers.restore("claude-code", installers.uninstall("claude-code", config), config)
    assert path.read_text() == later.replace("rm", "mv")


def test_the_difference_is_shown_before_anything_is_written(home: Path, tmp_path: Path) -> None:
    edit, hooks = installers.install("codex", tmp_path / "config")
    assert "+notify = [" in edit.diff()
    assert '+    "SessionStart": [' in hooks.diff()
    assert not (home / ".codex").exists()
    assert installation.Edit(edit.path, b"a", b"a").diff() == ""


# --- the program ---


class Bench:
    def __init__(self, root: Path, config: Path) -> None:
        self.workspace, self.config = Workspace(root), config
        self.started: list[str] = []

    def call(self, said: Any, tool: str = "claude-code", *more: str) -> list[dict[str, Any]]:
        """The jobs that wait after the program was called."""
        sys.stdin = io.TextIOWrapper(io.BytesIO())
        text = said if isinstance(said, str) else json.dumps(said)
        assert hook.main(["--config", str(self.config), "--tool", tool, *more, text]) == 0
        paths = sorted(self.workspace.spool.inbox.glob("*.json"))
        return [parse_job(path.stem, path.read_bytes()).sent | {"job_id": path.stem} for path in paths]

    def log(self) -> str:
        return (self.config / "hooks.log").read_text("utf-8").splitlines()[-1]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    root = tmp_path / "project"
    root.mkdir()
    made = Bench(root, load().config_folder)
    trust.adopt(made.workspace, made.config)
    for tool in CAPTURE_TOOLS:
        consent.set_enabled(made.workspace, made.config, tool, True)
    monkeypatch.setattr(hook, "_start_worker", made.started.append)
    return made


def ended(bench: Bench, **more: Any) -> dict[str, Any]:
    return {"session_id": "s1", "cwd": str(bench.workspace.root), "hook_event_name": "SessionEnd", **more}


def test_the_end_of_a_session_drops_a_job_and_starts_a_worker(bench: Bench) -> None:
    (job,) = bench.call(ended(bench, cwd=str(bench.workspace.root / "src")))
    assert (job["tools"], job["session"], job["reason"]) == (["claude-code"], "s1", "SessionEnd")
    assert bench.started == [str(bench.workspace.root.resolve())]
    assert "was dropped" in bench.log()


def test_a_session_in_which_the_tool_summarises_for_us_drops_no_job_though_a_memory_is_above_it(bench: Bench) -> None:
    folder = bench.workspace.root / OWN_MODEL_FOLDER
    assert bench.call(ended(bench, cwd=str(folder))) == []
    assert "summarises for the capture itself" in bench.log()


def test_calls_at_the_same_moment_make_one_whole_job_of_each_session(bench: Bench, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("a")
    root = str(bench.workspace.root)

    def call(number: int) -> None:
        hook._drop(root, "claude-code", f"s{number % 5}", str(transcript), "SessionEnd")

    at_once(call, range(200), threads=20)
    inbox = bench.workspace.spool.inbox
    jobs = [parse_job(path.stem, path.read_bytes()).sent for path in inbox.glob("*.json")]
    assert sorted(job["session"] for job in jobs) == ["s0", "s1", "s2", "s3", "s4"]
    assert list(inbox.glob(".*.tmp")) == []


def test_what_comes_after_each_answer_waits_and_makes_one_job(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook.time, "time", lambda: 1_800_000_100.0)
    turn = {"type": "agent-turn-complete", "thread-id": "t1", "cwd": str(bench.workspace.root)}
    for _ in range(3):
        jobs = bench.call(turn, "codex")
    assert len(jobs) == 1
    (path,) = bench.workspace.spool.inbox.glob("*.json")
    assert json.loads(path.read_bytes())["not_before"] == "2027-01-15T08:30:00Z"


def test_two_events_at_a_transcript_or_one_at_each_of_two_states_are_two_jobs(bench: Bench, tmp_path: Path) -> None:
    """Jobs of one id and different content would be an error."""
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("a")
    bench.call(ended(bench, transcript_path=str(transcript), hook_event_name="PreCompact"))
    for _ in range(2):
        jobs = bench.call(ended(bench, transcript_path=str(transcript)))
    assert sorted(job["reason"] for job in jobs) == ["PreCompact", "SessionEnd"]
    transcript.write_text("ab")
    assert len(bench.call(ended(bench, transcript_path=str(transcript)))) == 3


TOOL_EVENTS = [
    ("codex", {"session_id": "s", "hook_event_name": "SessionEnd"}, "SessionEnd", "s"),
    ("gemini-cli", {"session_id": "s", "hook_event_name": "PreCompress"}, "PreCompress", "s"),
    ("opencode", {"session_id": "s", "hook_event_name": "session.idle"}, "session.idle", None),
    ("vscode", {"session_id": "s", "hook_event_name": "Stop"}, "Stop", None),
    ("vscode", {"sessionId": "s", "hookEventName": "PreCompact"}, "PreCompact", None),
    ("cursor", {"conversation_id": "s", "hook_event_name": "sessionEnd"}, "sessionEnd", None),
]


@pytest.mark.parametrize(("tool", "said", "reason", "session"), TOOL_EVENTS)
def test_an_event_makes_a_job(bench: Bench, tool: str, said: dict[str, Any], reason: str, session: str | None) -> None:
    """Of each tool."""
    (job,) = bench.call({**said, "cwd": str(bench.workspace.root)}, tool)
    assert (job["tools"], job["reason"], job.get("session")) == ([tool], reason, session)


def test_the_folder_of_a_cursor_window_is_found(bench: Bench) -> None:
    said = {"hook_event_name": "stop", "workspace_roots": [str(bench.workspace.root)], "conversation_id": "s"}
    assert len(bench.call(said, "cursor")) == 1


NOTE_FORMS = [
    ("claude-code", "SessionStart", lambda said: json.loads(said)["hookSpecificOutput"]["additionalContext"]),
    ("vscode", "SessionStart", lambda said: json.loads(said)["hookSpecificOutput"]["additionalContext"]),
    ("cursor", "sessionStart", lambda said: json.loads(said)["additional_context"]),
    ("opencode", "SessionStart", lambda said: said),
]


@pytest.mark.parametrize(("tool", "event", "form"), NOTE_FORMS)
def test_notes_have_the_form_that_the_tool_reads(tool: str, event: str, form: Callable[[str], str]) -> None:
    assert form(hook._in_form(tool, event, "# Notes\n> it's")) == "# Notes\n> it's"


def test_nothing_is_dropped_where_capture_is_not_enabled(bench: Bench, tmp_path: Path) -> None:
    consent.set_enabled(bench.workspace, bench.config, "claude-code", False)
    assert bench.call(ended(bench)) == []
    assert "not enabled" in bench.log()
    assert bench.call(ended(bench, cwd=str(tmp_path))) == []
    assert "There is no memory" in bench.log()


def test_a_folder_with_the_mark_of_somebody_else_is_left_alone(bench: Bench) -> None:
    bench.workspace.owner_marker(bench.workspace.spool.root).write_text("0" * 32)
    assert bench.call(ended(bench)) == []


def brought_by_a_pull(bench: Bench) -> None:
    root = bench.workspace.root
    bench.workspace.memory_db.write_bytes(b"theirs")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y", "-C", str(root)]
    for command in (["init", "-q"], ["add", "-f", ".cognee_memory/memory.db"], ["commit", "-qm", "theirs"]):
        subprocess.run([*git, *command], check=True, capture_output=True)


def led_elsewhere(bench: Bench) -> None:
    spool = bench.workspace.spool.root
    spool.rename(spool.with_name("elsewhere"))
    spool.symlink_to("elsewhere")


def open_to_everybody(bench: Bench) -> None:
    bench.workspace.root.chmod(0o777)


def linked_store(bench: Bench) -> None:
    bench.workspace.memory_db.symlink_to("/etc/passwd")


@pytest.mark.parametrize("harm", [brought_by_a_pull, led_elsewhere, open_to_everybody, linked_store])
@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd"])
def test_a_workspace_that_every_command_refuses_is_neither_read_nor_written(
    bench: Bench, harm: Callable[[Bench], None], event: str, capsys: pytest.CaptureFixture[str]
) -> None:
    harm(bench)
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        trust.require_trusted(bench.workspace, bench.config)
    assert bench.call(ended(bench, hook_event_name=event)) == []
    assert (capsys.readouterr().out, bench.started) == ("", [])
    assert "WORKSPACE_NOT_TRUSTED" in bench.log() or "not enabled" in bench.log()


def test_a_store_that_never_answers_holds_up_no_session(bench: Bench) -> None:
    """A view without an end, in the place of the memories."""
    Store(bench.workspace, FakeEmbedder()).close()
    with closing(sqlite3.connect(bench.workspace.memory_db)) as connection, connection:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        connection.execute("ALTER TABLE memories RENAME TO kept")
        connection.execute(
            f"CREATE VIEW memories AS SELECT kept.* FROM ({endless}) LEFT JOIN kept ON i < 0 WHERE i < 0"
        )
    said = json.dumps(ended(bench, hook_event_name="SessionStart"))
    arguments = ["--config", str(bench.config), "--tool", "claude-code", said]
    code = f"from worker.hooks import hook; hook._MOST_SECONDS = 0.3; raise SystemExit(hook.main({arguments!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"")
    assert "took longer" in bench.log()


@pytest.mark.parametrize("said", ["{", "{}", '{"cwd": 3}', '{"session_id": ["x"], "cwd": "/"}', "{" + "[" * 5000])
def test_whatever_the_tool_says_the_hook_ends_well(bench: Bench, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    bench.call(said)
    assert capsys.readouterr().out == ""


def test_a_full_disk_does_not_fail_the_tool(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook.os, "write", raising(OSError(28, "No space left on device")))
    assert bench.call(ended(bench)) == []
    assert list(bench.workspace.spool.inbox.glob(".capture*")) == [], "no half-written file stays"
    assert "No space left" in bench.log()


def test_the_log_is_bounded(bench: Bench) -> None:
    (bench.config / "hooks.log").write_bytes(b"x" * 300_000)
    bench.call(ended(bench))
    assert (bench.config / "hooks.log").stat().st_size < 1000
    assert (bench.config / "hooks.log.1").exists()


def test_a_session_begins_without_notes_if_nothing_is_known(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.call(ended(bench, hook_event_name="SessionStart")) == []
    assert capsys.readouterr().out == ""
    assert "nothing to recall" in bench.log()


def test_the_branch_is_read_from_git_s_files(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/retry\n")
    (tmp_path / "src").mkdir()
    assert hook._branch(str(tmp_path / "src")) == "feature/retry"
    (tmp_path / ".git" / "HEAD").write_text("0" * 40)
    assert hook._branch(str(tmp_path)) is None


# --- settings that are edited as text: what is added is read, what is removed leaves every other byte ---


CALLED = ("/opt/python", "-S", "/opt/lib/worker/hooks/hook.py", "--tool", "gemini-cli")

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)
COMMENTED = """// the settings of Ana
{
    /* quiet */ "ui": {"hideTips": true}, // no "hooks": {} here
    "url": "http://x//y", // two slashes in a text
    "hooks": {
        // each evening
        "SessionEnd": [
            {"hooks": [{"type": "command", "command": "beep"}]} // mine
        ]
    } // the end
}
"""


@given(ANY_JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_json_is_read_as_by_the_standard_library(value: Any, indent: Any, comments: bool) -> None:
    assert json_text.parsed(json.dumps(value, indent=indent), comments).value == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1 2]", "[1,]", '{"a" 1}', '{"a": }', "{1: 2}", "[]]", "nul", "01", '"a', "[" * 5000, "/* ", "{} /*"],
)
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^it is no JSON \(line 1\)\.$"):
        json_text.parsed(text, comments=True)


def test_comments_stay_where_they_are_and_mean_nothing() -> None:
    added = GEMINI_CLI.added(COMMENTED, CALLED)
    assert GEMINI_CLI.added(added, CALLED) == added, "twice is once"
    assert GEMINI_CLI.removed(added) == COMMENTED
    left = [line for line in added.splitlines() if line not in COMMENTED.splitlines()]
    assert not any("ui" in line or "url" in line for line in left)
    read = json_text.parsed(added, comments=True).value
    assert [len(read["hooks"][event]) for event in GEMINI_CLI.events] == [1, 1, 2]


def test_a_comment_after_the_last_entry_does_not_swallow_ours() -> None:
    added = GEMINI_CLI.added('{"hooks": {"SessionEnd": [ // none yet\n]} // end\n}', CALLED)
    assert "// none yet" in added
    assert len(json_text.parsed(added, comments=True).value["hooks"]["SessionEnd"]) == 1


def test_comments_among_our_entries_stay_when_these_are_removed() -> None:
    added = GEMINI_CLI.added("{}", CALLED).replace('"SessionEnd": [', '"SessionEnd": [ // keep me\n')
    kept = GEMINI_CLI.removed(added.replace('"PreCompress"', '/* and me */ "PreCompress"'))
    assert json_text.parsed(kept, comments=True).value == {"hooks": {"SessionEnd": []}}
    assert "/* and me */" in kept
    assert "// keep me" in kept


def test_only_our_command_of_an_entry_with_several_is_removed() -> None:
    ours = {"type": "command", "command": "python /opt/worker/hooks/hook.py"}
    settings = {"hooks": {"SessionEnd": [{"matcher": "", "hooks": [{"command": "a"}, ours, {"command": "b"}]}]}}
    kept = json.loads(CLAUDE_CODE.removed(json.dumps(settings)))
    assert kept == {"hooks": {"SessionEnd": [{"matcher": "", "hooks": [{"command": "a"}, {"command": "b"}]}]}}


@pytest.mark.parametrize("text", ['\ufeff{"model": "x"}', '{"model":"x"}', '{\r\n\t"model": "x"\r\n}\r\n'])
def test_a_mark_of_the_byte_order_and_the_ends_of_lines_stay(text: str) -> None:
    added = CLAUDE_CODE.added(text, CALLED)
    assert (CLAUDE_CODE.removed(added), ("\r\n" in text)) == (text, ("\r\n" in added))


def test_claude_code_reads_no_comments_so_a_file_with_them_is_refused() -> None:
    with pytest.raises(ValueError, match="no JSON"):
        CLAUDE_CODE.added("{} // mine", CALLED)
