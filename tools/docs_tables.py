"""The tables and lists of the docs that are made from the code.

python -m tools.docs_tables            write them between their markers
python -m tools.docs_tables --check    change nothing; exit status 1 if one is not current
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from bridge.interface import envelope
from bridge.privacy import token_forms
from bridge.settings import SETTINGS, Settings, is_allowed_in_workspace, table
from jobs.diagnostics import DIAGNOSTICS, GROUPS, LEVELS, Diagnostic
from jobs.errors import ERRORS, JobError, Reaction
from jobs.kinds import KINDS
from worker import cli
from worker.monitoring.metrics import METRICS
from worker.scheduling.recovery import REPAIRS

DOCS = Path(__file__).resolve().parent.parent / "docs"

_COMMAND = re.compile(r"cognee-memory( [a-z][a-z-]*| --[a-z-]+| <\w+>)+")
# What the page says once for all errors of a reaction.
_ALREADY_SAID = re.compile(r"^No action needed: the job is retried\. ")
# The page says of an error without one of these that the worker gives up.
_REACTIONS = {
    Reaction.REJECT: "rejects",
    Reaction.RETRY: "retries",
    Reaction.WAIT: "waits",
}


def settings() -> str:
    """Each setting with its default, its meaning, and whether a workspace may set it."""
    lines = []
    for row in table(Settings()):
        flag = SETTINGS[row.name]
        meaning = _prose(row.help)
        if is_allowed_in_workspace(row.name, trusted=True):
            lowers = ", lower only" if flag.lowest is not None else ""
            meaning += f" [.env{lowers}]" if flag.workspace else " [.env if trusted]"
        default = _default(row.name)
        lines.append(f"- `{row.variable}`{default and f' ({default})'}: {meaning}\n")
    return "".join(lines)


def _default(name: str) -> str:
    value = SETTINGS[name].default
    if value is None or value == "":
        return ""
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def errors() -> str:
    """Each error: the worker's reaction and the exit code, if not the usual ones, its cause, and the remedy."""
    lines = []
    for kind in ERRORS.values():
        exit_code = envelope.exit_code(envelope.failure(JobError(kind.code)))
        usual = 4 if kind.reaction is Reaction.REJECT else 1
        said = [_REACTIONS[kind.reaction]] if kind.reaction in _REACTIONS else []
        said += [] if exit_code == usual else [f"exit code {exit_code}"]
        marks = f" ({'; '.join(said)})" if said else ""
        remedy = _prose(_ALREADY_SAID.sub("", kind.remediation))
        lines.append(f"- `{kind.code}`{marks}: {_prose(kind.cause)} {remedy}\n")
    return "".join(lines)


_WITHOUT_A_WORKER: dict[str, str] = {
    "none": "",
    "starts": " *",
    "opens": " *",
    "asks": " ‡",
    "worker": " †",
    "is": "",
}


def commands() -> str:
    """Each command and subcommand by group: what it does, and a mark where it needs a worker."""
    parsers = cli.builder()
    lines = []
    for title, group in cli.GROUPS.items():
        lines.append(f"\n**{title}**\n\n")
        for name in group:
            for verb in (verb for verb in parsers.needs if verb.split()[0] == name):
                lines.append(f"- `{verb}`{_WITHOUT_A_WORKER[parsers.needs[verb]]}: {_prose(parsers.texts[verb])}\n")
    return "".join(lines)


def _prose(text: str) -> str:
    """Text for a table cell. Commands are in backticks, where nothing needs escaping."""
    parts = []
    done = 0
    for command in _COMMAND.finditer(text):
        parts += [escape(text[done : command.start()], quote=False), f"`{command[0]}`"]
        done = command.end()
    return "".join([*parts, escape(text[done:], quote=False)]).replace("|", r"\|")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def repairs() -> str:
    """The repair that recovery makes for each combination."""
    where = {True: "there", False: "absent", None: "either"}
    rows = [(record, copy, where[dropped], repair) for (record, copy, dropped), repair in REPAIRS.items()]
    return _table(("record", "copy", "dropped file", "repair"), rows)


