"""``python -m benchmarks moments CLONE``: how often notes for a prompt are shown on foreign sessions, and are right.

CLONE is a clone of https://github.com/entireio/cli (MIT) with its branch ``entire/checkpoints/v1``, which holds the
sessions of Claude Code in which the program was written. They are replayed in their order: each prompt is put to the
memory of all earlier sessions; then the session is captured. ``moments/labels.jsonl`` has ids and numbers alone: for
each labelled session its prompts, and for each prompt that needs a memory the sessions whose memories are right.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bridge.capture.readers.reader import reader_of
from bridge.capture.session import Findings, Transcript, Turn
from bridge.search import listing
from bridge.search.reader import Reader
from bridge.search.session_start import numbers_in, session_start
from bridge.settings import Settings

from . import moments_failures
from .checkout import Place

TOOL, BRANCH = "claude-code", "entire/checkpoints/v1"
LABELS = Path(__file__).with_name("moments") / "labels.jsonl"
_MOST_BYTES = 3_000_000  # of a session
_BEGAN, _FOLDER = re.compile(r'"timestamp":\s?"(20[^"]+)"'), re.compile(r'"cwd":\s?"([^"]+)"')


def sessions(clone: Path) -> list[tuple[str, str]]:
    """Each session's id and its longest transcript, in the order in which they began."""

    def git(*arguments: str) -> bytes:
        return subprocess.run(["git", "-C", str(clone), *arguments], check=False, capture_output=True).stdout

    found: dict[str, tuple[str, str]] = {}
    for line in git("ls-tree", "-r", BRANCH).decode().splitlines():
        if line.endswith("/full.jsonl"):
            text = git("cat-file", "blob", line.split()[2]).decode("utf-8", "replace")
            named, began = re.search(r'"sessionId":\s?"([^"]+)"', text), _BEGAN.search(text)
            if named and began and len(text) < _MOST_BYTES and len(text) > len(found.get(named[1], ("", ""))[1]):
                found[named[1]] = (began[1], text)
    return [(name, text) for name, (_, text) in sorted(found.items(), key=lambda each: each[1])]


def prompts(name: str, text: str, folder: Path) -> list[str]:
    """What the person said in a session, and lays its transcript where the tool keeps it."""
    for other in sorted(set(_FOLDER.findall(text)), key=len, reverse=True):
        text = text.replace(f'"{other}"', f'"{folder}"')
    kept = folder.parent / "home" / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(folder)) / f"{name}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text, "utf-8")
    turns: Iterator[Turn] = reader_of(TOOL).turns(Transcript(TOOL, name, kept, "1"), Findings())
    return [turn.text for turn in turns if turn.speaker == "user" and not turn.part]


def replayed(clone: Path, labels: dict[str, Any], most: int, text: bool) -> dict[str, int]:
    """The counts over the labelled sessions; ``start``: also without what the notes at the start of a session showed.
    A session that is not ``whole`` has labels for what was shown alone."""
    counts = dict.fromkeys(("prompts", "need nothing", "silent", "shown", "right", "start shown", "start right"), 0)
    with tempfile.TemporaryDirectory() as work:
        place = Place(Path(__file__).parents[1], Path(work).resolve(), {})
        reader: Reader | None = None
        place.command("capture", "enable", TOOL)
        with place.worker():
            for name, told in sessions(clone)[:most]:
                asked = prompts(name, told, place.workspace.root)
                if reader is not None and (name in labels or text):
                    _look(reader, place, name, asked, labels.get(name), counts, text)
                place.command("capture", "run", "--tool", TOOL)
                reader = reader or Reader(place.workspace, Settings().embedding)
    return counts


def _look(
    reader: Reader,
    place: Place,
    name: str,
    asked: list[str],
    label: dict[str, Any] | None,
    counts: dict[str, int],
    text: bool,
) -> None:
    of = {line["memory_number"]: str(line["session_id"]) for line in listing.memories(place.workspace, 100_000)}
    began = numbers_in(session_start(place.workspace, None))
    for kind, first in (("", list[int]()), ("start ", began)):
        shown = set(first)
        for number, prompt in enumerate(asked):
            answer = reader.moment(prompt, "", sorted(shown), datetime.now(UTC))
            found = answer["memory_numbers"]
            shown.update(found)
            wanted = (label or {"right": {}})["right"].get(str(number), [])
            right = [of[one].removeprefix(f"{TOOL}/") in wanted for one in found]
            if text and found:
                sources = [of[one].removeprefix(f"{TOOL}/") for one in found]
                print(json.dumps([kind, name, number, prompt[:400], right, sources, answer["context"]]), flush=True)
            if label is None:
                continue
            counts[f"{kind}shown"] += len(found)
            counts[f"{kind}right"] += sum(right)
            if not kind and label["whole"]:
                counts["prompts"] += 1
                counts["need nothing"] += not wanted
                counts["silent"] += not wanted and not found


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks moments", description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--sessions", type=int, default=200, metavar="N", help="the first N sessions (default: 200)")
    parser.add_argument(
        "--text", action="store_true", help="print each prompt that is shown notes, also unlabelled ones"
    )
    parser.add_argument("--failures", action="store_true", help="notes after a failure instead, of all sessions")
    asked = parser.parse_args(given)
    file = moments_failures.LABELS if asked.failures else LABELS
    labels = {row["session"]: row for row in map(json.loads, file.read_text("utf-8").splitlines())}
    if asked.failures:
        counts = moments_failures.replayed(sessions(asked.clone), labels, asked.text)
    else:
        counts = replayed(asked.clone, labels, asked.sessions, asked.text)
    print("\n".join(f"{name:<14}{count}" for name, count in counts.items()))
    return 0
