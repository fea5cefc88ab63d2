"""Payloads that are taken, with what they are taken as, and payloads that are refused, with the reason."""

from typing import Any

from jobs.kinds import Kind


def summary(**fields: Any) -> dict[str, Any]:
    return {"summary": {"topic": "t", "context": "c", **fields}}


def conversation(**fields: Any) -> dict[str, Any]:
    return {"conversation": {"user_message": "u", "assistant_message": "a", **fields}}


STATEMENT = {"memory_id": "x", "statement": "s"}
PAIR = {"older": STATEMENT, "newer": STATEMENT, "verdict": "newer"}
DIGEST, KEPT = "0" * 64, ["0123abcd"]


def taken(kind: Kind, given: dict[str, Any], **defaults: Any) -> tuple[Kind, dict[str, Any], dict[str, Any]]:
    """A payload that is taken as it is, with these defaults."""
    return kind, given, given | defaults


GOOD: list[tuple[Kind, dict[str, Any], dict[str, Any]]] = [
    taken("ingest", summary()),
    taken("ingest", summary(decisions=[], references=["a"])),
    taken("ingest", summary(time_scope="all day")),
    taken("ingest", summary(time_scope={"turn_count": 0})),
    taken("ingest", summary(time_scope={})),
    ("ingest", summary(importance=0), summary(importance=0.0)),
    taken("ingest", {"summary_text": "x"}),
    taken("ingest", {"summary_text": "x", "status": "Final"}),
    ("ingest", conversation(importance=1), conversation(importance=1.0)),
    taken("cognify", {}),
    taken("cognify", {"texts": ["x"]}),
    ("cognify", {"paths": ["a.md"], "texts": None}, {"paths": ["a.md"]}),
    taken("capture", {}, again=False, dry_run=False),
    taken("capture", {"limit": 2}, again=False, dry_run=False),
    taken("migrate", {}, dry_run=False),
    ("migrate", {"dryRun": True, "limit": 1}, {"dry_run": True, "limit": 1}),
    ("migrate", {"undo": "r", "dry_run": False, "limit": None}, {"undo": "r", "dry_run": False}),
    taken("compact", {"topic_id": "t"}, preview=False),
    taken("compact", {"topic_id": "t", "preview_digest": DIGEST}, preview=False),
    ("compact", {"topicId": "t", "keepBoth": KEPT}, {"topic_id": "t", "preview": False, "keep_both": KEPT}),
    taken("restore", {"decision_record_id": "x"}),
    taken("forget", {"memory_ids": ["x"]}),
    ("forget", {"topic_id": "t", "memory_ids": None}, {"topic_id": "t"}),
    taken("set_status", {"memory_id": "x", "status": "Draft"}),
    taken("set_status", {"memory_id": "x", "status": "Superseded", "replaced_by": "y"}),
    taken("feedback", {"memory_id": "x", "verdict": "wrong", "note": "n"}, by="person"),
    taken("resolve", PAIR, by="person"),
    taken("ask", {"question": "?"}, top_k=10),
    taken("import", {"path": "a.json"}),
    taken("rebuild", {}, what="both"),
    taken("graph", {}),
    taken("check", {}),
    taken("noop", {}, sleep_ms=0, outcome="succeed"),
]


