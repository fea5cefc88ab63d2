"""The states of jobs and the verbs that fit them, as modules for the page and the extension."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from jobs.errors import BROUGHT
from jobs.states import ENDED, FAILED, VERBS

_ROOT = Path(__file__).resolve().parent.parent
_PAGE = _ROOT / "worker" / "page" / "job-states.js"
_EXTENSION = _ROOT / "extension" / "src" / "core" / "job-states.ts"

_HEAD = """\
// Made from the code by `python -m tools.schemas`: do not edit.
"""


def files() -> dict[Path, str]:
    """The text of each module, by its path."""
    page = [
        _HEAD,
        f"/** The states in which a job has ended. */\nexport const ENDS = {json.dumps(ENDED)};\n",
        _verbs("export const VERBS = {"),
        "/** The errors of files that came with a repository: each is run by itself, never with all others. */\n"
        f"export const FROM_ELSEWHERE = {_set(sorted(BROUGHT))};\n",
    ]
    extension = [
        _HEAD,
        "/** The states of jobs that ended without success by themselves. */\n"
        f"export const FAILED: ReadonlySet<string> = {_set(FAILED)};\n",
        _verbs("export const VERBS = {", "<string>"),
    ]
    return {_PAGE: "\n".join(page), _EXTENSION: "\n".join(extension)}


def _verbs(head: str, of: str = "") -> str:
    rows = "".join(f"  {name}: {_set(verb.states, of)},\n" for name, verb in VERBS.items())
    return f"/** The states of jobs that a request can be about. */\n{head}\n{rows}}};\n"


def _set(words: Iterable[str], of: str = "") -> str:
    return f"new Set{of}({json.dumps(list(words))})"
