"""A folder of a sentence model, as model hubs publish it: which files it has, and how its vectors are made.

Only plain files of the folder are read, and nothing of it is run.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import IO, Any, NamedTuple

from jobs import plain_files
from jobs.errors import JobError

from . import external_data
from .added_models import CENTRE, DESCRIPTION
from .local_model import Pooling
from .model_files import MARKER

GRAPHS = (
    "onnx/model.onnx",
    "model.onnx",
    "onnx/model_quantized.onnx",
    "model_quantized.onnx",
    "model_optimized.onnx",
)
"""Where hubs have the graph, the first choice first."""
_OURS = ("", "tokenizer.json", DESCRIPTION, CENTRE, MARKER)  # names that the copy has, or will have
_TOKENS = 512
_JSON_BYTES = 4 << 20
_POOLINGS: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
    "pooling_mode_lasttoken": "last",
}
_MODULES = ("Transformer", "Pooling", "Normalize")

_SEARCH = "Represent this sentence for searching relevant passages: "
# By the name of the model: what it wants before a question, and before a text. The first match holds.
_PREFIXES = (
    (r"e5.*instruct", "Instruct: Given a question, retrieve passages that answer it\nQuery: ", ""),
    (r"\be5\b", "query: ", "passage: "),
    (r"nomic-embed", "search_query: ", "search_document: "),
    (r"arctic-embed.*v2", "query: ", ""),
    (r"arctic-embed", _SEARCH, ""),
    (r"bge-(small|base|large)-en", _SEARCH, ""),
    (r"bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
)


class HubFolder(NamedTuple):
    """What a folder says. ``graph``: its path in the folder; ``data``: the names of files beside it with its weights.

    ``pooling``: None if the folder does not say it. ``licence``: as published, or unknown.
    """

    folder: Path
    graph: str
    data: tuple[str, ...]
    pooling: Pooling | None
    query_prefix: str
    text_prefix: str
    token_limit: int
    licence: str

    def sources(self) -> dict[str, str]:
        """The files that the model needs: name in its own folder -> path in this one."""
        graph = Path(self.graph)
        return {
            graph.name: self.graph,
            **{name: str(graph.parent / name) for name in self.data},
            "tokenizer.json": "tokenizer.json",
        }


def read(folder: Path) -> HubFolder:
    """What a folder says. Raises JobError: MODEL_UNUSABLE."""
    graph = next((path for path in GRAPHS if os.path.lexists(folder / path)), None)
    if graph is None:
        raise unusable(folder, f"it has no ONNX graph; looked for {', '.join(GRAPHS)}")
    for path in (graph, "tokenizer.json"):
        with open_plain(folder, path):
            pass
    try:
        data = tuple(sorted(external_data.locations(folder / graph)))
    except (ValueError, OSError) as error:
        raise unusable(folder, f"{graph} cannot be read: {error}") from None
    for name in data:
        if name != Path(name).name or name in (Path(graph).name, *_OURS) or "\\" in name:
            raise unusable(folder, f"{graph} has weights in {name!r}, which is not a file beside it")
        with open_plain(folder, str(Path(graph).parent / name)):
            pass
    modules = _json(folder, "modules.json", [])
    for module in modules if isinstance(modules, list) else ():
        kind = str(module.get("type", "") if isinstance(module, dict) else module).rpartition(".")[2]
        if kind not in _MODULES:
            raise unusable(folder, f"modules.json has a layer {kind}, which the graph does not have")
    query_prefix, text_prefix = _prefixes(folder)
    return HubFolder(
        folder, graph, data, _pooling(folder), query_prefix, text_prefix, _token_limit(folder), _licence(folder)
    )


def open_plain(folder: Path, path: str) -> IO[bytes]:
    """A plain file of the folder. Raises JobError: MODEL_UNUSABLE for a link, a missing file or anything else."""
    parts = Path(path).parts
    for depth in range(1, len(parts) + 1):
        if (folder / Path(*parts[:depth])).is_symlink():
            remedy = "Bring the files themselves: hf download MODEL --local-dir FOLDER."
            raise unusable(folder, f"{Path(*parts[:depth])} is a link", remedy)
    try:
        return os.fdopen(plain_files.open_plain(folder / path), "rb")
    except OSError as error:
        raise unusable(folder, f"{path} cannot be opened: {error.strerror}") from None
    except JobError:
        raise unusable(folder, f"{path} is no plain file") from None


def unusable(folder: Path, why: str, remedy: str = "") -> JobError:
    """The error for a folder that does not hold a model that can be run."""
    return JobError("MODEL_UNUSABLE", f"{folder} cannot be added: {why}.", remediation=remedy)


def _json(folder: Path, path: str, default: Any) -> Any:
    """The content of a file that need not be there. Raises JobError: MODEL_UNUSABLE."""
    if not os.path.lexists(folder / path):
        return default
    with open_plain(folder, path) as file:
        content = file.read(_JSON_BYTES + 1)
    try:
        if len(content) > _JSON_BYTES:
            raise ValueError("it is too long")
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise unusable(folder, f"{path} is no JSON: {error}") from None


def _object(folder: Path, path: str) -> dict[str, Any]:
    found = _json(folder, path, {})
    return found if isinstance(found, dict) else {}


def _pooling(folder: Path) -> Pooling | None:
    modes = [name for name, on in _object(folder, "1_Pooling/config.json").items() if name[:8] == "pooling_" and on]
    if not modes:
        return None
    if len(modes) > 1 or modes[0] not in _POOLINGS:
        raise unusable(folder, f"it pools by {' and '.join(modes)}; known are {', '.join(_POOLINGS)}")
    return _POOLINGS[modes[0]]


def _prefixes(folder: Path) -> tuple[str, str]:
    """What is put before a question and before a text: as the folder says, else as its family is known to want it."""
    prompts = _object(folder, "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict) and any(isinstance(prompt, str) and prompt for prompt in prompts.values()):
        query, *texts = (prompts.get(name) for name in ("query", "document", "passage"))
        text = next((each for each in texts if isinstance(each, str)), "")
        return query if isinstance(query, str) else "", text
    named = f"{_object(folder, 'config.json').get('_name_or_path', '')} {folder.absolute().name}".lower()
    return next(((query, text) for family, query, text in _PREFIXES if re.search(family, named)), ("", ""))


def _token_limit(folder: Path) -> int:
    """The longest input in tokens, with the special ones."""
    given = (
        _object(folder, "sentence_bert_config.json").get("max_seq_length"),
        _object(folder, "tokenizer_config.json").get("model_max_length"),
        _object(folder, "config.json").get("max_position_embeddings"),
    )
    return min([_TOKENS, *(number for number in given if isinstance(number, int) and number >= 16)])


def _licence(folder: Path) -> str:
    """As the model's page says it, in the first lines of its README."""
    if not os.path.lexists(folder / "README.md"):
        return "unknown"
    with open_plain(folder, "README.md") as file:
        head = file.read(4096).decode("utf-8", "replace")
    found = re.search(r"^license: *([\w.+-]{1,40}) *$", head, re.MULTILINE)
    return found[1] if found else "unknown"
