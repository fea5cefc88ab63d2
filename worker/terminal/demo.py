"""The demo: drops some weeks of a software project as job files, runs a real worker, and queries the memory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bridge import trust
from bridge.interface import envelope
from bridge.interface.question_arguments import with_settings
from bridge.search.reader import Reader
from bridge.settings import Settings
from bridge.text import decision_lines
from jobs import client, clock, launch
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record

from .. import wording
from . import hits, setup_extras
from .output import say
from .process_commands import stop_worker
from .progress import bar

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import RetrievalHit, RetrievalResponse, RetrievalSuccess

_PATIENCE_SECONDS = 600.0  # a busy machine takes minutes to import cognee


def demo(settings: Settings, *, keep: bool, quiet: bool, graph: bool = False) -> dict[str, Any]:
    """Play the demo in a new workspace, which is removed afterwards unless ``keep``. Returns its measurements.

    With ``graph``, the knowledge graph is asked at the end, and installed before that if necessary.
    """
    script = json.loads(resources("worker").joinpath("data/demo.json").read_text("utf-8"))
    root = Path(tempfile.mkdtemp(prefix="cognee-memory-demo-"))
    workspace = Workspace(root)
    tell = (lambda *_: None) if quiet else say
    try:
        tell((script["project"], "bold"), f": {script['about']}")
        tell(f"Workspace: {root}\n")
        launch.start(workspace, _PATIENCE_SECONDS)
        began = time.monotonic()
        ids = [_drop(workspace, job, clock.now()) for job in script["jobs"]]
        tell(f"Dropped {len(ids)} job files into .cognee_jobs/ by rename.")
        tell("The worker runs them; the first time, this takes some seconds.")
        records = _follow(workspace, ids)
        seconds = time.monotonic() - began
        memories = sum(1 for record in records if record.state == "succeeded")
        tell(f"{memories} of {len(ids)} are in the memory after {seconds:.1f} s.\n")
        # The preview compares all memories, which else happens in an idle moment, perhaps between two questions.
        seen = _run_compaction(workspace, script["compaction"]["topic_id"], preview=True)
        play = _Play(workspace, settings, tell)
        answers = play.ask_all(script) + play.compact(script["compaction"], seen)
        if graph:
            stop_worker(workspace)  # one that began without the graph does not use it
            setup_extras.add(setup_extras.GRAPH)
            launch.start(workspace, _PATIENCE_SECONDS)
            play.ask_graph(script["graph"])
    finally:
        stop_worker(workspace, _PATIENCE_SECONDS)
        if not keep:
            for owner in set(trust.marked_folders(workspace, settings.config_folder).values()):
                trust.unlist(workspace, settings.config_folder, owner)
            shutil.rmtree(root, ignore_errors=True)
    tell("The worker has ended.")
    tell(("The whole answers: cognee-memory demo --json. Your own questions: cognee-memory demo --keep.", "dim"))
    if keep:
        tell(f'Play on: cognee-memory retrieve --workspace {root} "your question"')
    return envelope.success(
        workspace=str(root) if keep else None,
        jobs=len(ids),
        succeeded=memories,
        seconds=round(seconds, 1),
        answers=answers,
    )


def _drop(workspace: Workspace, job: dict[str, Any], now: datetime) -> str:
    """Drop one job of the script, with its day converted to a date; returns the job's id."""
    then = clock.iso(now - timedelta(days=job["days_ago"]))
    payload = dict(job["payload"])
    if "summary" in payload:
        payload["summary"] = {**payload["summary"], "created_at": then}
    else:
        payload["conversation"] = {**payload["conversation"], "timestamp": then}
    return client.submit(workspace.spool, "ingest", payload, submitted_by="demo").job_id


def _follow(workspace: Workspace, ids: list[str]) -> list[Record]:
    """Wait for the end of the jobs as a client does, and show how many have ended."""
    records = []
    with bar() as shown:
        task = shown.add_task("running jobs", total=len(ids), count="")
        for job_id in ids:
            records.append(client.wait(workspace.spool, job_id, _PATIENCE_SECONDS))
            shown.update(task, completed=len(records), count=f"{len(records)} of {len(ids)}")
    return records


def _run_compaction(workspace: Workspace, topic_id: str, **options: Any) -> Mapping[str, Any]:
    job = client.submit(workspace.spool, "compact", {"topic_id": topic_id, **options}, submitted_by="demo")
    (record,) = _follow(workspace, [job.job_id])
    if record.result is None:
        raise JobError("INTERNAL", f"The topic was not compacted: {record.error}.")
    return record.result


