"""What a segment refers to: the files that were touched or named, branches, issues and plans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ..memory import References
from ..text.references import classify
from .session import Turn

MOST = 8  # of each kind; the most frequent ones
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
# In prose, only what is clearly a reference: a path with a slash and an ending, a known name in code marks, an issue.
_NAMED = re.compile(
    r"(?<![\w/@:.-])@?(?P<path>(?:[\w.@~-]{1,100}/){1,30}[\w@-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,5})(?![\w/])"
    r"|`(?P<file>[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|rb|php|sh|sql|md|rst|txt"
    r"|json|jsonl|yaml|yml|toml|ini|cfg|lock|html|css|scss|vue|svelte|proto|tf|ipynb))`"
    r"|(?P<issue>https?://[^\s)>\]]{1,200}/(?:issues|pull|merge_requests)/\d+|(?<![\w&/])(?:[\w.-]+/[\w.-]+)?#\d{1,6}\b"
    r"|\b(?:issue|PR|pull request|bug) #?\d{1,6}\b|\bGH-\d+\b)"
    r"|\b(?P<plan>[Pp]lan[ _-]\d{1,4})\b"
    r"|(?<![\w/.-])(?P<branch>(?:feature|feat|fix|bugfix|hotfix|release|chore)/[\w./-]*[\w-])"
)


def references(turns: Sequence[Turn]) -> References:
    """The references of a segment, the most frequent first, and of equally frequent ones the first."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in ("files", "plans", "branches", "issues")}
    for turn in turns:
        found["files"].update(_relative(path, turn.folder) for path in turn.files)
        if turn.branch and turn.branch != "HEAD":
            found["branches"][turn.branch] += 1
        if not turn.part:
            for kind, value in _named(turn.text):
                found[kind][value] += 1
    return References(**{kind: _most(counts) for kind, counts in found.items()})


def _named(text: str) -> Iterable[tuple[str, str]]:
    for match in _NAMED.finditer(_FENCED.sub("\n", text)):
        value = match[0].strip("`").removeprefix("@")
        if match["path"] is not None or match["file"] is not None:
            yield "files", value
        else:
            yield classify(value)


def _most(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(value for value, _ in counts.most_common(MOST))


def _relative(path: str, folder: str | None) -> str:
    """A file's path below the folder of its turn; others as they are."""
    plain = path.replace("\\", "/")
    base = (folder or "").replace("\\", "/").rstrip("/") + "/"
    return plain.removeprefix(base) if len(base) > 1 else plain
