"""Prints answers for people: the common part of every answer, and the views of the memory and the settings.

The views of the queue are in ``queue_views``, those of ended jobs in ``job_views``.
"""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from bridge.memory import LABELS, LISTS
from bridge.text.query_words import QueryWords
from bridge.text.template import readable
from jobs import clock

from ..wording import age, counted, cut, shortened
from .command_table import view_of
from .output import Envelope, Part, clean, facts, notes, say, table, warn

_TOPIC_WIDTH = 18  # columns that a wrapped topic should have
_PASSAGE = 240  # characters that are shown of one
_EXCERPT = 120  # characters of a memory in a list


def show(args: argparse.Namespace, answer: Envelope) -> None:
    """Print an answer. An error goes to stderr with its remedy."""
    view = plain if args.command is None else view_of(args)
    if answer["success"] or "findings" in answer:  # the error below summarises the findings
        view(answer)
    if not answer["success"]:
        _failed(answer)
    if not answer["success"] and ("skipped" in answer or "ended" in answer):  # the command succeeded in part
        view(answer)


def _failed(answer: Envelope) -> None:
    warn(f"{answer['error_code']}: {answer['error']}")
    if answer["remediation"]:
        job_id = answer.get("error_details", {}).get("job_id", "<job_id>")
        warn(f"What to do: {answer['remediation'].replace('<job_id>', job_id)}")


def hits(answer: Envelope, now: datetime, query: str, *, whole: bool = False) -> None:
    """Print each hit's memory, score with its three factors, topic, status and age, and below it what it says.

    These are its best passages, with the words of the query marked; with ``whole`` its whole text.
    """
    found = answer["results"]
    rows = [
        (
            f"#{hit['memory_number']}",
            f"{hit['score']:.3f}",
            f"{hit['semantic_score']:.3f}",
            f"{hit['recency_multiplier']:.3f}",
            f"{hit['status_multiplier']:.1f}",
            shortened(hit["topic"] or readable(hit["summary_text"]), 48),
            hit["status"] or "[Legacy]",
            age(hit["source_created_at"] or hit["created_at"], now),
        )
        for hit in found
    ]
    words = QueryWords(query)
    texts = [
        [readable(hit["summary_text"]).strip(), ""]
        if whole
        else [shortened(text, _PASSAGE) for text in hit.get("best_passages", ())]
        for hit in found
    ]
    for lines, hit in zip(texts, found, strict=True):
        lines += standing(hit.get("standing"), now)
    columns = ("memory", "score", "relevance", "recency", "status ×", "topic", "status", "age")
    alike = all(hit["status_multiplier"] == 1 for hit in found)
    table(
        columns,
        rows,
        right=(*columns[:5], "age"),
        wraps=("topic",),
        optional_columns=("status ×", "status", "age", "recency") if alike else ("age", "recency", "status ×"),
        comfort=_TOPIC_WIDTH,
        below=[marked("\n".join(lines), words) for lines in texts],
    )


def standing(found: Envelope | None, now: datetime) -> list[str]:
    """What replaced a hit's decision, or what it replaced, a line each."""
    if found is None:
        return []
    lines = [f"  replaces: {_other(each, now)}" for each in found["replaces"]]
    if found["by"] is not None:
        lines.append(
            f"  {'replaced by' if found['state'] == 'replaced' else 'disputed by'}: {_other(found['by'], now)}"
        )
    return lines


def _other(found: Envelope, now: datetime) -> str:
    when = f", {age(found['dated_at'], now)}" if found["dated_at"] else ""
    return f"{shortened(found['statement'], _PASSAGE)} (#{found['memory_number']}{when})"


def marked(text: str, words: QueryWords) -> list[Part]:
    """The text, with the query's words in bold letters."""
    text = clean(text)
    parts: list[Part] = []
    done = 0
    for start, end in words.spans(text):
        parts += [text[done:start], (text[start:end], "bold")]
        done = end
    return [*parts, text[done:]]