class _Play:
    """The questions, and what is told of their answers."""

    def __init__(self, workspace: Workspace, settings: Settings, tell: Callable[..., None]) -> None:
        self._workspace = workspace
        self._settings = settings
        self._tell = tell
        self._reader = Reader(workspace, settings.embedding)
        self._reader.warm()

    def ask_all(self, script: dict[str, Any]) -> list[dict[str, Any]]:
        answers = [{"question": each["ask"], **self._ask(each["ask"], each["why"])} for each in script["questions"]]
        again = script["question_about_age"]
        before: Any = next(found for found in answers if found["question"] == again)
        after = self._ask(again, "The same once more, with --preset contract.", preset="contract")
        self._tell((_what_changed(before["results"], after["results"]), "dim"), "\n")
        return [*answers, {"question": again, **after}]

    def _ask(self, text: str, why: str, preset: str | None = None) -> RetrievalSuccess:
        """Tell a question, the best decision of the first hit, and which memory that is; returns the answer."""
        self._introduce(text, why)
        began = time.monotonic()
        asked = with_settings({"query": text, "preset": preset, "best_passages": True}, self._settings)
        answer = cast("RetrievalResponse", self._reader.answer("retrieve", asked, clock.now()))
        took = (time.monotonic() - began) * 1000
        if not answer["success"]:
            raise JobError(answer["error_code"], answer["error"])
        if not answer["results"]:
            self._tell("  No memory fits the question.\n")
            return answer
        hit = answer["results"][0]
        when = wording.age(hit["source_created_at"] or hit["created_at"], clock.parse(answer["as_of"]))
        self._tell(f"  {best_decision(hit)}")
        for replaced in hit.get("standing", {}).get("replaces", []):
            self._tell(f"  {hits.replaces(replaced)}: {replaced['statement']} (#{replaced['memory_number']})")
        found = f"{wording.counted(answer['total_results'], 'memory')} found in {took:.0f} ms"
        named = f"#{hit['memory_number']} {hit['topic']}, {when} old, score {hit['score']:.3f}"
        self._tell((f"  {named}; {found}\n", "dim"))
        return answer

    def _introduce(self, what: str, why: str) -> None:
        self._tell((what, "bold"))
        self._tell((why, "dim"))

    def compact(self, wanted: dict[str, Any], seen: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Show a compaction's preview and apply it; the query before and afterwards."""
        before = self._ask(wanted["ask"], wanted["before"])
        record, conflicts = seen["decision_record"], seen["conflicts"]
        self._introduce(f"Compacting the topic “{record['topic']}”", wanted["why"])
        self._tell(
            f"{len(seen['summaries'])} summaries would become one decision record of"
            f" {len(record['consolidated_decisions'])} decisions. Decisions that conflict: {len(conflicts)}."
        )
        for conflict in conflicts:
            for side in ("earlier", "later"):
                age = wording.age(conflict[side]["date"], clock.now())
                self._tell(f"  {side}, {age}: {conflict[side]['text']}")
        done = _run_compaction(self._workspace, wanted["topic_id"], preview_digest=seen["preview_digest"])
        self._tell(f"Applied what was shown: memory #{done['memory_number']} supersedes {len(done['superseded'])}.\n")
        answer = self._ask(wanted["ask"], "The record answers for them; restore would undo it.")
        return [{"question": wanted["ask"], **found} for found in (before, answer)]

    def ask_graph(self, wanted: dict[str, Any]) -> None:
        """Ask the knowledge graph, as a person does: in a process that begins after the graph was installed."""
        self._introduce(f"Asking the knowledge graph: {wanted['ask']}", wanted["why"])
        options = ["--workspace", str(self._workspace.root), "--top-k", str(wanted["top_k"])]
        command = [sys.executable, "-m", "worker.cli", "ask", wanted["ask"], *options]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        if done.returncode:
            raise JobError("INTERNAL", "The graph did not answer: the lines above say why.")
        self._tell(done.stdout)


def best_decision(hit: RetrievalHit) -> str:
    """The decision of a hit that fits the question best, with the memory that a record has it from."""
    (line,) = decision_lines.read((hit.get("best_passages") or [hit["summary_text"]])[:1])
    return decision_lines.with_source(line.text, line.stated) if line.stated else line.text


def _what_changed(before: list[RetrievalHit], after: list[RetrievalHit]) -> str:
    """One sentence about the memory that the contract's half-life ranks lower."""
    first = before[0]
    place = next((place for place, hit in enumerate(after, 1) if hit["memory_id"] == first["memory_id"]), None)
    if place == 1:
        return "The first hit stayed the same."
    title = first["topic"] or first["summary_text"][:60]
    return (
        f"What changed: with a half-life of 7 days and no floor, age takes nearly the whole score of “{title}”:"
        f" {'it is no longer among the hits' if place is None else f'it is now number {place}'}."
    )
