"""The models that a user added: ONNX graphs in the cache folder, with what is known of each in ``model.json``.

The setting that chooses one is ``NAME:DIGEST``, with the digest of its row, which has the checksums of all its files,
so vectors of two models never mix, whatever folder takes the other one's place. ``model_addition`` writes them. It
imports little, since queries read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from jobs.errors import JobError

from ..pattern import pattern
from .config import ADDED
from .local_model import LocalModel
from .model_files import File

DESCRIPTION = "model.json"
CENTRE = "centre.npy"
_NAME = pattern(r"[a-z0-9][a-z0-9._-]{0,63}")


def folder_of(name: str) -> Path:
    """The folder of an added model, below the cache folder. Raises JobError: ARGUMENT_INVALID for no usable name."""
    if not _NAME.fullmatch(name):
        raise JobError(
            "ARGUMENT_INVALID",
            f"{name!r} cannot be the name of a model.",
            remediation="Give one with --name: at most 64 of a-z, 0-9, dot, hyphen and underscore.",
        )
    return Path("added") / name


def read(cache_dir: Path, model: str) -> LocalModel:
    """The model that the setting names. Raises JobError: MODEL_MISSING."""
    name = model.partition(":")[0]
    with suppress(JobError):
        found = described(cache_dir / folder_of(name))
        if found.model == model:
            return found
    raise JobError(
        "MODEL_MISSING",
        f"There is no model {model} in {cache_dir / 'added'}.",
        remediation="Add it: cognee-memory model add FOLDER. Or choose another one: cognee-memory model list.",
    )


def all_added(cache_dir: Path) -> Iterator[LocalModel]:
    """The models that were added, by name; damaged ones are left out."""
    for path in sorted(cache_dir.glob(f"added/*/{DESCRIPTION}")):
        with suppress(JobError):
            yield described(path.parent)


def described(folder: Path) -> LocalModel:
    """The row in a folder's ``model.json``. Raises JobError: MODEL_MISSING, MODEL_CORRUPT."""
    path = folder / DESCRIPTION
    try:
        content = json.loads(path.read_bytes())
        return row_of(content["name"], content["row"], content["about"])
    except OSError:
        raise JobError("MODEL_MISSING", f"There is no {path}.") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise JobError("MODEL_CORRUPT", f"{path} does not describe a model.") from None


def row_of(name: str, row: dict[str, Any], about: dict[str, Any]) -> LocalModel:
    """The model of a description. ``row``: all that its vectors depend on; ``about``: the rest.

    Raises JobError: ARGUMENT_INVALID, and ValueError, LookupError or TypeError.
    """
    import hashlib

    digest = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:12]
    folder, files = folder_of(name), tuple(File(**file) for file in row["files"])
    return LocalModel(
        name=name,
        provider=ADDED,
        model=f"{name}:{digest}",
        folder=folder,
        optimised=True,
        prepacked=True,
        centre=Path(CENTRE),
        size_mb=round(sum(file.size for file in files) / 1e6),
        **row | about | {"files": files},
    )
