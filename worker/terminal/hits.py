"""Prints the memories that a question found, and how a time in it was read."""

from __future__ import annotations

from datetime import datetime

from bridge.text.query_words import QueryWords
from bridge.text.template import readable
from jobs import clock

from ..wording import age, cut, cut_context, shortened
from .output import Envelope, Part, clean, notes, say, table, warn

_TOPIC_WIDTH = 18  # columns that a wrapped topic should have
_PASSAGE = 240  # characters that are shown of one


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
        lines += [f"  {hit['in_code']['remark']}"] if "in_code" in hit else []
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
    lines = [f"  {replaces(each)}: {_other(each, now)}" for each in found["replaces"]]
    if found["by"] is not None:
        lines.append(
            f"  {'replaced by' if found['state'] == 'replaced' else 'disputed by'}: {_other(found['by'], now)}"
        )
    return lines


def replaces(older: Envelope) -> str:
    """What the newer decision does with the older one."""
    return "replaces" if older["state"] == "replaced" else "may replace"


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
            say(f"#{item['id']} got feedback: {feedback_counts(item['feedback'])}.")
        if "in_code" in item:
            say(f"#{item['id']}: {item['in_code']['remark']}.")
    for error in answer["errors"]:
        say(f"{error['code']}: {error['message']}.")
    notes([*time_read(ranking), *answer["metadata"]["warnings"]])


def context(answer: Envelope) -> None:
    """Print only the block, to be pasted. Messages go to stderr."""
    if answer["context"]:
        say(answer["context"].rstrip("\n"))
    for warning in [*cut_context(answer, "--max-results"), *answer["warnings"]]:
        warn(f"Note: {warning.rstrip('.')}.")


def feedback_counts(feedback: Envelope) -> str:
    """The counts of a memory's feedback; empty if there is none."""
    counts = [f"{feedback[verdict]} {verdict}" for verdict in ("helpful", "wrong") if feedback[verdict]]
    return ", ".join(counts)
