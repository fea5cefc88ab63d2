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

    def seen(self, job_id: str, *states: str) -> dict[str, Any]:
        """The job as it is shown once it is in one of the states."""

        def look() -> dict[str, Any] | None:
            found = self.found(f"/v1/jobs/{job_id}")
            return found if found["job"]["state"] in states else None

        return until(look, f"{job_id} is one of {states}")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Operated:
    return Operated(tmp_path_factory.mktemp("operator"))


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


def test_no_request_is_answered_otherwise_than_the_document_says(tmp_path: Path) -> None:
    place = Operated(tmp_path)
    with place.worker():
        place.done("/v1/control", {"request": "pause"})
        by_document.ask(
            DESCRIPTION, place.url, place.token, "openapi_hooks",
            env=place.environment, folder=place.workspace.root, phases="coverage,fuzzing,stateful",
        )  # fmt: skip
    assert " died: " not in place.log()
    assert "a request failed" not in place.log()
    assert place.token not in place.log()
