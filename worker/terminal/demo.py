"""The demo: drops some weeks of a software project as job files, runs a real worker, and queries the memory."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bridge import trust
from bridge.interface import envelope
from bridge.interface.question_arguments import with_settings
from bridge.search.ranking import semantic_score
from bridge.search.reader import Reader
from bridge.settings import Settings
from bridge.text import decision_lines
from bridge.text.terms import query_terms
from jobs import client, clock, launch
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.model import Record

from .. import wording
from . import hits, setup_extras
from .output import color_system

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import RetrievalHit, RetrievalSuccess

_PATIENCE_SECONDS = 600.0  # a busy machine takes minutes to import cognee
_LOOK_SECONDS = 0.05


def demo(settings: Settings, *, keep: bool, quiet: bool, graph: bool = False) -> dict[str, Any]:
    """Play the demo in a new workspace, which is removed afterwards unless ``keep``. Returns its measurements.

    With ``graph``, the knowledge graph is asked at the end, and installed before that if necessary.
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True, color_system=color_system())
    script = json.loads(resources("worker").joinpath("data/demo.json").read_text("utf-8"))
    root = Path(tempfile.mkdtemp(prefix="cognee-memory-demo-"))
    workspace = Workspace(root)
    worker = None
    try:
        console.print(f"[bold]{script['project']}[/bold]: {script['about']}")
        console.print(f"Workspace: {root}\n")
        worker = _start_worker(workspace)
        began = time.monotonic()
        ids = [_drop(workspace, job, clock.now()) for job in script["jobs"]]
        console.print(f"Dropped {len(ids)} job files into .cognee_jobs/ by rename.")
        console.print("The worker runs them; the first time, this takes some seconds.")
        records = _follow(workspace, ids, console)
        seconds = time.monotonic() - began
        memories = sum(1 for record in records if record.state == "succeeded")
        console.print(f"{memories} of {len(ids)} are in the memory after {seconds:.1f} s.\n")
        reader = Reader(workspace, settings.embedding)
        reader.warm()
        # The preview compares all memories, which else happens in an idle moment, perhaps between two questions.
        seen = _run_compaction(workspace, script["compaction"]["topic_id"], preview=True)
        answers = _ask_all(reader, settings, script, console)
        answers += _compact(workspace, reader, settings, script["compaction"], seen, console)
        if graph:
            _stop_worker(worker)  # one that began without the graph does not use it
            setup_extras.add(setup_extras.GRAPH)
            worker = _start_worker(workspace)
            _ask_graph(workspace, script["graph"], console)
    finally:
        code = _stop_worker(worker)
        if not keep:
            trust.disown(workspace, settings.config_folder)
            shutil.rmtree(root, ignore_errors=True)
    console.print(
        f"The worker has ended cleanly (exit status {code})." if code == 0 else f"The worker ended with {code}."
    )
    console.print(
        "[dim]The whole answers: cognee-memory demo --json. Your own questions: cognee-memory demo --keep.[/dim]"
    )
    if keep:
        console.print(f'Play on: cognee-memory retrieve --workspace {root} "your question"')
    return envelope.success(
        workspace=str(root) if keep else None,
        jobs=len(ids),
        succeeded=memories,
        seconds=round(seconds, 1),
        worker_exit_status=code,
        answers=answers,
    )


def _start_worker(workspace: Workspace) -> subprocess.Popen[bytes]:
    """Start a detached worker; the demo stops it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "worker", "--workspace", str(workspace.root), "--detached"],
        cwd=workspace.root.anchor,
        stdin=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not launch.is_alive(workspace):
            if process.poll() is not None or time.monotonic() > deadline:
                raise JobError("WORKER_START_FAILED", f"See {workspace.spool.log}.")
            time.sleep(_LOOK_SECONDS)
    except BaseException:  # also Ctrl-C: no worker stays behind
        _stop_worker(process)
        raise
    return process


def _stop_worker(process: subprocess.Popen[bytes] | None) -> int | None:
    if process is None:
        return None
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    return process.wait(_PATIENCE_SECONDS)


def _drop(workspace: Workspace, job: dict[str, Any], now: datetime) -> str:
    """Drop one job of the script, with its day converted to a date; returns the job's id."""
    then = clock.iso(now - timedelta(days=job["days_ago"]))
    payload = dict(job["payload"])
    if "summary" in payload:
        payload["summary"] = {**payload["summary"], "created_at": then}
    else:
        payload["conversation"] = {**payload["conversation"], "timestamp": then}
    return client.submit(workspace.spool, "ingest", payload, submitted_by="demo").job_id