def retrieve(answer: Envelope) -> None:
    """Print the hits and the warnings."""
    found = answer["results"]
    if not found:
        say("No memory fits the question.")
    else:
        hits(answer, clock.parse(answer["as_of"]), answer["query"], whole=answer["whole"])
    shown = cut(len(found), answer["total_results"], "--max-results", answer["warnings"])
    notes([*time_read(answer["ranking"]), *shown, *answer["warnings"]])


def time_read(ranking: Envelope) -> list[str]:
    """How the time in the query was read, in local days; empty if there is none."""
    if "time" not in ranking:
        return []
    phrase, used = ranking["time"]["phrase"], ranking["time"]["used"]
    if used == "nothing":
        return [f'"{phrase}" has no date and does not change the order; since and until take dates']
    bounds = [(word, ranking["time"][name]) for word, name in (("from", "since"), ("before", "until"))]
    days = " and ".join(f"{word} {clock.parse(at).astimezone():%Y-%m-%d}" for word, at in bounds if at)
    read = {
        "preference": f"memories dated {days} rank higher",
        "filter": f"only memories dated {days}{', the newest first' if 'order' in ranking else ''}",
        "newest": "the newest of the memories that fit rank higher",
        "oldest": "the oldest of the memories that fit rank higher",
    }
    return [f'"{phrase}": {read[used]}; --time-phrase off ignores it']


def explain(answer: Envelope) -> None:
    """Print the parts of each score. Relevance has a part for words (base), one for meaning (semantic boost), and one
    of the reranker, if there is one."""
    rows = []
    ranking = answer["metadata"].get("ranking") or {}
    is_reranked, is_rated = "reranker" in ranking, "feedback_weight" in ranking
    for item in answer["items"]:
        parts = item["score"]["components"]
        judged = [parts.get("rerank")] if is_reranked else []
        numbers = (item["score"]["total"], parts["base"], parts["semantic_boost"], *judged, parts["recency"])
        rank = item["retrieval"]["rank"]
        rows.append(
            (
                f"#{item['id']}",
                "-" if rank is None else str(rank),
                *("-" if number is None else f"{number:.3f}" for number in numbers),
                f"{1 + parts['kind_bonus']:.1f}",
                *([f"{parts['feedback']:.3f}"] if is_rated else []),
                item["kind"],
                shortened(item["title"], 48),
                " ".join(item["matches"]["query_terms"])[:40],
            )
        )
    columns = (
        *("memory", "rank", "score", "words", "meaning", *(["reranker"] if is_reranked else [])),
        *("recency", "status ×", *(["feedback ×"] if is_rated else []), "kind", "title", "terms"),
    )
    alike = all(item["score"]["components"]["kind_bonus"] == 0 for item in answer["items"])
    if rows:
        table(
            columns,
            rows,
            right=columns[1:-3],
            wraps=("title", "terms"),
            optional_columns=("kind", *(["status ×"] if alike else []), "rank", "terms", "recency"),
            comfort=_TOPIC_WIDTH,
        )
    elif not answer["errors"]:
        say("No memory fits the question.")
    for item in answer["items"]:
        if "feedback" in item:
            say(f"#{item['id']} got feedback: {given(item['feedback'])}.")
    for error in answer["errors"]:
        say(f"{error['code']}: {error['message']}.")
    notes([*time_read(ranking), *answer["metadata"]["warnings"]])


def context(answer: Envelope) -> None:
    """Print only the block, to be pasted. Messages go to stderr."""
    if answer["context"]:
        say(answer["context"].rstrip("\n"))
    listed = "order" in answer["ranking"]  # a block leaves out what a question does not need, a list does not
    warnings = answer["warnings"]
    left = cut(len(answer["memories"]), answer["considered"], "--max-results", warnings) if listed else []
    for warning in [*left, *warnings]:
        warn(f"Note: {warning.rstrip('.')}.")


