"""Reads LongMemEval, LoCoMo and BEAM as their authors publish them, into memories and queries as ``judged`` has them.

LongMemEval: its JSON file. A memory is what the user said in one session, as in its authors' own retrieval; each
question has sessions of its own. LoCoMo: ``locomo10.json``. A memory is a session's summary with the observations as
decisions, or else its turns. BEAM: a folder such as ``chats/100K``. A memory is what the user said in one exchange.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Rows = tuple[list[Row], list[Row]]

_BEAM = "*/probing_questions/probing_questions.json"
_BEAM_MARK = re.compile(r"\s*->->[\s\d,]*$")  # the place in its authors' plan, at the end of a message
_ADVERSARIAL = 5  # LoCoMo's category of questions that nothing answers


def is_published(path: Path) -> bool:
    return path.suffix == ".json" or any(path.glob(_BEAM))


def read(path: Path) -> Rows:
    """The memories and the queries. Raises ValueError for a file of another form."""
    if path.is_dir():
        return _beam(path)
    given = json.loads(path.read_text("utf-8"))
    first = given[0] if isinstance(given, list) and given else {}
    if "haystack_sessions" in first:
        return _longmemeval(given)
    if "qa" in first:
        return _locomo(given)
    raise ValueError(f"{path} is neither LongMemEval nor LoCoMo: a JSON list of their samples.")


def _longmemeval(given: list[Row]) -> Rows:
    memories, queries = [], []
    for one in given:
        name = one["question_id"]
        sessions = zip(one["haystack_session_ids"], one["haystack_dates"], one["haystack_sessions"], strict=True)
        ids = set()
        for session, date, turns in sessions:
            text = "\n\n".join(turn["content"].strip() for turn in turns if turn["role"] == "user").strip()
            if text and session not in ids:
                at = datetime.strptime(re.sub(r"\s*\(\w+\)", "", date), "%Y/%m/%d %H:%M")
                memories.append(_memory(f"{name}/{session}", name, f"Chat of {at:%d %B %Y}", text, at))
                ids.add(session)
        answers = [] if name.endswith("_abs") else [each for each in one["answer_session_ids"] if each in ids]
        queries.append(_query(name, name, one["question"], answers, one["question_type"]))
    return memories, queries


def _locomo(given: list[Row]) -> Rows:
    memories, queries = [], []
    for one in given:
        name, said = one["sample_id"], one["conversation"]
        topic = f"{said['speaker_a']} and {said['speaker_b']}"
        for session in [key for key in said if re.fullmatch(r"session_\d+", key) and said[key]]:
            at = datetime.strptime(said[f"{session}_date_time"], "%I:%M %p on %d %B, %Y")
            observed = one.get("observation", {}).get(f"{session}_observation", {})
            facts = [fact[0] for fact in chain.from_iterable(observed.values())]
            text = one.get("session_summary", {}).get(f"{session}_summary") or "\n".join(
                f"{turn['speaker']}: {turn['text']}" for turn in said[session]
            )
            number = session.removeprefix("session_")
            memories.append(_memory(f"{name}/{number}", name, topic, text, at, facts))
        for place, asked in enumerate(one["qa"]):
            evidence = re.findall(r"D:?(\d+):", " ".join(asked.get("evidence", ())))
            answers = [] if asked["category"] == _ADVERSARIAL else list(dict.fromkeys(evidence))
            queries.append(_query(f"{name}/Q{place}", name, asked["question"], answers, str(asked["category"])))
    return memories, queries


def _beam(folder: Path) -> Rows:
    memories, queries = [], []
    for path in sorted(folder.glob(_BEAM)):
        chat = path.parents[1]
        name, exchange_of = chat.name, dict[int, str]()
        topic = json.loads((chat / "topic.json").read_text("utf-8"))["title"]
        batches = json.loads((chat / "chat.json").read_text("utf-8"))
        for place, turns in enumerate(chain.from_iterable(batch["turns"] for batch in batches)):
            exchange_of |= {turn["id"]: str(place) for turn in turns}
            said = [_BEAM_MARK.sub("", turn["content"]) for turn in turns if turn["role"] == "user"]
            memories.append(_memory(f"{name}/{place}", name, topic, "\n\n".join(said)))
        for category, asked in json.loads(path.read_text("utf-8")).items():
            for place, one in enumerate(asked):
                sources = [
                    exchange_of[each] for each in _numbers(one.get("source_chat_ids", ())) if each in exchange_of
                ]
                answers = [] if category == "abstention" else list(dict.fromkeys(sources))
                queries.append(_query(f"{name}/{category}{place}", name, one["question"], answers, category))
    return memories, queries


def _numbers(found: Any) -> Iterator[int]:
    """The numbers in BEAM's sources, which are a list, or lists by name."""
    if isinstance(found, int):
        yield found
    else:
        for each in found.values() if isinstance(found, dict) else found:
            yield from _numbers(each)


def _memory(
    name: str, conversation: str, topic: str, text: str, at: datetime | None = None, facts: list[str] | None = None
) -> Row:
    found: Row = {"id": name, "conversation": conversation, "topic": topic, "text": text}
    if at is not None:
        found["created_at"] = at.replace(tzinfo=UTC).isoformat()
    if facts:
        found["facts"] = facts
        found["text"] += "".join(f"\n- {fact}" for fact in facts)
    return found


def _query(name: str, conversation: str, query: str, answers: list[str], category: str) -> Row:
    relevant = [f"{conversation}/{answer}" for answer in answers]
    return {"id": name, "conversation": conversation, "query": query, "relevant": relevant, "category": category}
