"""The published types and the TypeScript of the docs, checked by TypeScript's own compiler in its strictest form."""

from __future__ import annotations

from pathlib import Path

import pytest
import typescript
from harness import PROJECT


@pytest.mark.parametrize("kind", ["module", "commonjs"])
def test_the_types_and_every_sample_of_the_docs_compile(kind: typescript.ModuleKind, tmp_path: Path) -> None:
    """In a package of ES modules and in one of CommonJS; tests/data/typescript/promises.ts says what the types give."""
    made = typescript.compiled(tmp_path, kind)
    names = {name for page in (PROJECT / "docs").glob("*.md") for name in typescript.samples(page)}
    assert {path.stem for path in made.glob("*.js")} >= {Path(name).stem for name in names} > set()