def memories(answer: Envelope) -> None:
    """Print a page of memories."""
    if not answer["memories"]:
        say("No memories." if not answer["total"] else "No more memories.")
        notes(answer["warnings"])
        return
    now = clock.now()
    rows = [
        (str(m["memory_number"]), shortened(m["excerpt"] or m["title"], _EXCERPT) + _values(m), m["topic_id"] or "-",
         m["status"] or "[Legacy]", age(m["source_created_at"] or m["created_at"] or m["stored_at"], now),
         m["memory_id"])
        for m in answer["memories"]
    ]  # fmt: skip
    columns = ("#", "memory", "topic", "status", "age", "id")
    table(columns, rows, right=("#", "age"), wraps=("memory", "topic"), optional_columns=("id", "age"))
    if answer["next"] is not None:
        say(f"{counted(answer['total'], 'memory')} in all; older ones: --after {answer['next']}")
    notes(answer["warnings"])


def open_items(answer: Envelope) -> None:
    """Print the open questions and next steps below the title of their topic."""
    if not answer["items"]:
        say("Nothing is open: no memory has an open question or a next step that no later one closed.")
        notes(answer["warnings"])
        return
    now, topic = clock.now(), None
    for item in answer["items"]:
        if item["topic_id"] != topic:
            topic = item["topic_id"]
            say(f"{item['title']} ({topic})")
        sign = "?" if item["kind"] == "question" else "→"
        say(f"  {sign} {item['text']}  #{item['memory_number']}, {age(item['date'], now)}")
    notes([*cut(len(answer["items"]), answer["total"], "--limit", ()), *answer["warnings"]])


def given(feedback: Envelope) -> str:
    """The counts of a memory's feedback; empty if there is none."""
    counts = [f"{feedback[verdict]} {verdict}" for verdict in ("helpful", "wrong") if feedback[verdict]]
    return ", ".join(counts)


def memory(answer: Envelope) -> None:
    """Print one memory with its text."""
    memory = answer["memory"]
    facts(
        [
            ("memory", f"#{memory['memory_number']} {memory['memory_id']}"),
            ("status", memory["status"] or "[Legacy]"),
            *((label.shown, _joined(memory.get(name))) for name, label in LABELS.items() if label.shown),
            ("hidden", "It is stored, but queries do not return it." if memory["hidden"] else ""),
            ("made of", memory["migrated_from"] or ""),
            ("became", ", ".join(memory["migrated_to"])),
            ("feedback", given(memory["feedback"])),
            ("said", " ".join(one["note"] for one in memory["feedback"]["given"] if one["note"])),
            ("merged", counted(len(memory["sources"]), "memory") if memory["sources"] else ""),
            ("captured", _captured_from(memory["captured_from"])),
        ]
    )
    for each in memory["rests_on"]:
        replaced = f"#{each['memory_number']}, “{each['statement']}”, which was replaced by #{each['replaced_by']}"
        say(f"“{each['text']}” may rest on {replaced}.")
    say()
    say(readable(memory["summary_text"]).rstrip("\n"))


def _values(memory: dict[str, Any]) -> str:
    """`` [a, b]``: the values of its properties that have several."""
    return "".join(f" [{_joined(memory[name])}]" for name in LISTS if memory.get(name))


def _joined(value: str | list[str] | None) -> str:
    return ", ".join(value) if isinstance(value, list) else value or ""


def _captured_from(source: dict[str, Any] | None) -> str:
    """From which session and place a memory was captured; empty for any other memory."""
    if source is None:
        return ""
    places = f"{source['path']}, {source['first_place']} to {source['last_place']}"
    return f"{source['captured_at'][:10]} from {source['tool']} by {source['method']}: {places}"


