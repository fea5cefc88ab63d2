"""Adds a sentence model from a folder as model hubs publish it: copies it, tries it, and calibrates it.

What the folder says is read by ``hub_folder``. The copy is run, never the folder; it takes its place only if it can be
used, with a description that ``added_models`` reads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jobs import files
from jobs.errors import JobError

from . import added_models, calibration, hub_folder, onnx_graph
from .added_models import CENTRE, DESCRIPTION
from .factory import create, processors
from .hub_folder import HubFolder, unusable
from .installer import Progress, Report, copy, installing, renamed_into_place
from .local_model import LocalModel
from .local_models import ENGLISH
from .model_files import MARKER, File, digest, manifest
from .onnx import OnnxEmbedder

_TRIED = ("Which port does the server use?", "The server listens on port 8080.", "x", "naïve — 日本語 🙂")


def add(
    folder: Path,
    cache_dir: Path,
    pairs: Sequence[tuple[str, str]],
    *,
    name: str | None = None,
    report: Report = lambda progress: None,
) -> LocalModel:
    """The model of the folder, copied and calibrated on ``pairs`` of a question and a text.

    ``name``: that of the folder if it is None. Raises JobError: MODEL_UNUSABLE; ARGUMENT_INVALID for a name that cannot
    be one, or belongs to another model; DISK_FULL; MODEL_MISSING if the cache folder cannot be written.
    """
    published = hub_folder.read(folder)
    name = name or folder.absolute().name.lower()
    target = cache_dir / added_models.folder_of(name)
    size = sum((folder / path).stat().st_size for path in published.sources().values())
    with installing(target, size, report), renamed_into_place(target) as staging:
        copied = _copied(published, staging, size, report)
        report(Progress("calibrating"))
        model = _calibrated(name, published, staging, copied, pairs)
        if (target / DESCRIPTION).exists() and not _is(target, model):
            raise JobError(
                "ARGUMENT_INVALID",
                f"There is another model {name!r} in {target}, of other files or another calibration.",
                remediation="Give this one another name with --name, or delete that folder.",
            )
    return model


def _is(target: Path, model: LocalModel) -> bool:
    try:
        return added_models.described(target).model == model.model
    except JobError:  # what cannot be read is replaced
        return True


def _copied(published: HubFolder, staging: Path, size: int, report: Report) -> list[File]:
    copied, done = [], 0
    for name, path in published.sources().items():
        with hub_folder.open_plain(published.folder, path) as content:
            copied.append(copy(content, staging / name))
        report(Progress("installing", done := done + copied[-1].size, size))
    return copied


def _calibrated(
    name: str, published: HubFolder, staging: Path, copied: list[File], pairs: Sequence[tuple[str, str]]
) -> LocalModel:
    """The model's row, written into the folder of its copied files."""
    output, pooling = _output(published, staging)
    row: dict[str, Any] = {
        "graph": copied[0].name,
        "output": output,
        "pooling": pooling,
        "text_prefix": published.text_prefix,
        "query_prefix": published.query_prefix,
        "token_limit": published.token_limit,
        "files": [file._asdict() for file in copied],
    }
    about: dict[str, Any] = {"languages": "see its page", "licence": published.licence, "query_ms": 0}

    def embedder(**more: Any) -> OnnxEmbedder:
        model = added_models.row_of(name, row | {"dimensions": 0, "removed": 0.0}, about)
        return OnnxEmbedder(model._replace(centre=None), staging, **more)

    row["dimensions"], about["query_ms"] = _tried(published, embedder())
    default = create(ENGLISH.config(staging), bulk=True)
    rows, row["removed"] = calibration.measure(embedder(threads=processors()), default, pairs)
    np.save(staging / CENTRE, rows, allow_pickle=False)
    row["files"].append(File(CENTRE, (staging / CENTRE).stat().st_size, digest(staging / CENTRE))._asdict())
    model = added_models.row_of(name, row, about)
    description = json.dumps({"name": name, "row": row, "about": about}, indent=1)
    files.write_new(staging / DESCRIPTION, description.encode())
    files.write_new(staging / MARKER, manifest(model.needed()).encode())
    return model


def _output(published: HubFolder, staging: Path) -> tuple[str, str]:
    """The output of the graph that is used, and how it is pooled. Raises JobError: MODEL_UNUSABLE."""
    graph = staging / Path(published.graph).name
    try:
        session = onnx_graph.open_session(graph)
        onnx_graph.require_encoder(session)
        onnx_graph.open_tokenizer(staging / "tokenizer.json")
    except Exception as error:  # the libraries raise nothing narrower
        raise unusable(published.folder, onnx_graph.first_line(error)) from None
    ranks = {each.name: each.rank for each in session.outputs if each.element == "float32"}
    if ranks.get("sentence_embedding") == 2:
        return "sentence_embedding", "none"
    tokens = next((name for name, rank in ranks.items() if rank == 3), None)
    if tokens is None:
        raise unusable(published.folder, "its graph gives no vector of each token, and no sentence_embedding")
    if published.pooling is None:
        why = "it has no 1_Pooling/config.json, which says how the vectors of tokens become one"
        raise unusable(published.folder, why)
    return tokens, published.pooling


def _tried(published: HubFolder, embedder: OnnxEmbedder) -> tuple[int, int]:
    """The number of dimensions, and the milliseconds of a question. Raises JobError: MODEL_UNUSABLE."""
    try:
        first, second = (embedder.plain(_TRIED, is_query=False) for _ in range(2))
        started = time.perf_counter()
        embedder.plain(_TRIED[:1], is_query=True)
        milliseconds = round(1000 * (time.perf_counter() - started))
    except Exception as error:  # onnxruntime's exceptions share no narrower base
        raise unusable(published.folder, f"it cannot be run: {onnx_graph.first_line(error)}") from None
    if not np.isfinite(first).all() or not first.any(axis=1).all():
        raise unusable(published.folder, "its vectors are not finite, or zero")
    if (first != second).any():
        raise unusable(published.folder, "the same text gets another vector each time")
    if (first[0] == first[1]).all():
        raise unusable(published.folder, "all texts get the same vector")
    return first.shape[1], max(1, milliseconds)
