"""The files of a release: the source distribution, the wheel that is made of it, and what is checked about them.

python -m tools.dist FOLDER

It needs uv and setuptools only, and no network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from email import message_from_bytes
from hashlib import sha256
from pathlib import Path
from typing import Any

from . import extension_bundle

ROOT = extension_bundle.ROOT
LOCKS = ("requirements.lock", "requirements-core.lock")
_LOCK_IN_WHEEL = "worker/data/requirements.lock"


def build(root: Path, folder: Path) -> tuple[Path, Path]:
    """Write the source distribution of a project and the wheel that is made of it into ``folder``, and nothing else.
    Returns their paths, in this order."""
    shutil.rmtree(folder, ignore_errors=True)
    options = ["--quiet", "--offline", "--no-build-isolation", "--no-config", "--python", sys.executable]
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "project")
        extension_bundle.copy_sources(root, copy)
        subprocess.run(
            [sys.executable, "-m", "uv", "build", *options, "--out-dir", str(folder), str(copy)],
            check=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": extension_bundle.FIXED_TIME},
        )
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


def problems(root: Path, source: Path, wheel: Path) -> list[str]:
    """What is wrong with the files of a release; empty if nothing is."""
    found = []
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory() as temporary:
        direct = _content(extension_bundle.build_wheel(root, Path(temporary)))
    if direct != (content := _content(wheel)):
        names = sorted(name for name in {*direct, *content} if direct.get(name) != content.get(name))
        found.append(f"The wheel of the source distribution differs from that of the sources: {', '.join(names)}.")
    wanted = {name: sha256((root / name).read_bytes()).hexdigest() for name in _packaged(root)}
    wanted[_LOCK_IN_WHEEL] = sha256((root / LOCKS[0]).read_bytes()).hexdigest()
    code = {name: digest for name, digest in content.items() if ".dist-info/" not in name}
    if code != wanted:
        names = sorted(name for name in {*code, *wanted} if code.get(name) != wanted.get(name))
        found.append(f"The wheel has too much, too little or other content: {', '.join(names)}.")
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    found += [
        f"The source distribution lacks {name}." for name in ("README.md", "LICENSE", *LOCKS) if name not in inside
    ]
    metadata = _metadata(wheel)
    for name, value in (("Version", project["version"]), ("Description-Content-Type", "text/markdown")):
        if metadata[name] != value:
            found.append(f"The wheel's metadata has the {name} {metadata[name]!r}.")
    if not str(metadata.get_payload()).startswith("# "):
        found.append("The wheel's metadata has no description.")
    if any("cognee==" in line and "extra ==" not in line for line in metadata.get_all("Requires-Dist", [])):
        found.append("The core requires cognee.")
    return [*found, *server_problems(json.loads((root / "server.json").read_bytes()), project)]


def server_problems(server: dict[str, Any], project: dict[str, Any]) -> list[str]:
    """What is wrong with the entry for the registry of MCP servers, by the rules of its schema of 2025-12-11."""
    (package,) = server["packages"]
    checks = {
        "its description has 1 to 100 characters": 0 < len(server["description"]) <= 100,
        "its versions are the project's": server["version"] == package["version"] == project["version"],
        "its package is the project's": (package["registryType"], package["identifier"]) == ("pypi", project["name"]),
        "it is spoken to by stdio": package["transport"] == {"type": "stdio"},
    }
    return [f"server.json: not so: {rule}." for rule, holds in checks.items() if not holds]


def _packaged(root: Path) -> list[str]:
    """The files of the packages, as git knows them."""
    packages = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    tops = sorted({package.partition(".")[0] for package in packages})
    options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", *tops]
    listed = subprocess.run(["git", "-C", str(root), *options], check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and not name.endswith(".md") and (root / name).is_file()]


def _content(wheel: Path) -> dict[str, str]:
    """The files of a wheel: name -> SHA-256."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: sha256(archive.read(name)).hexdigest() for name in archive.namelist() if name[-1] != "/"}


def _metadata(wheel: Path) -> Any:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; what it has is removed")
    built = build(ROOT, parser.parse_args().folder.resolve())
    if wrong := problems(ROOT, *built):
        sys.exit("\n".join(wrong))
    for path in built:
        print(f"{path.name}: {path.stat().st_size / 1_000_000:.1f} MB")