def _follow(workspace: Workspace, ids: list[str], console: Console) -> list[Record]:
    """Poll the records as a client does, and show how many jobs have ended."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("running jobs", total=len(ids))
        while True:
            records = [client.status(workspace.spool, job_id) for job_id in ids]
            ended = [record for record in records if record is not None and record.ended]
            bar.update(task, completed=len(ended))
            if len(ended) == len(ids):
                return ended
            if time.monotonic() > deadline:
                raise JobError("WAIT_TIMEOUT", f"{len(ids) - len(ended)} of the demo's jobs have not ended.")
            time.sleep(_LOOK_SECONDS)


def _ask_all(reader: Reader, settings: Settings, script: dict[str, Any], console: Console) -> list[dict[str, Any]]:
    answers = []
    for question in script["questions"]:
        found = _ask(reader, settings, question["ask"], console, question["why"])
        answers.append({"question": question["ask"], **found})
    again = script["question_about_age"]
    before = next(found for found in answers if found["question"] == again)
    after = _ask(reader, settings, again, console, "The same once more, with --preset contract.", preset="contract")
    answers.append({"question": again, **after})
    console.print(f"[dim]{_what_changed(before['results'], after['results'])}[/dim]\n")
    return answers


def _ask(
    reader: Reader, settings: Settings, text: str, console: Console, why: str, preset: str | None = None
) -> RetrievalSuccess:
    """Print a question, the best decision of the first hit, and which memory that is; returns the answer."""
    console.print(f"[bold]{text}[/bold]\n[dim]{why}[/dim]")
    began = time.monotonic()
    answer = reader.answer("retrieve", with_settings({"query": text, "preset": preset}, settings), clock.now())
    took = (time.monotonic() - began) * 1000
    if not answer["success"]:
        raise JobError(answer["error_code"], answer["error"])
    if not answer["results"]:
        console.print("  No memory fits the question.\n")
        return answer
    hit = answer["results"][0]
    when = wording.age(hit["source_created_at"] or hit["created_at"], clock.parse(answer["as_of"]))
    console.print(f"  {_best_decision(reader, text, hit)}", markup=False)
    for replaced in hit.get("standing", {}).get("replaces", []):
        said = f"{hits.replaces(replaced)}: {replaced['statement']} (#{replaced['memory_number']})"
        console.print(f"  {said}", markup=False)
    console.print(
        f"  [dim]#{hit['memory_number']} {hit['topic']}, {when} old, score {hit['score']:.3f};"
        f" {wording.counted(answer['total_results'], 'memory')} found in {took:.0f} ms[/dim]\n"
    )
    return answer


def _best_decision(reader: Reader, question: str, hit: RetrievalHit) -> str:
    """The decision of a hit that fits the question best, by meaning and words as ``ranking`` weighs them.

    A decision that a record marks as earlier no longer holds, and is left out. Of a legacy memory, the first line.
    """
    lines = [line for line in decision_lines.read(hit.get("decisions", [])) if not line.is_earlier]
    with reader.snapshot() as snapshot:
        embedder = reader.embedder(snapshot) if snapshot is not None else None
    if embedder is None or not lines:
        return hit["summary_text"].strip().splitlines()[0]
    vector, *others = embedder.embed([question, *(line.text for line in lines)])
    words = [term.text.lower() for term in query_terms(question)]
    fits = [
        semantic_score(float(other @ vector), sum(word in line.text.lower() for word in words) / len(words))
        for line, other in zip(lines, others, strict=True)
    ]
    best = lines[fits.index(max(fits))]
    return decision_lines.with_source(best.text, best.stated) if best.stated else best.text


def _run_compaction(workspace: Workspace, topic_id: str, **options: Any) -> Mapping[str, Any]:
    job = client.submit(workspace.spool, "compact", {"topic_id": topic_id, **options}, submitted_by="demo")
    (record,) = _follow(workspace, [job.job_id], Console(quiet=True))
    if record.result is None:
        raise JobError("INTERNAL", f"The topic was not compacted: {record.error}.")
    return record.result


def _compact(
    workspace: Workspace,
    reader: Reader,
    settings: Settings,
    wanted: dict[str, Any],
    seen: Mapping[str, Any],
    console: Console,
) -> list[dict[str, Any]]:
    """Show a compaction's preview and apply it; the query before and afterwards."""
    before = _ask(reader, settings, wanted["ask"], console, wanted["before"])
    record, conflicts = seen["decision_record"], seen["conflicts"]
    console.print(f"[bold]Compacting the topic “{record['topic']}”[/bold]\n[dim]{wanted['why']}[/dim]")
    console.print(
        f"{len(seen['summaries'])} summaries would become one decision record of"
        f" {len(record['consolidated_decisions'])} decisions. Decisions that conflict: {len(conflicts)}."
    )
    for conflict in conflicts:
        for side in ("earlier", "later"):
            age = wording.age(conflict[side]["date"], clock.now())
            console.print(f"  {side}, {age}: {conflict[side]['text']}", markup=False)
    done = _run_compaction(workspace, wanted["topic_id"], preview_digest=seen["preview_digest"])
    console.print(f"Applied what was shown: memory #{done['memory_number']} supersedes {len(done['superseded'])}.\n")
    answer = _ask(reader, settings, wanted["ask"], console, "The record answers for them; restore would undo it.")
    return [{"question": wanted["ask"], **found} for found in (before, answer)]


def _ask_graph(workspace: Workspace, wanted: dict[str, Any], console: Console) -> None:
    """Ask the knowledge graph, as a person does: in a process that begins after the graph was installed."""
    console.print(f"[bold]Asking the knowledge graph: {wanted['ask']}[/bold]\n[dim]{wanted['why']}[/dim]")
    options = ["--workspace", str(workspace.root), "--top-k", str(wanted["top_k"])]
    command = [sys.executable, "-m", "worker.cli", "ask", wanted["ask"], *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    if done.returncode:
        raise JobError("INTERNAL", "The graph did not answer: the lines above say why.")
    console.print(done.stdout, markup=False)


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
