"""How well questions find their session after capture without a model, beside other forms of the same sessions.

``python -m benchmarks.capture_quality --data DIR... [--cache FOLDER] [--methods NAME...]``. A ``DIR`` has
``sessions.jsonl`` and ``queries.jsonl`` (see ``transcript_sets``), or is a folder of such. Each form of a session is
one memory or several; a hit on any of them is a hit on the session. All memories have one date, so that recency says
nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bridge.capture.boundaries import DEFAULTS, segments
from bridge.capture.segment import Embed
from bridge.capture.session import Turn
from bridge.capture.summary import summarise
from bridge.memory import Content
from bridge.settings import load
from jobs import clock

from . import judged, metrics, table
from .judged import DAY, DEPTH, Collection, Row, Run

SESSIONS = "sessions.jsonl"
_PART = "#"  # between a session's id and the number of its memory

Form = Callable[[Row, Embed], list[Content]]


def main() -> None:
    arguments = _parser().parse_args()
    embedder = judged.embedder(load().embedding, arguments.cache)
    for name, folder in found_sets(arguments.data).items():
        sessions, queries = judged.rows(folder / SESSIONS), judged.rows(folder / "queries.jsonl")
        rows = []
        for method in arguments.methods or FORMS:
            began = time.monotonic()
            memories = [
                _memory(session, number, content)
                for session in sessions
                for number, content in enumerate(FORMS[method](session, embedder.embed))
            ]
            scores = metrics.of_run(queries, _run(memories, queries, embedder)).mean(axis=0)
            rows.append([
                method,
                *(f"{scores[metrics.METRICS.index(metric)]:.3f}" for metric in ("nDCG@10", "Recall@1", "Recall@5")),
                f"{len(memories) / len(sessions):.1f}",
                f"{sum(map(_characters, memories)) / len(sessions):,.0f}",
                f"{time.monotonic() - began:.0f}",
            ])  # fmt: skip
            print(f"{name}: {method}, {rows[-1][1]}", flush=True)
        head = ["form", "nDCG@10", "Recall@1", "Recall@5", "memories a session", "characters a session", "s"]
        table.show(f"Capture, {name}: {len(sessions)} sessions, {len(queries)} questions", head, rows)


def found_sets(given: list[Path]) -> dict[str, Path]:
    """Each folder that was named, or those in it that hold sessions. Ends the program where there are none."""
    found = {
        folder.name: folder
        for data in given
        for folder in (
            [data] if (data / SESSIONS).exists() else [path.parent for path in sorted(data.glob(f"*/{SESSIONS}"))]
        )
    }
    if not found:
        raise SystemExit(f"{', '.join(map(str, given))} holds no {SESSIONS}; benchmarks.transcript_sets makes one.")
    return found


def turns_of(session: Row) -> list[Turn]:
    """The session's turns, each at its number."""
    return [
        Turn(turn["speaker"], _text(turn), f"turn {number}", turn.get("at"))
        for number, turn in enumerate(session["turns"], 1)
    ]


def _text(turn: Row) -> str:
    """What was said, with the name of who said it, if the set knows it: questions ask for people by name."""
    return f"{turn['name']}: {turn['text']}" if "name" in turn else str(turn["text"])


def captured(session: Row, embed: Embed) -> list[Content]:
    """What capture without a model stores."""
    return [summarise(segment).content for segment in segments(turns_of(session), embed)]


def captured_by_size(session: Row, embed: Embed) -> list[Content]:
    """The same, with cuts by size alone."""
    limits = replace(DEFAULTS, unlike=float("inf"))
    return [summarise(segment).content for segment in segments(turns_of(session), embed, limits)]


def human_summary(session: Row, _: Embed) -> list[Content]:
    """The summary that people wrote, where the set has one."""
    return [_content(session["summary"])]


def first_message(session: Row, _: Embed) -> list[Content]:
    return [_content(_text(session["turns"][0]))]


def each_turn(session: Row, _: Embed) -> list[Content]:
    """Each turn as a memory of its own."""
    return [_content(_text(turn)) for turn in session["turns"] if turn["text"].strip()]


def beginning(characters: int) -> Form:
    """The first characters of the transcript as one memory."""
    return lambda session, _: [_content("\n".join(map(_text, session["turns"]))[:characters])]


def _content(context: str) -> Content:
    """A memory with nothing but a context: the title is the same for all, so that it says nothing."""
    return Content("Session", context)


FORMS: dict[str, Form] = {
    "captured without a model": captured,
    "captured, cut by size alone": captured_by_size,
    "human summaries": human_summary,
    "each turn a memory": each_turn,
    "first message": first_message,
    "first 1,600 characters": beginning(1_600),
    "first 8,000 characters": beginning(8_000),
}


def _memory(session: Row, number: int, content: Content) -> Row:
    summary = {
        "topic": content.topic,
        "context": content.context or content.topic,
        "decisions": list(content.decisions),
        "rationale": list(content.rationale),
        "open_questions": list(content.open_questions),
        "next_steps": list(content.next_steps),
        "created_at": clock.iso(DAY),
    }
    identity = f"{session['id']}{_PART}{number}"
    return {"id": identity, "conversation": session["conversation"], "payload": {"summary": summary}}


def _characters(memory: Row) -> int:
    summary = memory["payload"]["summary"]
    return sum(len(value) if isinstance(value, str) else sum(map(len, value)) for value in summary.values())


def _run(memories: list[Row], queries: list[Row], embedder: judged.OnceEmbedder) -> Run:
    """For each query the sessions, by their best memory."""
    given = [
        Collection(
            [memory for memory in memories if memory["conversation"] == name],
            [query for query in queries if query["conversation"] == name],
        )
        for name in dict.fromkeys(query["conversation"] for query in queries)
    ]
    found = judged.run(given, embedder, max_results=500, max_tokens=10_000_000)
    return {
        query: list(dict.fromkeys(memory.rpartition(_PART)[0] for memory in ranked))[:DEPTH]
        for query, ranked in found.items()
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture_quality", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help=f"folders with {SESSIONS}, or of such")
    parser.add_argument("--cache", type=Path, help="a folder that keeps embeddings")
    parser.add_argument("--methods", nargs="+", choices=sorted(FORMS), help="all of them, if none is named")
    return parser


if __name__ == "__main__":
    main()
