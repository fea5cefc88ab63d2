"""``python -m benchmarks moments CLONE --failures``: which failures are kept, and shown when they come again.

The sessions are those of ``benchmarks.moments``, in their order: each failed command is looked up among the failures of
all earlier sessions, then those of the session are added. ``moments/failures.jsonl`` has ids and lines alone: where a
failure was kept rightly or wrongly, and at which failed commands one of an earlier session was needed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bridge.capture.failures import failures
from bridge.capture.readers.claude_code_text import outcomes
from bridge.capture.readers.json_records import objects, parsed
from bridge.capture.readers.reader import reader_of
from bridge.capture.session import Findings, Transcript
from bridge.text.error_lines import normalised, signatures
from bridge.text.failures import Failure

TOOL = "claude-code"
LABELS = Path(__file__).with_name("moments") / "failures.jsonl"


def kept(name: str, text: str, folder: Path) -> list[Failure]:
    """The failures of a session."""
    path = folder / "project" / f"{name}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return failures(list(reader_of(TOOL).turns(Transcript(TOOL, name, path, "1"), Findings())))


def failed(text: str) -> Iterator[tuple[int, str]]:
    """The line of each failed command of a session, and what the command printed."""
    commands: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        record = parsed(line.encode(), Findings())
        for block in objects(record, "message", "content"):
            if block.get("type") == "tool_use" and block.get("name") == "Bash":
                commands.add(block["id"])
        yield from ((number, output) for name, output, code in outcomes(record) if code != 0 and name in commands)


def replayed(sessions: Sequence[tuple[str, str]], labels: dict[str, Any], text: bool) -> dict[str, int]:
    """The counts over sessions, each an id and a transcript."""
    counts = dict.fromkeys(("failed", "kept", "kept rightly", "needed", "shown", "shown rightly"), 0)
    known: list[Failure] = []
    with tempfile.TemporaryDirectory() as work:
        for name, told in sessions:
            label = labels.get(name, {})
            shown: set[int] = set()
            for line, output in failed(told):
                lines = signatures(output)
                found = [at for at, one in enumerate(known) if normalised(one.error) in lines and at not in shown]
                shown.update(found)
                is_needed = line in label.get("needed", ())
                counts["failed"] += 1
                counts["needed"] += is_needed
                counts["shown"] += bool(found)
                counts["shown rightly"] += bool(found) and is_needed
                if text and found:
                    print("shown", name, line, *(known[at].error for at in found), sep="\t")
            mine = kept(name, told, Path(work))
            counts["kept"] += len(mine)
            counts["kept rightly"] += sum(one.place in label.get("right", ()) for one in mine)
            for one in mine if text else ():
                print("kept", name, one.place, one.error, one.fix or one.files, one.said, sep="\t")
            known += mine
    return counts
