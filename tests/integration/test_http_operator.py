"""An operator's program and a running worker: submit, see, end, run again, pause, sign in; requests of all kinds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import by_document
import httpx
import pytest
from harness import CHROMIUM, Place, RealWorker, until

from jobs.model import encode
from worker.http import tickets
from worker.http.state import DESCRIPTION

NOOP = {"kind": "noop", "payload": {}}


class Operated(Place):
    """A workspace whose worker is asked over HTTP."""

    def found(self, path: str) -> dict[str, Any]:
        reply = self.asked("GET", path)
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def done(self, path: str, body: Any) -> dict[str, Any]:
        reply = self.asked("POST", path, body)
        assert reply.status_code in (200, 202), reply.text
        return dict(reply.json())

    def send(self, **payload: Any) -> str:
        return str(self.done("/v1/jobs", {"kind": "noop", "payload": payload})["job_id"])

    def seen(self, job_id: str, *states: str) -> dict[str, Any]:
        """The job as it is shown once it is in one of the states."""

        def look() -> dict[str, Any] | None:
            found = self.found(f"/v1/jobs/{job_id}")
            return found if found["job"]["state"] in states else None

        return until(look, f"{job_id} is one of {states}")


@pytest.fixture(scope="module")
def place(model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Operated:
    return Operated(tmp_path_factory.mktemp("operator"), COGNEE_MEMORY_CACHE_DIR=str(model_cache))


@pytest.fixture(scope="module", autouse=True)
def worker(place: Operated) -> Iterator[RealWorker]:
    with place.worker() as worker:
        yield worker


def test_a_job_is_submitted_and_followed_to_its_end(place: Operated) -> None:
    reply = place.asked("POST", "/v1/jobs", {**NOOP, "priority": 3}, **{"X-Correlation-Id": "chat-7"})
    assert reply.status_code == 202
    found = place.seen(reply.json()["job_id"], "succeeded")
    assert (found["job"]["correlation_id"], found["job"]["priority"]) == ("chat-7", 3)
    assert (found["asked"]["kind"], found["asked"]["submitted_by"]) == ("noop", "http")
    assert found["job"]["job_sha256"] == reply.json()["job_sha256"]
    listed = place.found("/v1/jobs?contains=chat-7")["jobs"]
    assert [job["job_id"] for job in listed] == [found["job"]["job_id"]]


def test_what_failed_is_found_by_its_cause_and_run_again(place: Operated) -> None:
    ids = {place.send(outcome="fail") for _ in range(3)}
    for job_id in ids:
        place.seen(job_id, "failed")
    (cause,) = [each for each in place.found("/v1/status")["jobs"]["causes"] if each["code"] == "TEST_FAILURE"]
    assert (cause["count"], cause["newest_job_id"] in ids) == (3, True)
    asked = place.done("/v1/jobs/retry", {"state": "failed", "error": "TEST_FAILURE"})
    assert (set(asked["job_ids"]), asked["requested"], asked["obeyed"], asked["skipped"]) == (ids, 3, 3, [])
    for job_id in ids:
        until(lambda job_id=job_id: place.seen(job_id, "failed")["job"]["generation"] == 2, "it has run again")


def test_a_running_job_is_shown_and_ended(place: Operated) -> None:
    job_id = place.send(sleep_ms=60_000)
    place.seen(job_id, "running")
    running = until(lambda: place.found(f"/v1/jobs/{job_id}")["in_flight"], "the worker says how far it is")
    assert (running["job_id"], running["kind"]) == (job_id, "noop")
    assert place.done(f"/v1/jobs/{job_id}/cancel", {})["state"] == "cancelled"
    again = place.done(f"/v1/jobs/{job_id}/cancel", {})
    assert (again["requested"], again["state"]) == (False, "cancelled")


def test_a_paused_worker_begins_nothing_until_it_is_told_to_go_on(place: Operated) -> None:
    paused = place.done("/v1/control", {"request": "pause"})
    assert (paused["obeyed"], paused["worker"]["heartbeat"]["state"]) == (True, "paused")
    job_id = place.send()
    place.seen(job_id, "queued")
    assert place.done("/v1/control", {"request": "resume"})["obeyed"] is True
    place.seen(job_id, "succeeded")


def test_who_looks_again_and_again_is_answered_briefly_until_something_happens(place: Operated) -> None:
    tag = place.asked("GET", "/v1/jobs").headers["etag"]
    assert place.asked("GET", "/v1/jobs", **{"If-None-Match": tag}).status_code == 304
    place.send()
    until(lambda: place.asked("GET", "/v1/jobs", **{"If-None-Match": tag}).status_code == 200, "the new job is told of")


def test_a_rejected_file_is_listed_and_dropped_anew(place: Operated) -> None:
    (place.spool.root / "odd.json").write_bytes(b'{"schema_version": 1}')
    (file,) = until(lambda: place.found("/v1/rejected")["files"], "it is rejected")
    assert (file["file"], file["error"]["code"]) == ("odd.json", "JOB_INVALID")

    def rejected_again() -> bool:
        reply = place.asked("POST", "/v1/jobs/odd/retry", {})  # a busy worker may not have looked at the file in time
        return (reply.status_code, reply.json().get("error_code")) == (409, "JOB_INVALID")

    until(rejected_again, "it is rejected again")
    (file,) = place.found("/v1/rejected")["files"]  # perhaps under another name: both files were there for a moment
    mended = {**NOOP, "schema_version": 1, "job_id": "odd"}
    (place.spool.rejected / file["kept_as"]).write_bytes(encode(mended))
    assert place.done("/v1/jobs/retry", {"job_ids": [file["kept_as"]]})["job_ids"] == ["odd"]
    place.seen("odd", "succeeded")


def test_the_page_is_opened_with_a_ticket_that_works_once(place: Operated) -> None:
    found = place.json("open", "--print")
    page, _, ticket = found["url"].partition("#ticket=")
    assert (page, found["opened"]) == (f"{place.url}/", False)
    assert httpx.get(page).status_code == 200
    first = httpx.post(f"{place.url}/v1/session", json={"ticket": ticket})
    assert first.json()["token"] == place.token
    assert httpx.post(f"{place.url}/v1/session", json={"ticket": ticket}).status_code == 401
    of_a_former_worker = tickets.issue("its-token")
    assert httpx.post(f"{place.url}/v1/session", json={"ticket": of_a_former_worker}).status_code == 401
    assert place.token not in place.log()
    assert ticket not in place.log()


def test_a_browser_is_led_to_the_page_and_a_page_of_another_site_comes_to_nothing(place: Operated) -> None:
    """The link stands in a file, as ``open`` writes it; the other page knows the port."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    address = place.json("open", "--print")["url"]
    link = place.workspace.root / "link.html"
    link.write_text(f'<meta http-equiv="refresh" content="0; url={address}">', "utf-8")
    tries = f"""<iframe src="{place.url}/"></iframe>
        <form action="{place.url}/v1/control" method="post" enctype="text/plain">
            <input name='{{"request": "pause", "x": "' value='"}}'></form><script>
        const tried = Promise.allSettled([fetch("{place.url}/healthz"),
            fetch("{place.url}/v1/control", {{method: "POST", body: '{{"request": "pause"}}', mode: "no-cors"}})])
        </script>"""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        with page.expect_response("**/v1/status") as answered:
            page.goto(link.as_uri())
        assert (answered.value.status, "ticket" in page.url) == (200, False)
        evil = browser.new_page()
        evil.route("http://evil.example/*", lambda route: route.fulfill(body=tries, content_type="text/html"))
        evil.goto("http://evil.example/")
        found = evil.evaluate("tried.then(all => all.map(each => each.status + (each.value ? each.value.type : '')))")
        assert found in (["rejected", "rejected"], ["rejected", "fulfilledopaque"])
        assert evil.frames[1].url.startswith("chrome-error:"), "it cannot be framed"
        evil.evaluate("document.forms[0].submit()")
        evil.wait_for_url("**/v1/control")
        assert "HTTP_FORBIDDEN" in evil.content() or evil.url.startswith("chrome-error:")
        browser.close()
    assert place.heartbeat()["state"] != "paused"
    assert not place.spool.request("pause").exists()


def test_no_request_is_answered_otherwise_than_the_document_says(model_cache: Path, tmp_path: Path) -> None:
    place = Operated(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    with place.worker():
        place.done("/v1/control", {"request": "pause"})
        by_document.ask(
            DESCRIPTION, place.url, place.token, "openapi_hooks",
            env=place.environment, folder=place.workspace.root, phases="coverage,fuzzing,stateful",
        )  # fmt: skip
    assert " died: " not in place.log()
    assert "a request failed" not in place.log()
    assert place.token not in place.log()


def test_a_worker_that_is_drained_leaves(place: Operated, worker: RealWorker) -> None:
    assert place.done("/v1/control", {"request": "drain"})["request"] == "drain"
    assert worker.process.wait(60) == 0
    worker.again()
