"""Decision records of public projects as memories, for the benchmarks of ranking. Nothing of them is kept here.

``python -m benchmarks.records --questions FILE --to DIR WORKSPACE=FOLDER...``. The folders have records in Markdown,
with a title, a date and perhaps the sections Context and Decision. Several folders may form one workspace. The
questions are JSON lines: ``conversation`` (the workspace), ``query``, ``relevant`` (``FOLDER/FILE``, no suffix) and
``category``, which is ``changed`` if an older record gives an outdated answer, else ``lasting``.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

_TITLE = re.compile(r"^#\s+(?:\d+[.:]?\s+)?(.+)$", re.MULTILINE)
_DATE = re.compile(r"\bDate:?\s*(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)/(\d\d)/(\d{2,4}))")
_SECTION = re.compile(r"^##\s+(?:The existing )?(\w+).*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_MOST_CONTEXT, _MOST_DECISIONS, _MOST_DECISION = 1500, 12, 400  # a memory is shorter than a long record


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.records", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--questions", type=Path, required=True, help="JSON lines")
    parser.add_argument("--to", type=Path, required=True, help="the folder for memories.jsonl and queries.jsonl")
    parser.add_argument("folders", nargs="+", metavar="WORKSPACE=FOLDER")
    arguments = parser.parse_args()
    memories = []
    for given in arguments.folders:
        workspace, _, folder = given.partition("=")
        paths = sorted(Path(folder).glob("*.md"))
        memories += [row for path in paths if (row := memory(path, workspace)) is not None]
    known = {row["id"] for row in memories}
    queries = []
    for place, line in enumerate(arguments.questions.read_text("utf-8").splitlines(), 1):
        query = json.loads(line)
        if missing := set(query["relevant"]) - known:
            raise SystemExit(f"Question {place} names {', '.join(sorted(missing))}, which is no record.")
        queries.append({"id": f"q{place}", "split": "dev", **query})
    arguments.to.mkdir(parents=True, exist_ok=True)
    for name, rows in (("memories", memories), ("queries", queries)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (arguments.to / f"{name}.jsonl").write_text(text, "utf-8")
    print(f"{len(memories)} records and {len(queries)} questions are in {arguments.to}.")


def memory(path: Path, workspace: str) -> dict[str, Any] | None:
    """The record as a memory, whose id is ``FOLDER/FILE`` without suffix; None without a title, a date or a text."""
    text = path.read_text("utf-8")
    title, date = _TITLE.search(text), _DATE.search(text)
    sections = {name.lower(): body for name, body in _sections(text)}
    said = sections.get("decision") or sections.get("decisions") or text[date.end() if date else 0 :]
    decisions = [item[:_MOST_DECISION] for item in _items(said)][:_MOST_DECISIONS]
    if title is None or date is None or not decisions:
        return None
    context = "\n".join(_items(sections.get("context", "")))[:_MOST_CONTEXT] or title[1]
    return {
        "id": f"{path.parent.name}/{path.stem}",
        "conversation": workspace,
        "topic": title[1].strip(),
        "text": "\n".join([context, *(f"- {decision}" for decision in decisions)]),
        "facts": decisions,
        "created_at": _iso(date),
    }


def _iso(date: re.Match[str]) -> str:
    year, month, day, other_day, other_month, other_year = date.groups()
    return f"{year}-{month}-{day}" if year else f"{int(other_year) % 100 + 2000}-{other_month}-{other_day}"


def _sections(text: str) -> list[tuple[str, str]]:
    found = list(_SECTION.finditer(text))
    starts = [match.start() for match in found] + [len(text)]
    return [(match[1], text[match.end() : end]) for match, end in zip(found, starts[1:], strict=True)]


def _items(text: str) -> list[str]:
    """The paragraphs and list items, each on one line, without markup of links and lists."""
    items: list[str] = []
    open_item = False
    for line in text.splitlines():
        bare = _LINK.sub(r"\1", line).strip(" \t>#")
        if not bare or set(bare) <= set("-|=`"):
            open_item = False
        elif open_item and not _BULLET.match(line):
            items[-1] += f" {bare}"
        else:
            items.append(_BULLET.sub("", bare))
            open_item = True
    return items


if __name__ == "__main__":
    main()
