"""Secrets through a real worker, cognee and client of a language model: no byte of the workspace tells of them."""

import json
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from harness import Place, until
from llm_server import LlmServer
from traces import holds

from jobs import client, files, spool
from jobs.model import job_digest

KEY = "AKIA" + "Q3EGXYZ7ABCDWXYZ"
TOKEN = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PASSWORD = "Tr0ub4dor" + "Xk9q"
SECRETS = (KEY, TOKEN, PASSWORD)
ALL = f"key {KEY}, token {TOKEN}, postgres://app:{PASSWORD}@db/main"

LONG = 300.0  # seconds
OLD = f"Summary:\nTopic: Old keys\nContext: Alice used {ALL} in spring.\nDecisions:\n- Rotate them.\n"
JOBS: dict[str, tuple[str, dict[str, Any]]] = {
    "summary": ("ingest", {"summary": {"topic": f"Keys {KEY}", "context": f"Bob said {ALL}.", "decisions": [ALL]}}),
    "text": ("ingest", {"summary_text": f"Carol noted {ALL}."}),
    "said": ("ingest", {"conversation": {"user_message": "Which?", "assistant_message": ALL}}),
}
BAD = {
    "torn": json.dumps({"text": ALL})[:-9].encode(),
    "wrong": json.dumps({"job_id": "wrong", "kind": f"ingest {ALL}", "payload": {}}).encode(),
    "escaped": json.dumps({"text": ALL}).replace("A", "\\u0041").replace("g", "\\u0067").encode(),
    "wide": json.dumps({"text": ALL}).encode("utf-16"),
}


@pytest.mark.cognee
@pytest.mark.timeout(600)
def test_no_byte_of_the_workspace_tells_of_a_secret_that_was_dropped(tmp_path: Path) -> None:
    with LlmServer() as model:
        place = Place(tmp_path, **model.environment())
        files.make_folder(place.workspace.cognee_data)
        old = place.workspace.cognee_data / f"text_{md5(OLD.encode(), usedforsecurity=False).hexdigest()}.txt"
        old.write_text(OLD)  # as an earlier version left it
        notes, export = place.workspace.root / "notes.md", place.workspace.root / "old.jsonl"
        notes.write_text(f"Dave said {ALL}.")
        export.write_text(an_export())
        given = {path.relative_to(place.workspace.root).as_posix() for path in (old, notes, export)}

        with place.worker() as worker:
            for job_id, (kind, payload) in JOBS.items():
                place.submit(kind, payload, job_id=job_id)
            until(lambda: place.record("said"), "they are accepted")
            worker.kill()
        waiting = {str(path.relative_to(place.workspace.root)) for path in place.spool.inbox.glob("*.json")}
        assert {path for path, _ in holds(place.workspace.root, SECRETS)} <= given | waiting  # as it was dropped

        with place.worker():
            for job_id, data in BAD.items():
                spool.drop(place.spool, job_id, data)
            place.submit("cognify", {"paths": ["notes.md"]}, job_id="look")
            place.submit("import", {"path": "old.jsonl"}, job_id="import")
            place.submit("migrate", {}, job_id="migrate")
            place.submit("ask", {"question": f"Who used {ALL}?"}, job_id="ask")
            ended = {name: place.ended(name, LONG) for name in (*JOBS, *BAD, "look", "import", "migrate", "ask")}
            assert {ended[name].state for name in BAD} == {"rejected"}
            done = {name: record.result or {} for name, record in ended.items() if name not in BAD}
            assert {ended[name].state for name in done} == {"succeeded"}, (ended, place.log_end())
            assert {done[name]["redactions"]["total"] for name in (*JOBS, "look", "migrate", "import")} == {3}
            for name, (kind, payload) in JOBS.items():
                assert ended[name].job_sha256 == job_digest(kind, payload), "an asker finds its own digest"
            assert client.submit(place.spool, *JOBS["text"], job_id="text").job_id == "text"
            until(lambda: spool.inbox(place.spool) == [], "the second drop is taken for the same job")
            hits = place.json("retrieve", "Who noted the key and the token?")["results"]
            assert "[REDACTED:github-token]" in json.dumps(hits)
        asked = json.dumps([request.body for request in model.requests])
        assert "Dave" in asked
        assert not any(secret in asked for secret in SECRETS)
        assert {path for path, _ in holds(place.workspace.root, SECRETS)} == given


def an_export() -> str:
    at = "2026-11-20T12:00:00Z"
    known = {"type": "conversation_summary", "memory_id": "0b4f5c1e-5b1c-4d4e-9d4e-000000000001", "topic": "Imported"}
    known |= {"topic_id": "imported", "context": f"Erin used {ALL}.", "decisions": [ALL], "created_at": at}
    lines = [
        {"type": "header", "format": "cognee-memory-export", "version": 1},
        {"type": "memory", "stored_at": at, "metadata": known},
        {"type": "end", "sha256": None},
    ]
    return "\n".join(map(json.dumps, lines))