def kinds() -> str:
    """The kinds of jobs by their default priority and how they share the child process."""
    waits = {
        "short": "",
        "mixed": "; pauses for short jobs, and runs in such a pause",
        "long": "; pauses for short jobs",
    }
    names: dict[str, list[str]] = {}
    for kind in KINDS:
        if not kind.test_only:
            preview = "" if kind.preview_priority is None else f"; a preview {kind.preview_priority}"
            together = "; jobs run together" if kind.batched else ""
            names.setdefault(f"{kind.priority}{preview}{together}{waits[kind.length]}", []).append(f"`{kind.name}`")
    return "".join(f"- {', '.join(alike)}: {said}\n" for said, alike in names.items())


def metrics() -> str:
    """Each metric: its name, labels and meaning. Of the types, the histogram alone is not said by the page."""
    lines = []
    for m in METRICS:
        labels = "".join(f" `{label}`" for label in m.labels)
        marked = " (histogram)" if m.type == "histogram" else ""
        lines.append(f"- `{m.shown}`{labels}{marked}: {_prose(m.help)}\n")
    return "".join(lines)


def troubles() -> str:
    """The diagnostics of the quick checks by group, the worst first."""
    return _troubles(trouble for trouble in DIAGNOSTICS.values() if not trouble.deep)


def deep_troubles() -> str:
    """The diagnostics that only the job ``check`` reports."""
    return _troubles(trouble for trouble in DIAGNOSTICS.values() if trouble.deep)


def _troubles(found: Iterable[Diagnostic]) -> str:
    """A list by group and level. Of notes, which need no action, the codes."""
    lines = []
    ordered = sorted((it for it in found if it.level != "ok"), key=_group_and_level)
    for (group, level), diagnostics in groupby(ordered, key=_group_and_level):
        title = f"\n**{GROUPS[group]}, {LEVELS[-level]}**"
        if LEVELS[-level] == "note":
            lines.append(f"{title}: {', '.join(f'`{it.code}`' for it in diagnostics)}\n")
            continue
        lines.append(f"{title}\n\n")
        for it in diagnostics:
            safe = " Or: `--fix`." if it.fix and "--fix" not in it.remedy else ""
            lines.append(f"- `{it.code}`: {_prose(it.cause)} {_prose(it.remedy)}{safe}\n")
    return "".join(lines)


def _group_and_level(diagnostic: Diagnostic) -> tuple[int, int]:
    return GROUPS.index(diagnostic.group), -LEVELS.index(diagnostic.level)


def tokens() -> str:
    """Each kind of token that is recognised by its form, with the providers."""
    kinds: dict[str, set[str]] = {}
    for forms in (token_forms.FORMS, token_forms.EXACT_FORMS):
        for kind, providers in forms.items():
            kinds.setdefault(kind, set()).update(providers)
    return "".join(f"- `{kind}`: {', '.join(sorted(names, key=str.lower))}\n" for kind, names in sorted(kinds.items()))


TABLES: dict[str, Callable[[], str]] = {
    "kinds": kinds,
    "settings": settings,
    "errors": errors,
    "repairs": repairs,
    "commands": commands,
    "metrics": metrics,
    "troubles": troubles,
    "deep_troubles": deep_troubles,
    "tokens": tokens,
}
_PAGES = {
    "kinds": "job-protocol",
    "commands": "cli",
    "metrics": "monitoring",
    "repairs": "delivery",
    "troubles": "doctor",
    "deep_troubles": "doctor",
    "tokens": "secrets",
}


def page_of(name: str) -> Path:
    """The path of the page that contains the table."""
    return DOCS / f"{_PAGES.get(name, name)}.md"


def renewed(name: str, page: str) -> str:
    """The page with the current table. Raises ValueError when the page lacks the table's markers."""
    begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->\n"
    before, marker, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not marker or not closed:
        raise ValueError(f"{page_of(name).name} lacks the markers of the table {name!r}")
    return f"{before}{begin}{TABLES[name]()}{end}{after}"


def main() -> int:
    """Write the tables, or with ``--check`` report those that are not current. Returns the exit status."""
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
