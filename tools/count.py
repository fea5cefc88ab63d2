"""Prints how large the project is: ``python -m tools.count``, or ``make count``.

A line of code is one with code on it: no blank, comment or docstring. Python is read by ``tokenize`` and ``ast``;
TypeScript, JavaScript, CSS and HTML by a scan for comments that knows strings.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent

# Each part, the most lines that it may have, if that is agreed, and its folders.
LINES: tuple[tuple[str, int | None, tuple[str, ...]], ...] = (
    ("product", 51_000, ("jobs/", "bridge/", "worker/", "extension/src/")),
    ("benchmarks and tools", 4_500, ("benchmarks/", "tools/")),
    ("tests", 50_000, ("tests/",)),
    ("tests of the extension", None, ("extension/test/", "extension/e2e/", "extension/bench/")),
)
DOCS = ("docs words", 70_000, re.compile(r"docs/[^/]+\.md|README\.md|extension/README\.md"))

_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`'
_COMMENT = {
    ".html": re.compile(r"()<!--.*?-->", re.S),
    ".css": re.compile(rf"({_STRING})|/\*.*?\*/", re.S),
}
_SCRIPT = re.compile(rf"({_STRING})|/\*.*?\*/|//[^\n]*", re.S)
_SCRIPTS = (".ts", ".tsx", ".js", ".mjs", ".cjs")


def main() -> None:
    files = _files()
    print(f"{'part':22}{'today':>8}{'at most':>9}")
    for name, most, folders in LINES:
        rows = [(folder, count(path for path in files if path.startswith(folder))) for folder in folders]
        print(f"{name:22}{sum(lines for _, lines in rows):8,}{'' if most is None else f'{most:,}':>9}")
        for folder, lines in rows if len(rows) > 1 else ():
            print(f"  {folder:20}{lines:8,}")
    name, most, pattern = DOCS
    words = sum(len((ROOT / path).read_text("utf-8").split()) for path in files if pattern.fullmatch(path))
    print(f"{name:22}{words:8,}{most:9,}")


def count(paths: Iterable[str]) -> int:
    """The lines of code of the files, as paths below the project's folder."""
    return sum(code_lines(path, (ROOT / path).read_text("utf-8")) for path in paths if Path(path).suffix in _READ)


def code_lines(path: str, text: str) -> int:
    """The lines of code in a file's text; the name's end tells the language."""
    suffix = Path(path).suffix
    if suffix == ".py":
        return _python(text)
    pattern = _COMMENT.get(suffix, _SCRIPT)
    without = pattern.sub(lambda found: found[1] or "\n" * found[0].count("\n"), text)
    return sum(1 for line in without.splitlines() if line.strip())


_READ = (".py", *_SCRIPTS, *_COMMENT)


def _python(text: str) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            lines.difference_update(range(said.lineno, (said.end_lineno or said.lineno) + 1))
    return len(lines)


def _files() -> list[str]:
    """The files that git follows, or would."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(path for path in set(listed) if (ROOT / path).is_file())


if __name__ == "__main__":
    main()
