"""TypeScript in tests: the compiler that tests/data/typescript pins, and the samples of the docs.

npm installs the compiler once, beside the file that pins it. Without node and npm, a test is skipped.
"""

import fcntl
import json
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from harness import PATIENCE, PROJECT

TYPES = PROJECT / "docs" / "schemas" / "cognee-memory.d.ts"
PROMISES = PROJECT / "tests" / "data" / "typescript" / "promises.ts"

_PINNED = PROJECT / "tests" / "data" / "typescript"
_SAMPLE = re.compile(r"^```ts(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STRICT = {
    "strict": True,
    "exactOptionalPropertyTypes": True,
    "noUncheckedIndexedAccess": True,
    "noPropertyAccessFromIndexSignature": True,
    "noImplicitReturns": True,
    "noUnusedLocals": True,
    "noUnusedParameters": True,
    "target": "es2022",
    "module": "nodenext",
    "outDir": "out",
    "types": ["node"],
    "skipLibCheck": True,
}

ModuleKind = Literal["module", "commonjs"]


@cache
def node() -> str:
    """The path of node. Skips the test without it."""
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not on this machine")
    return found


def packages() -> Path:
    """The folder of the pinned packages, installed."""
    node()
    lock = _PINNED / "package-lock.json"
    installed = _PINNED / "node_modules" / ".package-lock.json"
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # tests run in several processes
        if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=_PINNED, check=True, timeout=PATIENCE)
    return _PINNED / "node_modules"


def samples(page: Path) -> dict[str, str]:
    """The TypeScript blocks of a page, by the name of their file: the one behind ```` ```ts ````, else by number."""
    found = enumerate(_SAMPLE.findall(page.read_text("utf-8")))
    return {name or f"{page.stem}-{number}.ts": content for number, (name, content) in found}


def compiled(folder: Path) -> dict[ModuleKind, Path]:
    """Compile every sample and the promises beside the published types, in a package of each kind.

    Returns the folders of the JavaScript. Fails the test with the compiler's words.
    """
    kinds: tuple[ModuleKind, ...] = ("module", "commonjs")
    for kind in kinds:
        _write_package(folder / kind, kind)
    done = subprocess.run(  # both at once, so that the declarations of packages are read once
        [node(), str(packages() / "typescript" / "bin" / "tsc"), "--build", *(str(folder / kind) for kind in kinds)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return {kind: Path(shutil.copy(folder / kind / "package.json", folder / kind / "out")).parent for kind in kinds}


def _write_package(folder: Path, kind: ModuleKind) -> None:
    folder.mkdir()
    # As a module they are checked whole. Declarations are checked with those of all packages only, which takes seconds.
    shutil.copy(TYPES, folder / TYPES.name.replace(".d.ts", ".ts" if kind == "module" else ".d.ts"))
    shutil.copy(PROMISES, folder)
    (folder / "package.json").write_text(json.dumps({"type": kind}), "utf-8")
    # With verbatimModuleSyntax, CommonJS has another syntax than the samples: import x = require("x").
    options = _STRICT | {"verbatimModuleSyntax": kind == "module", "typeRoots": [str(packages() / "@types")]}
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["*.ts"]}), "utf-8")
    for page in sorted((PROJECT / "docs").glob("*.md")):
        for name, content in samples(page).items():
            assert not (folder / name).exists(), f"{name} is there twice"
            (folder / name).write_text(content, "utf-8")


def program(folder: Path) -> Path:
    """An executable ``cognee-memory`` in the folder, of this project."""
    made = folder / "cognee-memory"
    command = f"PYTHONPATH={shlex.quote(str(PROJECT))} exec {shlex.quote(sys.executable)} -m worker.cli"
    made.write_text(f'#!/bin/sh\n{command} "$@"\n', "utf-8")
    made.chmod(0o700)
    return made
