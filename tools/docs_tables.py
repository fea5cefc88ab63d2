"""The tables in docs/settings.md, docs/errors.md and docs/delivery.md, made from the code.

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
from jobs.steps import STEPS
from worker.recovery import DEBTS, REPAIRS

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


def steps() -> str:
    """The durable steps in their order, with what a crash beside each leaves and who mends it."""
    rows = [
        (str(number), f"`{s.name}`", s.process, s.does, s.left_before, s.left_after, s.mended_by)
        for number, s in enumerate(STEPS, 1)
    ]
    head = ("", "step", "process", "does", "a crash right before leaves", "a crash right after leaves", "mended by")
    return _table(head, rows)


def repairs() -> str:
    """What recovery does about each combination; where the dropped file makes no difference, one row."""
    rows = []
    for (record, copy, dropped), repair in REPAIRS.items():
        other = REPAIRS.get((record, copy, not dropped))
        if repair != other:
            rows.append((record, copy, "there" if dropped else "absent", repair))
        elif dropped:
            rows.append((record, copy, "either", repair))
    return _table(("record", "copy", "dropped file", "repair"), rows)


def debts() -> str:
    """Who pays what the graph is owed for a job's memory."""
    rows = [(record, "owed" if owed else "paid", debt) for (record, owed), debt in DEBTS.items()]
    return _table(("record", "outbox", "repair"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "settings": settings,
    "errors": errors,
    "steps": steps,
    "repairs": repairs,
    "debts": debts,
}
_OF_DELIVERY = frozenset({"steps", "repairs", "debts"})


def page_of(name: str) -> Path:
    """The page that shows the table."""
    return DOCS / f"{'delivery' if name in _OF_DELIVERY else name}.md"


def renewed(name: str, page: str) -> str:
    """The page with its table as the code would make it."""
    begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->\n"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page_of(name).name} lacks the markers of the table {name!r}")
    return f"{before}{begin}{TABLES[name]()}{end}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.docs_tables", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 if a table is not current")
    check = parser.parse_args().check
    stale = False
    for name in TABLES:
        path = page_of(name)
        page = path.read_text("utf-8")
        wanted = renewed(name, page)
        if page != wanted:
            stale = True
            print(f"{'not current' if check else 'written'}: docs/{path.name}")
            if not check:
                path.write_text(wanted, "utf-8", newline="\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