BAD: list[tuple[Kind, Any, str]] = [
    ("ingest", {}, "payload: exactly one of summary, summary_text and conversation"),
    ("ingest", summary() | {"summary_text": "x"}, "payload: exactly one of"),
    ("ingest", summary() | {"topic_id": "t"}, "tags go beside summary_text only"),
    ("ingest", conversation() | {"status": "Draft"}, "tags go beside summary_text only"),
    ("ingest", {"summary": {}}, "payload.summary.topic is missing"),
    ("ingest", summary(topic=" \n"), "payload.summary.topic: must not be empty"),
    ("ingest", summary(context=5), "payload.summary.context"),
    ("ingest", summary(decisions="x"), "payload.summary.decisions"),
    ("ingest", summary(decisions=["x", 5]), "payload.summary.decisions[1]"),
    ("ingest", summary(topic_id="A b"), "payload.summary.topic_id: a topic id is a UUID or a slug"),
    ("ingest", summary(topic_id="x" * 129), "payload.summary.topic_id"),
    ("ingest", summary(importance=1.1), "payload.summary.importance"),
    ("ingest", summary(importance=True), "payload.summary.importance: must be a number"),
    ("ingest", summary(importance="0.5"), "payload.summary.importance: must be a number"),
    ("ingest", summary(status="DecisionRecord"), "payload.summary.status"),
    ("ingest", summary(created_at="yesterday"), "payload.summary.created_at"),
    ("ingest", summary(time_scope={"turn_count": -1}), "payload.summary.time_scope.turn_count"),
    ("ingest", summary(time_scope={"strat": "2026"}), "time_scope.strat is not known. Did you mean 'start'"),
    ("ingest", summary(desicions=[]), "payload.summary.desicions is not known. Did you mean 'decisions'"),
    ("ingest", {"summary": {"topicc": "t"}}, "payload.summary.topicc is not known. Did you mean 'topic'"),
    ("ingest", conversation(user_message=""), "payload.conversation.user_message"),
    ("ingest", {"summary_text": "\t"}, "payload.summary_text: must not be empty"),
    ("cognify", {"texts": ["x"], "paths": ["y"]}, "payload: texts, paths and memory_ids exclude each other"),
    ("cognify", {"texts": []}, "payload.texts"),
    ("cognify", {"texts": [""]}, "payload.texts[0]"),
    ("migrate", {"limit": 0}, "payload.limit"),
    ("migrate", {"dry_run": 1}, "payload.dry_run"),
    ("migrate", {"dry_run": True, "undo": "r"}, "undo goes without dry_run and limit"),
    ("migrate", {"limit": 1, "undo": "r"}, "undo goes without dry_run and limit"),
    ("compact", {}, "payload.topic_id is missing"),
    ("compact", {"topic_id": "t", "preview_digest": "0" * 63}, "payload.preview_digest"),
    ("compact", {"topic_id": "t", "keep_both": ["0123ABCD"]}, "payload.keep_both[0]"),
    ("compact", {"topic_id": "t", "keep_both": []}, "payload.keep_both"),
    ("compact", {"topic_id": "t", "keep_both": ["0123abcd"], "preview_digest": DIGEST}, "goes without preview_digest"),
    ("compact", {"topic_id": "t", "preveiw": True}, "Did you mean 'preview'"),
    ("restore", {"decision_record_id": ""}, "payload.decision_record_id"),
    ("forget", {}, "exactly one of memory_ids, topic_id and session"),
    ("forget", {"memory_ids": ["x"], "topic_id": "t"}, "exactly one of memory_ids, topic_id and session"),
    ("forget", {"memory_ids": []}, "payload.memory_ids"),
    ("forget", {"topic_id": None}, "exactly one of memory_ids, topic_id and session"),
    ("set_status", {"memory_id": "x", "status": "DecisionRecord"}, "payload.status"),
    ("set_status", {"memory_id": "x", "status": "Active", "replaced_by": "y"}, "needs the status Superseded"),
    ("set_status", {"memory_id": "x", "status": "Superseded", "replaced_by": "x"}, "cannot replace itself"),
    ("feedback", {"memory_id": "x", "verdict": "good"}, "payload.verdict"),
    ("feedback", {"memory_id": "x", "verdict": "wrong", "note": ""}, "payload.note"),
    ("resolve", PAIR | {"verdict": "neither"}, "payload.verdict"),
    ("feedback", {"memory_id": "x", "verdict": "wrong", "note": "n" * 1001}, "payload.note"),
    ("ask", {"question": "?", "top_k": 101}, "payload.top_k"),
    ("ask", {"question": "?", "top_k": 0}, "payload.top_k"),
    ("import", {"path": " "}, "payload.path"),
    ("import", {}, "payload.path is missing"),
    ("rebuild", {"what": "all"}, "payload.what"),
    ("graph", {"x": 1}, "payload.x is not known."),
    ("noop", {"sleep_ms": -1}, "payload.sleep_ms"),
    ("check", [], "The field payload"),
]
