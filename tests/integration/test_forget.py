"""Forgetting through a real worker and cognee: afterwards no byte of the workspace tells of it, whatever is done."""

import json
from hashlib import md5
from typing import Any

import pytest
from harness import Place, until
from traces import holds

from jobs import client, files, spool
from jobs.model import Record

# Words that nothing but what is forgotten says, in its topic, its text, its decisions, a conversation, an old text.
SECRETS = ("quokkazebra", "marsupialis", "wombatina", "bilbyesque", "numbatlike")

LONG = 600.0  # seconds: cognee takes its time where others work as well

KEPT = {
    "kept-1": {"topic": "Zoo", "context": "Lakes are deep in the north.", "decisions": ["Store rows in SQLite."]},
    "kept-2": {"topic": "Zoo", "context": "Rivers are long in the south.", "decisions": ["Keep the log small."]},
    "kept-3": {"topic": "Sea", "context": "The tide comes twice a day.", "decisions": ["Measure the tide."]},
}
GONE = {
    "topic": "Zoo",
    "context": "The quokkazebra moved into the northern house last week.",
    "decisions": ["Feed the marsupialis twice a day."],
    "rationale": ["It is small, says Ünal of the wombatina team."],
}
SAID = {"user_message": "Who feeds the bilbyesque one?", "assistant_message": "The keeper does, at six."}
OLD = "Summary:\nTopic: Old zoo\nContext: The numbatlike one came in spring.\nDecisions:\n- Call it by its name.\n"
EARLY = "Summary:\nTopic: Old pond\nContext: The frogs came in spring as well.\nDecisions:\n- Count the frogs.\n"


def ended(place: Place, kind: str, payload: dict[str, Any], job_id: str) -> Record:
    place.submit(kind, payload, job_id=job_id, max_attempts=1)
    return place.ended(job_id, seconds=LONG)


def done(place: Place, kind: str, payload: dict[str, Any], job_id: str) -> dict[str, Any]:
    record = ended(place, kind, payload, job_id)
    assert record.state == "succeeded", (record.error, place.log_end())
    return dict(record.result or {})


@pytest.mark.timeout(1200)
def test_no_byte_of_the_workspace_tells_of_what_was_forgotten(place: Place) -> None:
    files.make_folder(place.workspace.cognee_data)
    for text in (OLD, EARLY):  # as an earlier version left them
        name = f"text_{md5(text.encode(), usedforsecurity=False).hexdigest()}.txt"
        (place.workspace.cognee_data / name).write_text(text)
    with place.worker():
        for job_id, summary in {**KEPT, "gone": GONE}.items():
            place.submit("ingest", {"summary": summary}, job_id=job_id)
        place.submit("ingest", {"conversation": SAID}, job_id="said")
        ids = {job_id: (place.ended(job_id, LONG).result or {})["memory_id"] for job_id in (*KEPT, "gone", "said")}
        done(place, "migrate", {}, "migrate")
        done(place, "compact", {"topic_id": "zoo", "preview": True}, "preview")
        record = done(place, "compact", {"topic_id": "zoo"}, "compact")["decision_record_id"]
        place.submit("ask", {"question": "Where does the quokkazebra live?"}, job_id="ask")
        assert place.ended("ask", LONG).state == "succeeded"
        spool.drop(place.spool, "torn", json.dumps({"summary": GONE}).encode()[:-9])
        spool.drop(place.spool, "wrong", json.dumps({"job_id": "wrong", "kind": "ingest", "payload": GONE}).encode())
        assert {place.ended(name).state for name in ("torn", "wrong")} == {"rejected"}
        place.submit("ingest", {"summary": GONE}, job_id="late", not_before="2999-01-01T00:00:00Z")
        until(lambda: place.record("late"), "it waits")
        found = {word for _, word in holds(place.workspace.root, SECRETS)}
        assert found == set(SECRETS), "all of them are there before"

        old = next(m for m in place.json("memories", "list")["memories"] if m["title"] == "Old zoo")
        asked = [ids["gone"], ids["said"], old["memory_id"]]
        result = done(place, "forget", {"memory_ids": asked}, "forget")

        assert set(asked) <= set(result["forgotten"])
        assert len(result["forgotten"]) == 4, "the old text's hidden original goes as well"
        assert [pair["old"] for pair in result["records_rebuilt"]] == [record]
        assert result["jobs_ended"] == 1
        assert (place.ended("late").error or {})["code"] == "MEMORY_FORGOTTEN"
        assert holds(place.workspace.root, SECRETS) == [], "while the worker still runs"

        # Nothing of what may be done afterwards brings it back.
        client.retry(place.spool, place.ended("late"))
        until(lambda: not list(place.spool.control.iterdir()), "the request was looked at")
        assert (place.ended("late").state, place.ended("late").generation) == ("failed", 1)
        assert done(place, "migrate", {}, "migrate-again")["migrated"] == 0
        done(place, "rebuild", {"what": "both"}, "rebuild")
        assert done(place, "forget", {"memory_ids": asked}, "forget-again")["forgotten"] == asked
        found = place.json("retrieve", "Where does the quokkazebra live, and who feeds the marsupialis?")["results"]
        assert not any(word in json.dumps(found).lower() for word in SECRETS)
        (new,) = [pair["new"] for pair in result["records_rebuilt"]]
        hits = place.json("retrieve", "How deep are the lakes?")["results"]
        assert hits[0]["memory_id"] == new
        assert set(hits[0]["compaction_source"]) == {ids["kept-1"], ids["kept-2"]}

        # Only who tells it anew stores it anew, and may have it forgotten anew.
        anew = done(place, "ingest", {"summary": GONE}, "anew")
        assert (anew["duplicate"], anew["memory_id"]) == (False, ids["gone"])
        hits = place.json("retrieve", "Where does the quokkazebra live?")["results"]
        assert anew["memory_id"] in {hit["memory_id"] for hit in hits}
        done(place, "forget", {"topic_id": "zoo"}, "forget-topic")
    assert {memory["title"] for memory in place.json("memories", "list")["memories"]} == {"Sea", "Old pond"}
    assert list(spool.job_ids(place.spool.active)) == []
    assert holds(place.workspace.root, SECRETS) == []
