"""Transcripts of conversations, with the questions to them, from public sets into one form for the capture benchmarks.

``python -m benchmarks.transcript_sets FORM SOURCE --out FOLDER [--judged FOLDER]``. FORM is ``locomo`` (a folder with a
JSON file for each conversation), ``qmsum`` (a clone of Yale-LILY/QMSum), ``dialseg`` (the text file of DialSeg711) or
``tiage`` (a JSON file of its annotations). ``--judged`` is a folder with the memories and the questions of the same
sessions, as ``judged`` describes; only those sessions are read.

The form: ``sessions.jsonl`` has ``id, conversation, summary`` (of people; perhaps empty) and ``turns``, each with
``speaker, text`` and perhaps ``name`` (the speaker's), ``at`` and ``subject`` (the number of the subject that it is
about, as people found).
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from jobs import clock

from .judged import FILE, Row, rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transcript_sets", description=__doc__)
    parser.add_argument("form", choices=sorted(FORMS))
    parser.add_argument("source", type=Path)
    parser.add_argument("--judged", type=Path, help="a folder with memories.jsonl and queries.jsonl of these sessions")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    known = {row["id"]: row for row in rows(arguments.judged / FILE)} if arguments.judged else {}
    arguments.out.mkdir(parents=True, exist_ok=True)
    with (arguments.out / "sessions.jsonl").open("w", encoding="utf-8") as file:
        for session in FORMS[arguments.form](arguments.source, known):
            file.write(json.dumps(session, ensure_ascii=False) + "\n")
    if arguments.judged:
        shutil.copy(arguments.judged / "queries.jsonl", arguments.out)


def locomo(source: Path, known: dict[str, Row]) -> Iterator[Row]:
    """Each session of each conversation; its first speaker is the user, the other one the assistant."""
    for path in sorted(source.glob("*.json")):
        conversation = json.loads(path.read_text("utf-8"))
        for name, said in conversation.items():
            session = f"conv-{path.stem}/S{name.removeprefix('session_')}"
            if not isinstance(said, list) or session not in known:
                continue
            at = clock.iso(datetime.strptime(conversation[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").astimezone())
            turns = [
                {
                    "speaker": "user" if turn["speaker"] == conversation["speaker_a"] else "assistant",
                    "name": turn["speaker"],
                    "text": turn["text"],
                    "at": at,
                }
                for turn in said
            ]
            yield _session(known[session], turns)


def qmsum(source: Path, known: dict[str, Row]) -> Iterator[Row]:
    """Each known meeting; people alone speak in it, so that each is a user."""
    files = {path.stem: path for path in sorted(source.glob("data/ALL/*/*.json"))}
    for session, row in known.items():
        meeting = json.loads(files[session.rpartition("/")[2]].read_text("utf-8"))
        subjects: dict[int, int] = {}
        for number, topic in enumerate(meeting["topic_list"]):
            for first, last in topic["relevant_text_span"]:
                subjects |= dict.fromkeys(range(int(first), int(last) + 1), number)
        turns = [
            {"speaker": "user", "name": turn["speaker"], "text": turn["content"], "subject": subjects.get(place, -1)}
            for place, turn in enumerate(meeting["meeting_transcripts"])
        ]
        yield _session(row, turns)


def dialseg(source: Path, known: dict[str, Row]) -> Iterator[Row]:
    """Each dialogue: a line with its name, then a line ``SUBJECT TEXT`` for each turn."""
    name, turns = "", list[Row]()
    for line in [*source.read_text("utf-8").splitlines(), "call_id_end"]:
        subject, _, text = line.partition(" ")
        if line.startswith("call_id_"):
            if turns:
                yield {"id": name, "conversation": name, "summary": "", "turns": turns}
            name, turns = line.strip(), list[Row]()
        elif text:
            turns.append({"speaker": _side(turns), "text": text, "subject": int(subject)})


def tiage(source: Path, known: dict[str, Row]) -> Iterator[Row]:
    """Each dialogue; a turn labelled 1 begins a subject."""
    dialogues: dict[str, list[tuple[str, str]]] = json.loads(source.read_text("utf-8"))
    for name, dialogue in dialogues.items():
        turns: list[Row] = []
        subject = 0
        for text, label in dialogue:
            subject += label == "1"
            turns.append({"speaker": _side(turns), "text": text, "subject": subject})
        yield {"id": name, "conversation": name, "summary": "", "turns": turns}


def _side(before: list[Row]) -> str:
    return "assistant" if len(before) % 2 else "user"


def _session(row: Row, turns: list[dict[str, Any]]) -> Row:
    return {"id": row["id"], "conversation": row["conversation"], "summary": row["text"], "turns": turns}


FORMS = {"locomo": locomo, "qmsum": qmsum, "dialseg": dialseg, "tiage": tiage}

if __name__ == "__main__":
    main()
