"""The tables in docs/settings.md and docs/errors.md, made from the code.

python -m tools.docs_tables            write them between their markers
python -m tools.docs_tables --check    change nothing; exit status 1 if one is not current
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path

from bridge import answer
from bridge.settings import Settings, default_of, table
from jobs.errors import ERRORS, JobError, Reaction

DOCS = Path(__file__).resolve().parent.parent / "docs"

_COMMAND = re.compile(r"cognee-memory( [a-z][a-z-]*| --[a-z-]+| <\w+>)+")
_REACTIONS = {
    Reaction.REJECT: "rejects the file",
    Reaction.RETRY: "tries again, counted",
    Reaction.WAIT: "waits, uncounted",
    Reaction.GIVE_UP: "gives up",
}


def settings() -> str:
    """Each setting with its default, and whether the ``.env`` of a workspace may say it."""
    flags = {f.name: f.metadata for f in fields(Settings) if not f.metadata.get("internal")}
    rows = []
    for row in table(Settings()):
        flag = flags[row.name]
        allowed = "yes" if flag["workspace"] else "if trusted" if flag["env"] else "no"
        rows.append((f"`{row.variable}`", _default(row.name), allowed, _prose(row.help)))
    return _table(("variable", "default", "in a workspace's `.env`", "meaning"), rows)


def _default(name: str) -> str:
    value = default_of(name)
    if value is None:
        return "–"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def errors() -> str:
    """Each error: what it means, what the worker does with the job, what a person does, and the exit code."""
    rows = [
        (
            f"`{kind.code}`",
            _prose(kind.cause),
            _REACTIONS[kind.reaction],
            _prose(kind.remediation),
            str(answer.exit_code(answer.failure(JobError(kind.code)))),
        )
        for kind in ERRORS.values()
    ]
    return _table(("code", "cause", "the worker", "what to do", "exit code"), rows)


def _prose(text: str) -> str:
    """Text for a cell; commands in backticks, where nothing needs to be escaped."""
    parts = []
    done = 0
    for command in _COMMAND.finditer(text):
        parts += [escape(text[done : command.start()], quote=False), f"`{command[0]}`"]
        done = command.end()
    return "".join([*parts, escape(text[done:], quote=False)]).replace("|", r"\|")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


TABLES: dict[str, Callable[[], str]] = {"settings": settings, "errors": errors}


def renewed(name: str, page: str) -> str:
    """The page with its table as the code would make it."""
    begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->\n"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{name}.md lacks the markers of its table")
    return f"{before}{begin}{TABLES[name]()}{end}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.docs_tables", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 if a table is not current")
    check = parser.parse_args().check
    stale = False
    for name in TABLES:
        path = DOCS / f"{name}.md"
        page = path.read_text("utf-8")
        wanted = renewed(name, page)
        if page != wanted:
            stale = True
            print(f"{'not current' if check else 'written'}: docs/{name}.md")
            if not check:
                path.write_text(wanted, "utf-8", newline="\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
