"""What the code says of facts from real repositories' histories: a fact, and the commit that ends it or does not.

``facts.jsonl``: ``repository`` on GitHub, the commits at which the fact is ``stored`` and ``checked``, the ``truth``
(``ended`` or ``holds``) and the ``text``, in words of our own. Half of them were put ``aside`` before anything was
tried; another reader wrote the ``later`` ones, after all rules. ``--repositories`` is a folder of clones, bare or not,
each named ``owner+name``. A fact counts as called ended if the answer says ``gone`` or ``not_found``. Times are of the
lookup of a single memory, in milliseconds of the processor.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bridge.anchors import checking, taking
from bridge.memory import Memory, Metadata

from .. import table

FACTS = Path(__file__).with_name("facts.jsonl")
_ENDED = ("gone", "not_found")


def main(argv: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks quality anchored", description=__doc__)
    parser.add_argument("--repositories", type=Path, required=True, metavar="FOLDER", help="clones: owner+name")
    parser.add_argument("--half", choices=("development", "aside", "later"), help="only these of the facts")
    parser.add_argument("--seconds", type=float, help="of the processor, for a lookup")
    parser.add_argument("--errors", action="store_true", help="print what was called wrongly, or not at all")
    args = parser.parse_args(argv)
    facts = [json.loads(line) for line in FACTS.read_text("utf-8").splitlines()]
    chosen = [fact for fact in facts if args.half in (None, fact["half"])]
    called = list(_called(chosen, args.repositories, args.seconds))
    if args.errors:
        for fact, state, anchors, _ in called:
            if (state in _ENDED) != (fact["truth"] == "ended"):
                print(
                    fact["truth"], "|", fact["repository"], fact["checked"][:8], "|", fact["text"], "|", state, anchors
                )
    halves = sorted({fact["half"] for fact in chosen})
    columns = ("half", "facts", "with anchors", "precision", "recall", "verified or changed", "ms, median", "ms, most")
    table.show("Facts that end, or hold", columns, [_row(half, called) for half in halves])


def _row(half: str, called: Sequence[tuple[dict[str, Any], str, tuple[str, ...], float]]) -> list[str]:
    own = [each for each in called if each[0]["half"] == half]
    said = [fact["truth"] == "ended" for fact, state, _, _ in own if state in _ENDED]
    ended = sum(fact["truth"] == "ended" for fact, *_ in own)
    times = sorted(1000 * seconds for _, _, anchors, seconds in own if anchors)
    return [
        half, str(len(own)), str(sum(bool(anchors) for _, _, anchors, _ in own)),
        f"{sum(said)}/{len(said)} = {sum(said) / max(len(said), 1):.2f}",
        f"{sum(said)}/{ended} = {sum(said) / max(ended, 1):.2f}",
        str(sum(state in ("verified", "changed") for _, state, _, _ in own)),
        f"{times[len(times) // 2]:.1f}", f"{times[-1]:.1f}",
    ]  # fmt: skip


def _called(
    facts: Sequence[dict[str, Any]], repositories: Path, seconds: float | None
) -> Iterator[tuple[dict[str, Any], str, tuple[str, ...], float]]:
    """Each fact with the state that is said of it (empty: nothing), its anchors, and the seconds of the lookup."""
    for repository in dict.fromkeys(fact["repository"] for fact in facts):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            source = repositories / repository.replace("/", "+")
            source = source / "repo" if (source / "repo").is_dir() else source
            source = source if "/" in repository else Path(__file__).parents[2]  # our own
            _git(root, "clone", "--quiet", "--no-checkout", str(source), ".")
            for fact in facts:
                if fact["repository"] == repository:
                    _check_out(root, fact["stored"])
                    anchors = taking.Code(root, 30).taken(fact["text"])
                    memory = Memory(
                        "", 1, "legacy", Metadata(anchors=anchors), "2026-01-01T00:00:00Z", text=fact["text"]
                    )
                    _check_out(root, fact["checked"])
                    began = time.process_time()
                    found = checking.in_code([memory], root, seconds)
                    took = time.process_time() - began
                    yield fact, found[1]["state"] if found else "", anchors, took


def _check_out(root: Path, commit: str) -> None:
    """Check a commit out on the branch main. A file that the clone lacks is left out."""
    _git(root, "symbolic-ref", "HEAD", "refs/heads/main")
    _git(root, "update-ref", "refs/heads/main", commit)
    _git(root, "read-tree", commit)
    listed = [line.split("\t", 1) for line in _git(root, "ls-files", "--stage").splitlines()]
    ids = "\n".join(entry.split()[1] for entry, _ in listed)
    known = _git(root, "cat-file", "--batch-check", given=ids).splitlines()
    lacking = [path for (_, path), line in zip(listed, known, strict=True) if line.endswith("missing")]
    _git(root, "update-index", "--force-remove", "--stdin", given="\n".join(lacking))
    _git(root, "checkout-index", "--quiet", "--force", "--all")
    _git(root, "clean", "-ffdxq")


def _git(root: Path, *arguments: str, given: str = "") -> str:
    command = ("git", "-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=0", *arguments)
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, input=given.encode())
    return done.stdout.decode("utf-8", "surrogateescape")