def topics(answer: Envelope) -> None:
    """Print the topics, and which are worth compacting."""
    if not answer["topics"]:
        say("No topics.")
        notes(answer["warnings"])
        return
    now = clock.now()
    rows = [
        (t["topic_id"], shortened(t["title"], 48), str(t["active"]), str(t["decision_records"]),
         str(t["superseded"]), str(t["drafts"]), f"{t['characters']:,}", age(t["oldest"], now), age(t["newest"], now),
         "yes" if t["worth_compacting"] else "")
        for t in answer["topics"]
    ]  # fmt: skip
    columns = (
        "topic", "title", "active", "records", "superseded", "drafts", "characters", "oldest", "newest", "compact",
    )  # fmt: skip
    optional_columns = ("drafts", "characters", "superseded", "oldest", "records")
    table(columns, rows, right=columns[2:9], wraps=("topic", "title"), optional_columns=optional_columns)
    full = [t["topic_id"] for t in answer["topics"] if t["worth_compacting"]]
    if full:
        say(f"{counted(len(full), 'topic')} worth compacting: cognee-memory compact {full[0]} --preview")
    contradicting = [f"{counted(t['contradictions'], 'contradiction')} in {t['topic_id']}"
                     for t in answer["topics"] if t["contradictions"]]  # fmt: skip
    if contradicting:
        say(f"{', '.join(contradicting)}: cognee-memory review")
    notes(answer["warnings"])


def history(answer: Envelope) -> None:
    """Print the compactions with their conflicts."""
    if not answer["compactions"]:
        say("Nothing was compacted yet.")
        return
    now = clock.now()
    rows = [
        (
            "-" if made["memory_number"] is None else f"#{made['memory_number']}",
            made["topic_id"],
            age(made["applied_at"], now),
            str(len(made["superseded"])),
            str(len(made["conflicts"])),
            made["narrative_source"],
            f"undone {age(made['restored_at'], now)} ago" if made["restored_at"] else "",
            made["decision_record_id"],
        )
        for made in answer["compactions"]
    ]
    columns = ("record", "topic", "age", "memories", "conflicts", "narrative", "", "id")
    right = ("record", "age", "memories", "conflicts")
    table(columns, rows, right=right, wraps=("topic", ""), optional_columns=("id", "narrative", "age"))
    for made in answer["compactions"]:
        numbers = made["superseded_numbers"]
        for conflict in made["conflicts"]:
            ids = [conflict[side]["memory_id"] for side in ("earlier", "later")]
            earlier, later = (f"#{numbers[each]}" if each in numbers else each for each in ids)
            judged = f"{conflict['confidence']:.2f} by {conflict['judged_by']}"
            say(f"{made['topic_id']}: {conflict['kind']} {judged}: {earlier} and {later}")


def settings(answer: Envelope) -> None:
    """Print the settings with their sources."""
    rows = [(row["variable"], row["value"], row["source"], row["help"]) for row in answer["settings"]]
    table(("variable", "value", "from", "meaning"), rows, wraps=("value", "meaning"), optional_columns=("meaning",))


def setting(answer: Envelope) -> None:
    """Print which value was set, and where."""
    say(f"{answer['variable']} is {answer['value']}, in {answer['file']}.")
    say("A worker that runs uses it after: cognee-memory worker restart.")


def export(answer: Envelope) -> None:
    """Print what was exported."""
    counts = answer["counts"]
    if counts is not None:
        where = f" in {answer['out']}" if answer["out"] else ""
        parts = (("memory", "memory"), ("compaction", "compaction"), ("cognified", "finding"))
        say(f"{', '.join(counted(counts[name], noun) for name, noun in parts)}{where}")


def plain(answer: Envelope) -> None:
    """Print every field as it is."""
    for name, value in answer.items():
        if name != "success":
            say(f"{name}: {value}")


def setup(answer: Envelope) -> None:
    """Print where the embedding model is, and what of an earlier version can go; or which extras were added."""
    if "added" in answer:
        for name in answer["added"]:
            say(f"Added: {name}. A worker that runs uses it after: cognee-memory worker restart.")
        for name in answer["present"]:
            say(f"There already: {name}.")
        return
    comes = "came with the program: nothing is to be fetched. It" if answer["model"] == "english" else "is verified and"
    say(f"The embedding model {comes} is in {answer['model_folder']}.")
    if answer["unused"]:
        say(
            f"{answer['unused']} is of an earlier version and can be deleted, unless a workspace still has memories of"
            " version 0.4.0: a worker embeds them again by itself."
        )


def script(answer: Envelope) -> None:
    """Print the completion script."""
    say(answer["script"].rstrip("\n"))


def nothing(answer: Envelope) -> None:
    """Print nothing, for commands that print their output themselves."""
