"""The command line: what is understood, what is printed where, and with which exit status."""

import argparse
import errno
import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from harness import Place, held, raising, until
from in_process import InProcess
from spooled_jobs import spooled

from bridge import compact, migrate_summaries
from bridge.interface import envelope, submission
from bridge.interface.arguments import EXAMPLES
from bridge.settings import load
from jobs import client, clock, lifecycle, spool
from jobs.errors import JobError
from jobs.kinds import KINDS
from jobs.model import Record, job_digest
from worker.cli import GROUPS, OTHER_NAMES, VERBS, main, parser
from worker.terminal import job_views, kinds, output
from worker.terminal.command_line import DECLARED
from worker.version import VERSION


def parsed(*arguments: str) -> argparse.Namespace:
    return parser().parse_args(list(arguments))


def helps(name: str, made: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every help there is, with the command that shows it."""
    yield name, made
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb, nested in action.choices.items():
                yield from helps(f"{name} {verb}", nested)


HELPS = dict(helps("cognee-memory", parser()))
# Each command with its verb.
EVERY = [name.split()[1:] for name in HELPS if not any(other.startswith(f"{name} ") for other in HELPS)]


def test_every_command_has_a_help_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for command in EVERY:
        with pytest.raises(SystemExit) as caught:
            main([*command, "--help"])
        assert caught.value.code == 0, command
        shown = capsys.readouterr().out
        assert "--workspace" in shown, command
        assert ("--json" in shown) is (command != ["mcp"]), command  # whose stdout is the protocol's
        assert shown.split("\n\n")[1].strip() != "", command


def test_every_command_that_is_understood_can_be_carried_out_and_shown() -> None:
    understood = {"worker", "settings", *(" ".join(command) for command in EVERY)}
    for name in understood:
        run, show = (HELPS[f"cognee-memory {name}"].get_default(function) for function in ("run", "show"))
        assert list(signature(run).parameters) == ["args"], name
        assert list(signature(show).parameters) == ["answer"], name


def test_the_module_of_one_command_alone_is_imported(place: Place) -> None:
    code = """
import sys
import worker.cli
worker.cli.parser("retrieve")
print(sorted(name for name in sys.modules if name.startswith("worker.terminal.")))
"""
    assert place.python("-c", code).stdout == "['worker.terminal.command_line', 'worker.terminal.questions']\n"


def test_every_kind_that_has_a_module_on_the_command_line_has_its_command_and_its_view() -> None:
    modules = {path.stem for path in Path(kinds.__file__).parent.glob("*.py")} - {"__init__"}
    without = {"check", "judge", "noop"}  # doctor --deep runs check, a worker by itself judge, tests run noop
    assert modules == {kinds.MODULES.get(kind.name, kind.name) for kind in KINDS} - without
    assert [kind.name for kind in KINDS if job_views.view_of(kind.name) is None] == ["judge", "check", "noop"]
    assert job_views.view_of("a kind of a later version") is None


def test_every_help_has_examples_and_each_is_understood() -> None:
    whole = parser()
    for command in list(HELPS)[1:]:
        _, _, examples = HELPS[command].format_help().partition(f"{EXAMPLES}\n")
        lines = examples.split("\n\n")[0].splitlines()
        assert r"\n" not in examples, f"{command}: a shell does not read it as a line's end"
        assert 1 <= len(lines) <= 3, command
        for line in lines:
            words = shlex.split(line.partition(" < ")[0], comments=True)
            assert words[0] == "cognee-memory", command
            assert line.strip().startswith(command), f"{command}: an example is of its own command"
            whole.parse_args(words[1:])


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_help_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.interface.arguments._help_width", lambda: min(100, width) - 2)
    free = ("cognee-memory ", "bash ", "zsh ", "fish ", "powershell ")
    lines = [line for help_of in HELPS.values() for line in help_of.format_help().splitlines()]
    too_long = [line for line in lines if len(line) > max(width, 80) and not line.lstrip().startswith(free)]
    assert too_long == []


def test_the_help_of_the_whole_names_every_command_and_the_exit_codes() -> None:
    shown = HELPS["cognee-memory"].format_help()
    commands_shown = {line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line.strip()}
    assert {name.split()[1] for name in HELPS if name.count(" ") == 1} <= commands_shown
    assert "0 done, 1 failed, 2 wrong usage, 3 no worker, 4 rejected, 5 timed out" in shown


NEAR_USAGE = [
    ("wroker", "'worker'"), ("serch x", "'search'"), ("use", "'model use'"), ("retry x", "'jobs retry'"),
    ("jobs lst", "'list'"), ("jobs list --state failed --limt 3", "'--limit'"),
    ("retrieve x --max-results=3 --hlf-life-days 3", "'--half-life-days'"),
    ("retrieve x --top 3", "'--topic-id'"), ("retrieve x --max 3", "'--max-results' or '--max-tokens'"),
    ("forget --top nothing", "'--topic-id'"), ("worker logs --folow", "'--follow'"), ("forget --since 9", ""),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "near"), NEAR_USAGE)
def test_wrong_usage_names_what_is_near(arguments: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 2
    told = capsys.readouterr().err
    assert f"did you mean {near}?" in told if near else "There is no option --since.\n" in told
    assert "--help" in told


def test_an_unknown_command_imports_the_module_of_none() -> None:
    code = "import sys; from worker.cli import main; main(['wroker']); print(*sys.modules)"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    named = {name for group in GROUPS.values() for command in group.values() for name in command.module.split()}
    assert not {f"worker.terminal.{name}" for name in named} & set(asked.stdout.split())


def test_the_subcommands_that_are_near_are_those_of_the_commands() -> None:
    names = [name.split()[1:] for name in HELPS if name.count(" ") == 2]
    assert {(name, verb) for name, verbs in VERBS.items() for verb in verbs.split()} == set(map(tuple, names))
    assert {name for name in DECLARED if " " in name} == {f"{name} {verb}" for name, verb in names}


@pytest.mark.parametrize(("name", "meant"), OTHER_NAMES.items())
def test_a_command_is_known_by_other_programs_names(name: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert told.startswith(f"usage: cognee-memory {meant} [options]")
    assert f"  {name:10} {meant}\n" in parser().format_help()


BUGS = [(errno.ENOSPC, "DISK_FULL", False), (errno.EROFS, "FOLDER_UNWRITABLE", False), (errno.EIO, "INTERNAL", True)]


@pytest.mark.parametrize(("number", "code", "has_lines"), BUGS)
def test_the_lines_of_code_are_shown_for_a_bug_and_not_for_a_full_disk(
    number: int, code: str, has_lines: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.cli.run", raising(OSError(number, "")))
    assert main(["topics"]) == 1
    told = capsys.readouterr().err
    assert code in told
    assert ("OSError" in told) is has_lines


SEVERAL_WORDS = [
    ("retrieve", "query"), ("context", "query"), ("explain", "query"), ("ask", "question"), ("compact", "named_topic"),
]  # fmt: skip


LINES_MEANT = [
    ("worker --workspace w --json status", {"verb": "status", "workspace": "w", "json": True}),
    ("worker status --json --workspace w", {"verb": "status", "workspace": "w", "json": True}),
    ("worker --workspace w", {"verb": None, "workspace": "w", "json": False}),
    ("--json topics", {"json": True}),
    ("topics --json", {"json": True}),
    ("topics", {"json": False}),
    ("status --workspace-path a", {"workspace": "a"}),
    ("submit -", {"wait": True}),
    ("rebuild", {"wait": True}),
    ("memories set-status m Active", {"wait": True}),
    ("submit - --no-wait", {"wait": False}),
    ("ingest a b", {"wait": False}),
    ("ingest a b --wait", {"wait": True}),
    *[(f"jobs {verb} --json", {"verb": verb, "json": True}) for verb in ("pause", "resume", "drain", "prune")],
    ("jobs drain", {"timeout": None}),
    ("jobs drain --timeout 2.5", {"timeout": 2.5}),
    *[(f"{verb} queue --limit 3", {"max_results": "3"}) for verb in ("retrieve", "context")],
    ("explain queue --limit 3 --max-results 4", {"limit": "3", "max_results": "4"}),
    *[(f"{verb} Redis 'job queue'", {name: "Redis job queue"}) for verb, name in SEVERAL_WORDS],
]


@pytest.mark.parametrize(("line", "given"), LINES_MEANT)
def test_a_line_is_read_as_it_is_meant(line: str, given: dict[str, Any]) -> None:
    assert vars(parsed(*shlex.split(line))).items() >= given.items()


def test_help_is_a_word_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, of in ((["help"], "COMMAND"), (["help", "jobs", "retry"], "jobs retry [options]")):
        with pytest.raises(SystemExit):
            main(arguments)
        assert of in capsys.readouterr().out


def test_without_a_command_the_help_is_shown_as_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "COMMAND" in capsys.readouterr().out


def test_the_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"version: {VERSION}\n"


@pytest.mark.parametrize("arguments", [["--version", "--json"], ["--json", "--version"]])
def test_a_program_reads_the_version_as_an_object(place: Place, arguments: list[str]) -> None:
    done = place.python("-m", "worker.cli", *arguments)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"success": True, "version": VERSION})


WRONG_USAGE = [
    "dance", "jobs", "jobs show", "worker dance", "retrieve", "submit", "status --loud", "jobs list --limit many",
    "memories set-status m Done", "rebuild --what nothing", "rebuild --wait --no-wait", "jobs pause job-1",
    "jobs drain --timeout soon", "jobs prune --all", "jobs stop",
]  # fmt: skip


@pytest.mark.parametrize("line", WRONG_USAGE)
def test_wrong_usage_is_said_on_stderr_with_the_exit_status_two(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err[:18], "--help" in printed.err) == ("", "ARGUMENT_INVALID: ", True)


def test_an_answer_in_json_is_one_object_on_stdout_and_nothing_else(place: Place) -> None:
    done = Place.cli(place, "status", "--json")
    assert (done.stderr, done.stdout.count("\n")) == ("", 1)
    found = json.loads(done.stdout)
    assert found["workspace"] == str(place.workspace.root)
    assert (found["success"], found["worker"]["alive"], found["memory"]["memories"]) == (True, False, 0)


def test_no_command_takes_an_abbreviated_option() -> None:
    """``--top 3`` would mean ``--topic-id 3``, and another thing once there is another option."""
    assert [name for name, command in HELPS.items() if command.allow_abbrev] == []


@pytest.mark.parametrize("arguments", [[], ["dance"], ["jobs", "list", "--limit", "x"], ["retrieve", "  "]])
def test_wrong_usage_is_an_object_too_where_json_was_asked_for(place: Place, arguments: list[str]) -> None:
    done = place.cli(*arguments, "--json")
    assert done.returncode == 2
    found = json.loads(done.stdout)
    assert (found["success"], found["error_code"] in ("ARGUMENT_INVALID", "QUERY_EMPTY")) == (False, True)


def test_an_error_is_told_to_a_person_on_stderr_with_what_to_do(place: Place) -> None:
    done = Place.cli(place, "worker", "status")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("WORKER_NOT_RUNNING: ")
    assert "What to do: Start one: cognee-memory worker start." in done.stderr


def test_a_missing_workspace_is_an_error(place: InProcess) -> None:
    done = place.within(place.config, "status", "--workspace", "nowhere", "--json")
    assert (done.returncode, json.loads(done.stdout)["error_code"]) == (1, "WORKSPACE_MISSING")


def test_a_foreign_workspace_is_closed_until_it_is_trusted(tmp_path: Path) -> None:
    place = InProcess(tmp_path, adopted=False)
    spool.prepare(place.spool)
    (place.spool.results / "job-1.json").write_text("{}")
    assert place.json("jobs", "list")["error_code"] == "WORKSPACE_NOT_TRUSTED"
    assert place.json("trust") == {"success": True, "workspace": str(place.workspace.root), "trusted": True}
    assert place.json("jobs", "list")["success"] is True


def test_a_setting_that_cannot_be_read_is_wrong_usage(place: Place) -> None:
    place.environment["COGNEE_MEMORY_MAX_RESULTS"] = "many"
    assert place.fails("status") == (2, "SETTING_INVALID")


@pytest.mark.parametrize(("words", "works"), [("settings", True), ("model list", True), ("status", False)])
def test_only_settings_and_models_need_no_project(
    words: str, works: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert (main(words.split()) == envelope.DONE) is works


def test_settings_are_shown_with_their_source_and_without_secrets(place: Place) -> None:
    place.environment |= {"LLM_API_KEY": "sk-secret", "COGNEE_MEMORY_MAX_RESULTS": "7"}
    for options in ([], ["--json"]):
        done = place.cli("settings", *options)
        assert done.returncode == 0
        assert "sk-secret" not in done.stdout + done.stderr
        assert "COGNEE_MEMORY_MAX_RESULTS" in done.stdout
    rows = {row["name"]: row for row in place.json("settings")["settings"]}
    assert (rows["max_results"]["value"], rows["max_results"]["source"]) == ("7", "environment")


# --- jobs, without a worker ---


def submitted(place: Place, job: dict[str, Any], *options: str) -> dict[str, Any]:
    done = place.cli("submit", "-", "--no-start", "--no-wait", "--json", *options, input=json.dumps(job))
    found: dict[str, Any] = json.loads(done.stdout)
    return {**found, "exit_status": done.returncode}


def test_a_job_from_standard_input_is_dropped(place: Place) -> None:
    found = submitted(place, {"kind": "check", "payload": {}, "priority": 5})
    assert (found["success"], found["kind"], found["worker_started"]) == (True, "check", False)
    dropped = json.loads(place.spool.dropped(found["job_id"]).read_bytes())
    assert (dropped["schema_version"], dropped["priority"], dropped["submitted_by"]) == (1, 5, "cli")


def test_a_job_file_keeps_its_own_id_in_either_spelling(place: Place) -> None:
    for name in ("job_id", "jobId"):
        job = {name: f"mine-{name.lower()}", "schemaVersion": 1, "kind": "check", "payload": {}, "maxAttempts": 2}
        assert submitted(place, job)["job_id"] == f"mine-{name.lower()}"
        dropped = json.loads(place.spool.dropped(f"mine-{name.lower()}").read_bytes())
        assert (dropped["max_attempts"], "maxAttempts" in dropped, "jobId" in dropped) == (2, False, False)


REJECTED_JOBS = [
    {"payload": {}},
    {"kind": "check"},
    {"kind": "check", "payload": []},
    {"kind": "check", "payload": {}, "workspace": "/"},
    {"kind": "check", "payload": {}, "start": True},
    {"kind": "check", "payload": {"x": 1}},
    {"kind": "check", "payload": {}, "job_id": "../../etc"},
    {"kind": "dance", "payload": {}},
]


@pytest.mark.parametrize("job", REJECTED_JOBS)
def test_a_job_that_the_worker_would_reject_is_refused_at_once(tmp_path: Path, job: dict[str, Any]) -> None:
    place = InProcess(tmp_path, adopted=False)
    found = submitted(place, job)
    assert (found["success"], found["exit_status"]) == (False, 4)
    assert not place.spool.root.exists()


def test_text_that_is_no_json_object_is_wrong_usage(place: Place) -> None:
    for text in ("{", "[]", ""):
        assert place.fails("submit", "-", "--no-start", input=text) == (2, "ARGUMENT_INVALID")


LINE = "Billing keeps its data in PostgreSQL, since it has row-level security."
CUT = "Billing keeps its data in PostgreSQL, since it has row-…"
LONG = "Minutes of Monday\n\nThe desk stays in Oban."


def alone(topic: str, context: str | None = None, *decisions: str, **more: Any) -> dict[str, Any]:
    decided = {"decisions": [*decisions]} if decisions else {}
    return {"summary": {"topic": topic, "context": context or topic, **decided, **more}}


FIELDS = (
    "--topic", "Loans", "--context", "How long?", "--decision", "A loan lasts 21 days.", "--decision", "Renew twice.",
    "--rationale", "Novels.", "--open-question", "Films?", "--next-step", "Ask.", "--reference", "#12",
    "--time-scope", "one talk", "--plan-id", "plan-3", "--status", "Draft", "--importance", "0.5",
    "--timestamp", "2026-11-03T10:00:00Z",
)  # fmt: skip
OF_FIELDS = alone(
    "Loans", "How long?", "A loan lasts 21 days.", "Renew twice.", rationale=["Novels."], open_questions=["Films?"],
    next_steps=["Ask."], references=["#12"], time_scope="one talk", plan_id="plan-3", status="Draft", importance=0.5,
    created_at="2026-11-03T10:00:00Z",
)  # fmt: skip
TURN = {"conversation": {"user_message": "Why?", "assistant_message": "Because.", "importance": 0.5}}
LABELLED = ("--summary", "Topic: A\nContext: B", "--topic-id", "t", "--status", "Final")
INGESTED = [
    (("Why?", "Because.", "--importance", "0.5"), TURN),
    (LABELLED, {"summary_text": "Topic: A\nContext: B", "topic_id": "t", "status": "Final"}),
    (FIELDS, OF_FIELDS),
    # A text or decisions alone are a summary that is named by what it says.
    (["-"], alone("Use spaces.", None, "Use spaces.")),
    (["Use tabs."], alone("Use tabs.", None, "Use tabs.")),
    ([LINE, "--tag", "db"], alone(CUT, LINE, LINE, tags=["db"])),
    ([LONG], alone("Minutes of Monday", LONG)),
    (["\u6c38" * 70], alone("\u6c38" * 59 + "…", "\u6c38" * 70, "\u6c38" * 70)),
    (["--decision", "A.", "--decision", "B."], alone("A. B.", None, "A.", "B.")),
    (["--topic", "T", "--decision", "A."], alone("T", "A.", "A.")),
    (["Use tabs.", "--topic", "T"], alone("T", "Use tabs.", "Use tabs.")),
    ([LONG, "--decision", "A."], alone("A.", LONG, "A.")),
]


@pytest.mark.parametrize(("arguments", "payload"), INGESTED)
def test_an_ingest_drops_what_its_arguments_say(place: Place, arguments: list[str], payload: dict[str, Any]) -> None:
    done = place.cli("ingest", *arguments, "--no-start", "--job-id", "mine", "--json", input="Use spaces.\n")
    assert json.loads(done.stdout)["job_id"] == "mine"
    assert json.loads(place.spool.dropped("mine").read_bytes())["payload"] == payload


TWO_FORMS = [
    (["--topic", "A", "--context", "B", "--summary-json", "{}"], "--topic and --summary-json are two ways"),
    (["--decision", "A", "--summary", "text"], "--decision and --summary are two ways"),
    (["--topic", "A", "--context", "B", "--decision", "Use", "PostgreSQL"], "the message 'PostgreSQL'"),
    (["--topic", "Sign", "in"], "behind --decision"),
    (["--topic", "A", "--rationale", "B"], "--context is missing"),
    (["--context", "A"], "--topic is missing"),
    (["Which", "database", "PostgreSQL"], "3 texts were given"),
    (["--tag", "x", "a", "b"], "--tag goes with a summary"),
    (["  "], "There is no text"),
    (["--decision", ""], "There is no text"),
]


@pytest.mark.parametrize(("arguments", "message"), TWO_FORMS)
def test_an_ingest_of_two_forms_names_what_does_not_fit(place: Place, arguments: list[str], message: str) -> None:
    done = place.cli("ingest", *arguments, "--no-start")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not place.spool.root.exists() or spool.inbox(place.spool) == []


WITHOUT_WORK = [
    (["ingest", "only one", ""], 2),
    (["ingest", "--topic", " ", "--context", "B"], 4),
    (["ingest", "a", "b", "--topic-id", "t"], 2),
    (["ingest", "a", "b", "--importance", "much"], 2),
    (["ingest", "a", "b", "--importance", "2"], 4),
    (["ingest", "--summary"], 2),
    (["ingest", "--summary-json", '{"topic": "A"}'], 4),
    (["ingest", "a", "b", "--job-id", "No Id"], 4),
]


@pytest.mark.parametrize(("arguments", "status"), WITHOUT_WORK)
def test_an_ingest_that_cannot_work_is_refused_and_not_dropped(place: Place, arguments: list[str], status: int) -> None:
    done = place.cli(*arguments, "--no-start", "--json")
    assert done.returncode == status
    assert json.loads(done.stdout)["success"] is False
    assert not place.spool.root.exists() or spool.inbox(place.spool) == []


def test_cancelling_a_job_in_the_inbox_leaves_a_request_for_the_worker(place: Place) -> None:
    job_id = place.submit("check", {})
    assert place.json("jobs", "cancel", job_id)["requested"] is True
    assert json.loads(place.spool.cancel(job_id).read_bytes())["job_id"] == job_id


def test_waiting_for_a_job_ends_when_the_time_is_over(place: Place) -> None:
    assert place.fails("jobs", "wait", place.submit("check", {}), "--timeout", "0.05") == (5, "WAIT_TIMEOUT")


def test_draining_where_no_worker_runs_is_told_and_meant_for_none_to_come(place: Place) -> None:
    assert place.fails("jobs", "drain") == (3, "WORKER_NOT_RUNNING")
    assert not place.spool.request("drain").exists()


def old_job(place: Place, job_id: str, *events: lifecycle.Event) -> None:
    spooled(place.spool, job_id, *events, at=clock.now())
    os.utime(place.spool.record(job_id), (0, 0))


def test_pruning_without_a_worker_is_done_here_and_now_and_spares_what_lives(place: Place) -> None:
    assert place.json("jobs", "prune") == {"success": True, "pruned": 0}
    old_job(place, "ended", lifecycle.Cancelled())
    old_job(place, "waiting")
    old_job(place, "running", lifecycle.Started())
    assert place.json("jobs", "prune") == {"success": True, "pruned": 1}
    assert sorted(spool.job_ids(place.spool.results)) == ["running", "waiting"]
    assert place.json("jobs", "prune") == {"success": True, "pruned": 0}


@contextmanager
def a_worker_that_takes(place: Place, request: Path) -> Iterator[None]:
    """It reads this request, and does nothing else."""

    def obey() -> None:
        until(request.exists, "it is asked")
        request.unlink()

    with held(place.spool.lock):
        worker = threading.Thread(target=obey)
        worker.start()
        yield
        worker.join()


def test_pruning_beside_a_worker_is_the_workers_to_do(place: Place) -> None:
    old_job(place, "ended", lifecycle.Cancelled())
    with a_worker_that_takes(place, place.spool.request("prune")):
        found = place.json("jobs", "prune")
    assert (found["request"], found["obeyed"]) == ("prune", True)
    assert place.record("ended") is not None, "the command itself took nothing away"


def test_cancelling_what_has_taken_effect_is_told_as_too_late(place: Place) -> None:
    old_job(place, "running", lifecycle.Started())
    with a_worker_that_takes(place, place.spool.cancel("running")):
        assert place.fails("jobs", "cancel", "running") == (1, "CANCEL_TOO_LATE")


def test_lists_of_nothing_are_successes(place: Place) -> None:
    listed = place.json("jobs", "list")
    assert (listed["success"], listed["jobs"], listed["total"], listed["next"]) == (True, [], 0, None)
    nothing = {"success": True, "memories": [], "total": 0, "next": None, "warnings": []}
    assert place.json("memories", "list") == nothing
    assert place.json("topics") == {"success": True, "topics": [], "warnings": []}
    assert place.cli("memories", "list").stdout + place.cli("topics").stdout == "No memories.\nNo topics.\n"
    assert (place.json("worker", "logs")["lines"], place.fails("memories", "show", "1")[0]) == ([], 1)


def test_each_list_and_each_answer_that_finds_nothing_says_that_a_job_waits(place: Place) -> None:
    place.submit("ingest", {"summary_text": "The queue is called hummingbird."})
    said = "Note: 1 job waits: what it stores is not found yet.\n"
    for verb in (["memories", "list"], ["memories", "open"], ["topics"], ["retrieve", "hummingbird"]):
        assert place.cli(*verb).stdout.endswith(said), verb
    assert place.cli("context", "hummingbird").stderr.endswith(said)


def test_retrieving_from_a_workspace_that_was_never_used_gives_no_results(tmp_path: Path) -> None:
    place = InProcess(tmp_path, adopted=False)
    found = place.json("retrieve", "anything")
    assert (found["success"], found["results"], found["total_results"]) == (True, [], 0)
    assert list(place.workspace.root.iterdir()) == []
    assert "No memory fits" in place.cli("retrieve", "anything").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize(("target", "status", "said"), [("&-", 0, ""), ("/dev/full", 1, "No space left on device")])
@pytest.mark.parametrize("form", ["", "--json"])
def test_an_unwritable_answer_is_no_traceback(place: Place, form: str, target: str, status: int, said: str) -> None:
    line = f"{sys.executable} -m worker.cli status {form} >{target}"
    done = subprocess.run(line, shell=True, cwd=place.workspace.root, env=place.environment, stderr=-1, text=True)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (status, True, False)


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> dict[str, Any]:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr("worker.cli.run", interrupted)
        assert main(["status"]) == 130
    monkeypatch.setattr("worker.terminal.output.show", interrupted)
    assert main(["--version"]) == 130
    assert capsys.readouterr() == ("", "")


def test_whoever_stops_waiting_is_told_how_to_find_the_job(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(client, "wait", raising(KeyboardInterrupt))
    monkeypatch.setattr("bridge.interface.envelope.claim_stdout", lambda: None)
    given = ["--workspace-path", str(place.workspace.root), "--no-start"]
    assert main(["migrate", *given]) == 130
    assert migrate_summaries.main(given) == 130
    assert compact.main([*given, "--topic-id", "t"]) == 130
    told = capfd.readouterr()
    named = [line.rpartition(" ")[2].rstrip(".") for line in told.err.splitlines()]
    assert (told.out, sorted(named)) == ("", sorted(path.stem for path in spool.inbox(place.workspace.spool)))
    assert len(named) == 3


def test_a_program_learns_the_jobs_id_also_where_it_has_waited_in_vain(place: Place) -> None:
    assert place.spool.dropped(place.json("ingest", "--no-start", "Use tabs.")["job_id"]).exists()
    found = place.json("migrate", "--dry-run", "--no-start", "--timeout", "0.01")
    assert found["error_code"] == "WAIT_TIMEOUT"
    job_id = found["error_details"]["job_id"]
    assert f"cognee-memory jobs show {job_id}" in found["remediation"]
    assert place.json("jobs", "show", job_id)["success"]


@pytest.mark.parametrize("command", ["compact", "history", "memories list"])
def test_a_topic_is_named_once(place: Place, command: str) -> None:
    assert place.json(*command.split(), "a", "--topic-id", "b")["error_code"] == "ARGUMENT_INVALID"
    assert not place.workspace.spool.root.exists() or not spool.inbox(place.workspace.spool)


REFUSED = [
    ("a" * 3_000_000, "FILE_TOO_LARGE"), ("a \0", "JSON_INVALID"), ("a", "DISK_FULL"), ("a", "BACKLOG_FULL"),
    ("**Metadata:**\n- Status: Nope", "METADATA_BROKEN"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code"), REFUSED, ids=[code for _, code in REFUSED])
def test_what_the_worker_would_reject_is_refused_before_the_drop(
    place: Place, text: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_MIN_FREE_BYTES", str(9 * 10**12) if code == "DISK_FULL" else "0")
    monkeypatch.setenv("COGNEE_MEMORY_MAX_ACTIVE_JOBS", "0" if code == "BACKLOG_FULL" else "9")
    payload = {"summary_text": text}
    with pytest.raises(JobError) as error:
        submission.submit(place.workspace, load(), "ingest", payload, start=False)
    assert (error.value.code, spool.inbox(place.workspace.spool)) == (code, [])


def test_a_secret_in_front_of_the_cut_is_left_out_of_the_topic() -> None:
    text = "docker login for the robot --password Qv8sZk2Lw2Xp registry.corp.net and then push the image"
    assert "Qv8sZk2Lw2Xp" not in submission._named({"decisions": [text]})["topic"]


ENDS = [
    ("failed", {"error": JobError("TEST_FAILURE", "Not yet.").as_dict()}, "TEST_FAILURE: Not yet."),
    ("cancelled", {}, "CANCELLED"),
    ("cancelled", {"error": JobError("SYSTEM_BUSY").as_dict()}, "CANCELLED"),
    ("succeeded", {"job_sha256": "another", "result": {}}, "JOB_ID_CONFLICT"),
]


@pytest.mark.parametrize(
    ("state", "fields", "message"),
    ENDS,
    ids=["it failed", "somebody cancelled it", "cancelled while it waited for a retry", "another job had its id"],
)
def test_the_end_of_a_waited_job_without_success_is_the_error_of_the_command(
    place: Place, monkeypatch: pytest.MonkeyPatch, state: Any, fields: dict[str, Any], message: str
) -> None:
    def ended(spool_: object, job_id: str, *_: object, **__: object) -> Record:
        return Record(
            **{"job_id": job_id, "kind": "check", "job_sha256": job_digest("check", {}), "state": state, **fields}
        )

    monkeypatch.setattr(client, "wait", ended)
    with pytest.raises(JobError, match=message) as caught:
        submission.submit(place.workspace, load(), "check", {}, start=False, wait=True, job_id="a")
    assert {"state": "succeeded"} | caught.value.details == {"job_id": "a", "state": state}


def test_waiting_for_a_job_that_fails_ends_with_its_error(place: Place) -> None:
    error = JobError("TEST_FAILURE").as_dict()
    spool.write_records(place.spool, [Record(job_id="a", kind="noop", job_sha256="", state="failed", error=error)])
    assert place.fails("jobs", "wait", "a") == (1, "TEST_FAILURE")


def test_what_to_do_about_a_failed_job_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    error = JobError("LLM_NOT_CONFIGURED", details={"job_id": "a-job"})
    output.show(argparse.Namespace(command="cognify"), envelope.failure(error))
    assert "cognee-memory jobs retry a-job" in capsys.readouterr().err
