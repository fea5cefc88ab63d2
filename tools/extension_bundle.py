"""The program as the VS Code extension carries it: its wheel, the lock of the core, and a description of both.

python -m tools.extension_bundle FOLDER

It needs pip and setuptools only. The same sources make the same bytes, because the extension compares builds by them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = "requirements-core.lock"
DESCRIPTION = "bundle.json"
SOURCES = (
    *("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md"),
    *("requirements.lock", "requirements-core.lock"),
)
# Their native libraries may not load on a machine, although they can be installed.
NATIVE_MODULES = ("numpy", "onnxruntime", "tokenizers")
FIXED_TIME = "315532800"  # 1980-01-01, the earliest time of a file in a zip archive


def bundle(root: Path, folder: Path) -> None:
    """Write the wheel, the lock and the description of a project into ``folder``, and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheel = build_wheel(root, folder)
    lock = shutil.copy(root / LOCK, folder / LOCK)
    description = {
        "build": build_of([wheel, Path(lock)]),
        "version": version_of(root),
        "wheel": wheel.name,
        "lock": LOCK,
        "packages": package_count((folder / LOCK).read_text(encoding="utf-8")),
        "modules": NATIVE_MODULES,
    }
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")


def build_wheel(root: Path, folder: Path) -> Path:
    """Build the wheel from a copy of the sources."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "project")
        copy_sources(root, copy)
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-build-isolation"]
        subprocess.run(
            [sys.executable, "-P", "-m", "pip", "wheel", *options, "--wheel-dir", str(folder), str(copy)],
            check=True,
            cwd=temporary,
            env={**os.environ, "SOURCE_DATE_EPOCH": FIXED_TIME},
        )
    (wheel,) = folder.glob("*.whl")
    return wheel


def copy_sources(root: Path, copy: Path) -> None:
    """Copy what the program is built from: ``build/`` of a former build may have modules that were removed."""
    packages = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    copy.mkdir()
    for name in SOURCES:
        shutil.copy(root / name, copy)
    for name in sorted({package.partition(".")[0] for package in packages}):
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))


def build_of(files: list[Path]) -> str:
    """The digest of files: the name of what they contain."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def version_of(root: Path) -> str:
    """The version of a project."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def package_count(lock: str) -> int:
    """How many packages a lock names, those for other systems too."""
    return len(re.findall(r"^[A-Za-z0-9][\w.-]*==", lock, re.MULTILINE))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; what it has is removed")
    bundle(ROOT, parser.parse_args().folder.resolve())
