"""The page in a real browser, beside a real worker: what an operator sees and does, and what can never happen.

One worker, one browser and one tab for all; each test signs in anew. A tab in which anything was reported to the
console, or that asked another host, fails its test.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from harness import CHROMIUM, PATIENCE, Place, RealWorker, until
from playwright import sync_api as browsers
from playwright.sync_api import Browser, Locator, Page, Route, expect

from worker.http import tickets

AXE = Path(__file__).resolve().parent.parent / "data" / "axe-4.10.3.min.js"
AXE_RUNS: tuple[tuple[Literal["light", "dark"], dict[str, Any]], ...] = (
    ("light", {}),
    ("dark", {"runOnly": ["color-contrast"]}),
)
PHONE = {"width": 360, "height": 740}
SCREENS = ("queue", "activity", "memories", "topics", "review", "health")

expect.set_options(timeout=1000 * PATIENCE)  # a job may have to wait for its process

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1;alert(1)</script>{{7*7}}${window.hacked=1}'


def summary(topic: str, topic_id: str, *decisions: str, day: int = 1, **more: Any) -> dict[str, Any]:
    said = {"topic": topic, "topic_id": topic_id, "context": f"How we came to it, on day {day}."}
    return {"summary": {**said, "decisions": list(decisions), "created_at": f"2026-11-{day:02}T12:00:00Z", **more}}


MEMORIES = [
    summary("Uploads that fail", "uploads", "Retry an upload five times.", "Give up at once on 4xx.", day=3),
    summary("Uploads again", "uploads", "Retry an upload three times.", day=9),
    summary("Storage of thumbnails", "thumbnails", "Keep thumbnails as files.", day=12),
    summary("Sessions", "sessions", "A session ends after 30 minutes.", day=14),
    summary(HOSTILE, "hostile", HOSTILE, day=15, rationale=[HOSTILE], session_id=HOSTILE[:200]),
    summary(f"Ag\u202eain {HOSTILE}", "hostile", f"No {HOSTILE}", day=16),
    {"conversation": {"user_message": f"What is {HOSTILE}?", "assistant_message": "Only text.", "importance": 0.4}},
]


class Site:
    """A workspace with memories and a worker, and tabs that look at it."""

    def __init__(self, place: Place, browser: Browser) -> None:
        self.place = place
        self.browser = browser

    def ticket(self) -> str:
        assert self.place.asked("GET", "/healthz").status_code == 200
        return tickets.issue(self.place.token)

    def submit(self, *jobs: tuple[str, dict[str, Any]], **fields: Any) -> list[str]:
        return [self.place.submit(kind, payload, **fields) for kind, payload in jobs]

    def ended(self, *jobs: tuple[str, dict[str, Any]], **fields: Any) -> list[str]:
        """Submit them, and wait until they have ended."""
        return [self.place.ended(job).job_id for job in self.submit(*jobs, **fields)]

    def stored(self, *payloads: dict[str, Any]) -> list[int]:
        """The numbers of new memories."""
        jobs = self.submit(*(("ingest", payload) for payload in payloads))
        return [self.place.ended(job).as_dict()["result"]["memory_number"] for job in jobs]


class Tab:
    """A tab, and all that it reported. ``expected`` are words of what may be reported."""

    def __init__(self, context: browsers.BrowserContext, site: Site) -> None:
        self.site = site
        self.page: Page = context.new_page()
        self.page.set_default_timeout(20_000)
        self.expected: list[str] = []
        self.reported: list[str] = []
        self.asked: set[str] = set()
        self.home = site.place.url
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.reported.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.reported.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._request)

    def _console(self, message: browsers.ConsoleMessage) -> None:
        self.reported.append(f"{message.type}: {message.text} {message.location.get('url', '')}")

    def _request(self, request: browsers.Request) -> None:
        if not request.url.startswith("data:"):
            self.asked.add(re.sub(r"^(\w+://[^/]+).*", r"\1", request.url))

    def open(self, address: str = "#/") -> Page:
        """Sign in, and go there."""
        self.home = self.site.place.url
        self.page.goto(f"{self.home}/#ticket={self.site.ticket()}")
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()
        return self.go(address)

    def go(self, address: str) -> Page:
        self.page.evaluate("address => { location.hash = address }", address)
        return self.page

    def troubles(self) -> list[str]:
        return [line for line in self.reported if not any(word in line for word in self.expected)]

    def row(self, job_id: str) -> Locator:
        return self.page.locator("tbody tr", has_text=job_id)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsers.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def worker(place: Place) -> Iterator[RealWorker]:
    with place.worker() as worker:
        for payload in MEMORIES:
            place.submit("ingest", payload, submitted_by=HOSTILE[:200])
        yield worker


@pytest.fixture(scope="module")
def site(place: Place, worker: RealWorker, browser: Browser) -> Site:
    return Site(place, browser)


@pytest.fixture(scope="module")
def remembered(site: Site) -> list[str]:
    """The jobs of the memories, once all of these are there."""
    jobs = [path.stem for path in site.place.spool.results.glob("*.json")]
    found = [job for job in jobs if (record := site.place.record(job)) is not None and record.kind == "ingest"]
    assert len(found) >= len(MEMORIES)
    for job in found:
        assert site.place.ended(job).state == "succeeded"
    return sorted(found)


@pytest.fixture(scope="module")
def window(site: Site) -> Iterator[Tab]:
    with context(site) as opened:
        yield Tab(opened, site)


@pytest.fixture
def tab(window: Tab) -> Iterator[Tab]:
    yield from emptied(window)


@pytest.fixture
def phone(site: Site) -> Iterator[Tab]:
    yield from opened(site, viewport=PHONE, has_touch=True)


def context(site: Site, **options: Any) -> browsers.BrowserContext:
    """Nothing moves in its tabs, since each picture of what moves is drawn by the processor."""
    return site.browser.new_context(reduced_motion="reduce", **options)


def opened(site: Site, **options: Any) -> Iterator[Tab]:
    """A tab of its own."""
    with context(site, **options) as alone:
        yield from emptied(Tab(alone, site))


def emptied(tab: Tab) -> Iterator[Tab]:
    """Signed out again after the test, with nothing kept."""
    yield tab
    tab.page.unroute_all(behavior="wait")
    for page in tab.page.context.pages:
        if page != tab.page:
            page.close()
    with suppress(browsers.Error):  # the worker may have ended
        tab.page.goto(f"{tab.home}/healthz")  # where nothing asks with what is cleared; the same process for the next
        tab.page.evaluate("sessionStorage.clear(); localStorage.clear()")
    troubles, asked = tab.troubles(), {*tab.asked}
    tab.expected.clear()
    tab.reported.clear()
    tab.asked.clear()
    assert troubles == []
    assert asked <= {tab.home}, "it asked another host"


# --- signing in ---


def test_signed_out_it_says_how_to_sign_in_and_shows_nothing(site: Site, tab: Tab) -> None:
    site.ticket()
    tab.page.goto(site.place.url)
    expect(tab.page.get_by_role("heading", name="This page needs a key")).to_be_visible()
    expect(tab.page.get_by_text("cognee-memory open")).to_be_visible()
    assert not tab.page.locator("nav, table").count()


def test_a_ticket_signs_in_once_and_leaves_the_address(site: Site, tab: Tab, browser: Browser) -> None:
    address = f"{site.place.url}/#ticket={site.ticket()}"
    tab.page.goto(address)
    expect(tab.page.get_by_role("heading", name="Queue")).to_be_visible()
    assert "ticket" not in tab.page.url
    tab.page.reload()
    expect(tab.page.get_by_role("heading", name="Queue")).to_be_visible()
    tab.expected.append("401")
    with tab.page.expect_response("**/v1/session") as refused:
        tab.page.goto(address)
    assert refused.value.status == 401
    tab.page.goto(f"{site.place.url}/#/topics")
    expect(tab.page.get_by_role("heading", name="Topics"), "who is signed in stays so").to_be_visible()
    tab.page.evaluate("sessionStorage.clear()")
    tab.page.goto("about:blank")
    tab.page.goto(address)
    expect(tab.page.get_by_role("heading", name="This page needs a key")).to_be_visible()


def test_tabs_sign_each_other_in_by_a_link_and_when_one_does_after_a_token_was_refused(tab: Tab) -> None:
    page = tab.open()
    other = page.context.new_page()  # a click with Control: Chromium may not report its navigation to the driver
    other.goto(page.get_by_role("link", name="Topics").evaluate("link => link.href"))
    expect(other.get_by_role("heading", name="Topics")).to_be_visible()
    tab.expected.append("401")
    for_all = "value => Object.keys(sessionStorage).forEach(key => sessionStorage.setItem(key, value))"
    kept = page.evaluate("() => ({ ...sessionStorage })")
    page.evaluate(for_all, "of another workspace's worker on this port")
    expect(page.get_by_role("heading", name="This page needs a key")).to_be_visible()
    other.goto(f"{tab.home}/#ticket={tab.site.ticket()}")
    expect(other.get_by_role("heading", name="Queue")).to_be_visible()
    expect(page.get_by_role("heading", name="This page needs a key")).to_be_visible()
    page.evaluate("kept => sessionStorage.setItem('cognee-memory workspace', kept['cognee-memory workspace'])", kept)
    other.goto(f"{tab.home}/#ticket={tab.site.ticket()}")
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()


# --- the queue ---


def test_what_happens_is_seen_without_a_reload_and_what_was_chosen_stays(site: Site, tab: Tab) -> None:
    [first] = site.submit(("noop", {}))
    page = tab.open("#/queue?kind=noop")
    box = tab.row(first).get_by_role("checkbox")
    box.check()
    box.focus()
    [second] = site.submit(("noop", {"outcome": "fail"}))
    expect(tab.row(second)).to_contain_text("failed")
    expect(tab.row(second)).to_contain_text("TEST_FAILURE")
    expect(box).to_be_checked()
    expect(box).to_be_focused()
    expect(page.locator("main").get_by_text("1 job chosen")).to_be_visible()
    expect(page.get_by_role("banner").get_by_text("Live")).to_be_visible()


def test_failures_of_one_cause_are_found_understood_and_run_again_together(site: Site, tab: Tab) -> None:
    jobs = site.submit(*[("compact", {"topic_id": "nowhere"})] * 4)
    for job in jobs:
        site.place.ended(job)
    records = [site.place.record(path.stem) for path in site.place.spool.results.glob("*.json")]
    count = sum(each is not None and (each.error or {}).get("code") == "TOPIC_NOT_FOUND" for each in records)
    page = tab.open()
    cause = page.locator(".cause", has_text="TOPIC_NOT_FOUND")
    expect(cause).to_contain_text("There is no topic 'nowhere'.")
    expect(cause.locator("code", has_text="cognee-memory topics")).to_be_visible()
    expect(cause.locator('[data-tone="soft"]'), "it would fail again").to_have_text("Dismiss…")
    cause.get_by_role("link", name="Show them").click()
    expect(page).to_have_url(re.compile("state=failed&error=TOPIC_NOT_FOUND"))
    expect(page.locator(".jobs tbody tr")).to_have_count(count)
    cause.get_by_role("button", name=f"Run these {count} again").click()
    expect(page.locator(".notice")).to_contain_text(f"{count} jobs will run again.")
    for job in jobs:
        until(lambda job=job: (found := site.place.record(job)) and found.generation == 2 and found.ended, "again")
    tab.go(f"#/jobs/{jobs[0]}")
    expect(page.locator('.actions [data-tone="accent"]')).to_have_text("Dismiss…")


def test_jobs_that_differ_in_why_they_failed_say_so_each(site: Site, tab: Tab) -> None:
    site.ended(*[("set_status", {"memory_id": f"lost-{place}", "status": "Draft"}) for place in "aab"])
    tab.open()
    cause = tab.page.locator(".cause", has_text="MEMORY_NOT_FOUND")
    expect(cause.locator("li", has_text="lost-a")).to_contain_text("× 2")
    expect(cause.locator("li", has_text="lost-b")).to_contain_text("× 1")


def test_a_dialog_closes_once_it_was_obeyed_though_what_it_stood_beside_stays(site: Site, tab: Tab) -> None:
    site.ended(("noop", {"outcome": "fail"}))
    page = tab.open("#/queue?state=failed&kind=noop")
    nothing = {"success": True, "job_ids": [], "requested": 0, "obeyed": 0, "skipped": []}
    page.route("**/v1/jobs/retry", lambda route: route.fulfill(json=nothing))
    page.get_by_role("button", name="Run all again").click()
    page.get_by_role("dialog").get_by_role("button", name="Run again").click()
    expect(page.locator(".notice")).to_contain_text("0 jobs")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Run all again")).to_be_visible()


def test_what_was_chosen_can_be_run_again_once_it_has_failed(site: Site, tab: Tab) -> None:
    page = tab.open("#/queue?kind=noop")
    [job] = site.submit(("noop", {"outcome": "fail", "sleep_ms": 6000}))
    page.get_by_role("checkbox", name=f"Choose {job}").check()
    again = page.get_by_role("region", name="Chosen jobs").get_by_role("button", name="Run again")
    expect(again).to_be_disabled()
    expect(tab.row(job)).to_contain_text("failed")
    expect(again).to_be_enabled()


def test_a_worker_that_has_fallen_silent_is_not_said_to_run(tab: Tab) -> None:
    page = tab.open()
    expect(page.get_by_role("region", name="Worker")).to_contain_text("The worker is running.")

    def later(route: Route) -> None:
        response = route.fetch()
        if response.status == 200:
            route.fulfill(response=response, json={**response.json(), "now": "2099-01-01T00:00:00Z"})
        else:
            route.fulfill(response=response)

    page.route("**/v1/status", later)
    expect(page.get_by_role("region", name="Worker")).to_contain_text("does not respond")


def test_what_cannot_be_mended_is_dismissed(site: Site, tab: Tab) -> None:
    one, other = site.submit(*[("restore", {"decision_record_id": f"none-{number}"}) for number in range(2)])
    for job_id in (one, other):
        assert site.place.ended(job_id).state == "failed"
    page = tab.open("#/queue?state=failed&kind=restore")
    page.get_by_role("checkbox", name=f"Choose {one}").check()
    page.get_by_role("button", name="Dismiss…").last.click()
    page.get_by_role("button", name="Dismiss them").click()
    expect(page.get_by_role("link", name=one)).to_have_count(0)
    page.goto(f"{site.place.url}/#/jobs/{other}")
    page.get_by_role("button", name="Dismiss…").click()
    page.get_by_role("button", name="Dismiss it").click()
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()
    assert not site.place.spool.record(other).exists()


def test_filters_make_an_address_and_the_back_button_works(site: Site, tab: Tab) -> None:
    [job] = site.ended(("noop", {"outcome": "fail"}), correlation_id="night-42")
    page = tab.open()
    page.get_by_role("link", name=re.compile("^failed")).click()
    page.get_by_label("Kind").select_option("noop")
    page.get_by_label("Error").select_option("TEST_FAILURE")
    page.keyboard.press("/")
    page.keyboard.type("night-4")
    expect(page.locator(".jobs tbody tr")).to_have_count(1)
    assert "contains=night-4" in page.url
    page.reload()
    expect(page.locator(".jobs tbody tr")).to_have_count(1)
    tab.row(job).get_by_role("link").click()
    expect(page.get_by_role("heading", name="noop")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("night-4")
    page.get_by_role("searchbox").fill("nothing is like this")
    page.get_by_role("link", name="Show all jobs").click()
    expect(page.locator(".jobs tbody tr").nth(1)).to_be_visible()


def test_pages_of_the_list_go_older_and_newer(site: Site, tab: Tab) -> None:
    jobs = site.submit(*[("noop", {})] * 60)
    for job in jobs:
        site.place.ended(job)
    page = tab.open()
    rows = page.locator(".jobs tbody tr")
    expect(rows).to_have_count(50)
    first = rows.first.locator("code").inner_text()
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("link", name="Newer", exact=True)).to_be_visible()
    expect(rows.first.locator("code")).not_to_have_text(first)
    page.get_by_role("link", name="Newer", exact=True).click()
    expect(rows.first.locator("code")).to_have_text(first)


def test_a_pause_holds_the_queue_chosen_jobs_are_cancelled_and_work_goes_on(site: Site, tab: Tab) -> None:
    page = tab.open("#/queue?kind=noop")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("main").get_by_text("The worker is paused")).to_be_visible()
    one, two, three = site.submit(*[("noop", {})] * 3)
    for job in (one, two):
        tab.row(job).get_by_role("checkbox").check()
    chosen = page.get_by_role("region", name="Chosen jobs")
    chosen.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    chosen.get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel them").click()
    for job in (one, two):
        expect(tab.row(job)).to_contain_text("cancelled")
    expect(tab.row(three)).to_contain_text("queued")
    page.get_by_role("button", name="Resume").click()
    expect(tab.row(three)).to_contain_text("succeeded")


def test_what_runs_shows_how_far_it_is_and_can_be_cancelled(site: Site, tab: Tab) -> None:
    [job] = site.submit(("noop", {"sleep_ms": 600_000}))
    page = tab.open()
    work = page.get_by_role("region", name="Running now")
    expect(work.get_by_text(re.compile(r"^[\d,]+ of 600,000$"))).to_be_visible()
    work.get_by_role("link").click()
    expect(page.locator("main").get_by_text("runs now")).to_be_visible()
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel it").click()
    expect(page.locator("main").get_by_text("Ended: cancelled")).to_be_visible()
    assert site.place.ended(job).state == "cancelled"


def test_a_row_says_what_its_job_is_about_and_leads_to_the_memory_that_it_made(site: Site, tab: Tab) -> None:
    [job] = site.submit(("ingest", summary("Colours of the lamps", "lamps", "The lamp burns blue.")))
    number = site.place.ended(job).as_dict()["result"]["memory_number"]
    page = tab.open(f"#/queue?contains={job}")
    expect(tab.row(job)).to_contain_text("ingest Colours of the lamps")
    tab.row(job).get_by_role("link", name=f"Memory #{number}").click()
    expect(page.locator(".text")).to_contain_text("The lamp burns blue.")
    tab.go(f"#/jobs/{job}")
    expect(page.get_by_role("heading", name="ingest Colours of the lamps")).to_be_visible()


def test_a_rejected_file_says_why(site: Site, tab: Tab) -> None:
    (site.place.spool.inbox / "broken.json").write_text("{ no json", "utf-8")
    page = tab.open()
    rejected = page.locator(".rejected")
    expect(rejected.get_by_text("broken.json", exact=True)).to_be_visible()
    expect(rejected).to_contain_text("JSON_INVALID")
    row = tab.row("JSON_INVALID")
    expect(row).to_contain_text("file")
    expect(row.locator(".message")).to_have_count(2)
    [before] = _reasons(site)
    rejected.get_by_role("button", name="Drop it again").click()
    until(lambda: any(reason != before for reason in _reasons(site)), "it was dropped, and looked at again")


def _reasons(site: Site) -> list[str]:
    return [path.read_text("utf-8") for path in site.place.spool.rejected.glob("broken*.reason.json")]


# --- a job ---


def test_the_life_of_a_job_is_told_from_its_drop_to_its_end(site: Site, tab: Tab) -> None:
    [job] = site.ended(("noop", {"outcome": "retry"}), max_attempts=2, correlation_id="story-1", submitted_by="ada")
    page = tab.open(f"#/jobs/{job}")
    life = page.locator(".life")
    for event in ("Dropped into the inbox", "Accepted", "Attempt 1", "Attempt 2", "Ended: failed"):
        expect(life).to_contain_text(event)
    expect(life.locator("code", has_text="TEST_RETRY")).to_have_count(2)
    for fact in ("story-1", "ada", "2 so far"):
        expect(page.get_by_role("region", name="About it")).to_contain_text(fact)
    assert json.loads(page.locator("details", has_text="What was asked").locator("pre").inner_text()) == {
        "outcome": "retry"
    }
    page.get_by_role("link", name="story-1").click()
    expect(page.locator(".jobs tbody tr")).to_have_count(1)


def test_by_the_keyboard_alone_a_failed_job_is_found_and_run_again(site: Site, tab: Tab) -> None:
    [job] = site.ended(("noop", {"outcome": "fail"}), correlation_id="keys")
    page = tab.open()
    expect(page.get_by_role("searchbox")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("keys")
    expect(page.locator(".jobs tbody tr")).to_have_count(1)
    _tab_to(page, job)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="noop")).to_be_focused()
    _tab_to(page, "Run it again")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("main").get_by_text("It runs again.")).to_be_visible()
    expect(page.locator("main").get_by_text("2: it was run again")).to_be_visible()


def _tab_to(page: Page, text: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        active = "document.activeElement"
        if text in str(page.evaluate(f"{active}.textContent + ({active}.getAttribute('href') ?? '')")):
            return
    raise AssertionError(f"not reached by the keyboard: {text}")


def test_the_skip_link_leads_past_what_stands_above(tab: Tab) -> None:
    page = tab.open()
    page.evaluate("document.activeElement.blur()")
    page.reload()
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()
    skip = page.get_by_role("link", name="Skip to the content")
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Queue")).to_be_focused()


# --- activity ---


def test_activity_has_bars_lines_a_table_and_an_axis_of_full_hours(site: Site, tab: Tab) -> None:
    site.ended(("noop", {}))
    page = tab.open("#/activity?hours=1")
    expect(page.locator("rect.bar").first).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Jobs that ended, per minute"))).to_be_visible()
    expect(page.locator("circle.point").first).to_be_visible()
    page.get_by_text("As a table").click()
    expect(page.get_by_role("columnheader", name="succeeded")).to_be_visible()
    page.get_by_role("link", name="Last 7 days").click()
    expect(page.get_by_role("img", name=re.compile("per two hours"))).to_be_visible()
    page.get_by_role("link", name="Last day").click()
    expect(page.get_by_role("img", name=re.compile("per half hour"))).to_be_visible()
    ticks = page.locator("svg").first.locator("text.tick").all_text_contents()
    hours = [int(text[:2]) for text in ticks if re.fullmatch(r"[0-9]{2}:00", text)]
    assert len(hours) >= 4
    assert all(hour % 3 == 0 for hour in hours)
    assert not [text for text in ticks if ":" in text and not text.endswith(":00")]


def test_jobs_that_start_later_are_listed_by_their_hour(site: Site, tab: Tab) -> None:
    [job] = site.submit(("noop", {}), not_before="2031-03-04T05:06:07Z")
    page = tab.open("#/activity")
    expect(page.get_by_role("region", name="Scheduled")).to_contain_text("4 Mar 2031")
    expect(page.get_by_role("region", name="Scheduled")).to_contain_text("1 noop")
    tab.go(f"#/jobs/{job}")
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel it").click()
    expect(page.locator("main").get_by_text("It is cancelled.")).to_be_visible()


@pytest.mark.parametrize("seconds", [0.2, 75, 7 * 3600, 40 * 86_400])
def test_no_label_of_a_chart_is_cut(tab: Tab, seconds: float) -> None:
    """Jobs that took so long give the axis its labels."""

    def slow(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        found["buckets"][5] |= {
            name: {"p50": seconds * 500, "p95": seconds * 1000} for name in ("waited_ms", "took_ms")
        }
        route.fulfill(response=answer, json=found)

    tab.page.route("**/v1/activity*", slow)
    page = tab.open("#/activity?hours=1")
    expect(page.locator("circle.point").first).to_be_visible()
    cut = page.locator("svg").evaluate_all(
        """charts => charts.flatMap(chart => [...chart.querySelectorAll("text.tick")].filter(label => {
            const [inside, outside] = [label.getBoundingClientRect(), chart.getBoundingClientRect()];
            return inside.left < outside.left || inside.right > outside.right;
        }).map(label => label.textContent))"""
    )
    assert cut == []


# --- memories ---


def test_a_question_shows_scores_whose_parts_add_up(site: Site, tab: Tab, remembered: list[str]) -> None:
    page = tab.open("#/memories")
    expect(page.get_by_role("heading", name="Memories")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("how often is an upload tried again?")
    page.keyboard.press("Enter")
    hit = page.locator(".hit").first
    expect(hit).to_contain_text("Uploads")
    shown = float(hit.locator(".total b").inner_text())
    hit.get_by_role("button", name="Why?").click()
    why = hit.locator(".why")
    formula = why.locator(".formula").inner_text()
    base, boost, recency, status, total = (float(number) for number in re.findall(r"\d+\.\d+", formula))
    assert total == shown
    assert (base + boost) * recency * status == pytest.approx(total, abs=0.002)
    expect(why.locator(".term").first).to_be_visible()
    assert why.locator("dd", has_text=re.compile(r"^1\.$")).count() == 1


def test_who_types_before_the_screen_is_complete_loses_nothing(site: Site, tab: Tab, remembered: list[str]) -> None:
    page = tab.open()
    page.evaluate("() => { const soon = setTimeout; window.setTimeout = (act, ms) => soon(act, (ms ?? 0) + 2000) }")
    tab.go("#/memories")
    expect(page.get_by_role("heading", name="Memories")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("uploads")
    expect(page).to_have_title("Memories · cognee-memory")
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.get_by_role("searchbox")).to_have_value("uploads")


def test_the_browser_filters_opens_a_memory_and_sets_its_status(site: Site, tab: Tab, remembered: list[str]) -> None:
    page = tab.open("#/memories")
    expect(page.locator(".memories tbody tr").first).to_be_visible()
    page.get_by_label("Topic").select_option("sessions")
    expect(page.locator(".memories tbody tr")).to_have_count(1)
    page.get_by_role("link", name="A session ends after 30 minutes.").click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    expect(page.locator(".text")).to_contain_text("A session ends after 30 minutes.")
    page.get_by_label("Status").select_option("Draft")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.locator("main").get_by_text("Done, by the job")).to_be_visible()
    expect(page.locator(".heading .state")).to_have_text("Draft")


def test_two_buttons_give_feedback_a_second_press_takes_it_back(site: Site, tab: Tab, remembered: list[str]) -> None:
    [number] = site.stored(summary("To be judged", "judging", "It was of use.", day=17))
    page = tab.open(f"#/memories/{number}")
    feedback = page.get_by_role("group", name="Feedback")
    helped, wrong = (feedback.get_by_role("button", name=name) for name in ("This helped", "This is wrong"))
    expect(helped).to_have_text("This helped 0")
    helped.click()
    expect(helped).to_have_text("This helped 1")
    expect(helped).to_have_attribute("aria-pressed", "true")
    wrong.click()
    expect(wrong).to_have_text("This is wrong 1")
    expect(helped).to_have_text("This helped 0")
    page.goto(page.url.split("#")[0] + "#/memories?q=to+be+judged+it+was+of+use")
    expect(page.locator(".hit", has_text="To be judged")).to_contain_text("0 helpful, 1 wrong")
    page.go_back()
    wrong.click()
    expect(wrong).to_have_text("This is wrong 0")
    expect(wrong).to_have_attribute("aria-pressed", "false")


def test_a_captured_memory_says_that_it_was_and_from_where(site: Site, tab: Tab, remembered: list[str]) -> None:
    root = site.place.workspace.root
    (root / "talk.md").write_text(
        "## User\n\nWe decided to keep the queue in SQLite.\n\n## Assistant\n\nNoted for later.\n"
    )
    [job] = site.submit(("capture", {"file": "talk.md"}))
    [item] = site.place.ended(job).as_dict()["result"]["items"]
    page = tab.open(f"#/memories/{item['memories'][0]['memory_number']}")
    expect(page.locator(".panel", has_text="What is known")).to_contain_text("By rules, from export")
    expect(page.locator(".panel", has_text="What is known")).to_contain_text(str(root / "talk.md"))


def test_a_memory_is_forgotten_only_once_its_number_was_typed(site: Site, tab: Tab, remembered: list[str]) -> None:
    [job] = site.submit(("ingest", summary("To be forgotten", "passing", "Nobody needs this.", day=18)))
    number = str(site.place.ended(job).as_dict()["result"]["memory_number"])
    page = tab.open(f"#/jobs/{job}")
    page.get_by_role("link", name=f"Open the memory #{number}").click()
    page.get_by_role("button", name="Forget…").click()
    verb = page.get_by_role("button", name="Forget it for good")
    expect(verb).to_be_disabled()
    page.get_by_role("textbox").fill(number)
    verb.click()
    expect(page.locator("main").get_by_text("1 memory was forgotten")).to_be_visible()
    tab.expected.append("404")
    tab.go(f"#/memories/{number}")
    expect(page.locator("main").get_by_text("There is no memory")).to_be_visible()


# --- whatever a text says, it stays text ---


def test_a_memory_full_of_markup_and_script_stays_text_everywhere(site: Site, tab: Tab, remembered: list[str]) -> None:
    page = tab.open("#/memories")
    expect(page.locator(".memories tbody tr", has_text="Again <img src=x").first).to_be_visible()
    [hostile] = [job for job in remembered if HOSTILE in str(site.place.record(job).as_dict()["result"]["topic"])][:1]  # type: ignore[union-attr]
    memory = site.place.record(hostile).as_dict()["result"]["memory_id"]  # type: ignore[union-attr]
    for address, shown in {
        f"#/jobs/{hostile}": "Its life",
        f"#/memories/{memory}": "What is known",
        "#/memories?q=" + "img onerror script window hacked": "score",
        "#/topics/hostile": "Its memories",
        "#/jobs/" + "%3Cimg%20src=x%20onerror=window.hacked=1%3E": "is no job id",
        "#/memories/" + "%3Cimg%20src=x%20onerror=window.hacked=1%3E": "There is no memory",
        "#/queue?contains=%3Cscript%3Ealert(1)%3C%2Fscript%3E": "No job matches.",
    }.items():
        tab.expected[:] = ["404"]
        tab.go(address)
        expect(page.locator("main").get_by_text(shown).first).to_be_visible()
    tab.go("#/topics/hostile")
    page.get_by_role("button", name="Preview compaction").click()
    expect(page.locator(".preview .record")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script, main iframe").count() == 0


# --- topics ---


def test_a_compaction_is_shown_done_as_shown_and_taken_back(site: Site, tab: Tab, remembered: list[str]) -> None:
    def kept() -> set[str]:
        jobs = site.place.json("jobs", "list", "--kind", "compact", "--state", "succeeded")["jobs"]
        return {job["job_id"] for job in jobs}

    before = kept()  # another test may have left its preview before the page could dismiss it
    page = tab.open("#/topics")
    page.get_by_role("link", name="uploads").click()
    page.get_by_role("button", name="Preview compaction").click()
    conflict = page.locator(".conflict").first
    expect(conflict.locator("[data-side=earlier]")).to_contain_text("five times")
    expect(conflict.locator("[data-side=later]")).to_contain_text("three times")
    expect(page.locator(".preview")).to_contain_text("2 sources")
    until(lambda: kept() <= before, "the preview's job is dismissed")
    record = page.locator(".preview .record")
    expect(record).to_contain_text("[Later]")
    conflict.get_by_role("button", name="Both hold").click()
    expect(page.locator(".preview")).to_contain_text("1 pair of which both hold, as you said")
    expect(record).not_to_contain_text("[Later]")
    page.get_by_role("button", name="They contradict each other").click()
    expect(record).to_contain_text("[Later]")

    site.ended(("ingest", summary("Uploads, a third time", "uploads", "Log each retry.", day=17)))
    page.get_by_role("button", name="Merge these 2 memories").click()
    expect(page.locator("main").get_by_text("The topic has changed since this preview was made.")).to_be_visible()

    page.get_by_role("button", name="New preview").click()
    page.get_by_role("button", name="Merge these 3 memories").click()
    expect(page.locator("main").get_by_text("3 memories were merged into")).to_be_visible()
    expect(page.locator(".heading + .facts")).to_contain_text("Records1")
    history = page.get_by_role("region", name="History")
    history.get_by_role("button", name="Restore…").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(history.get_by_text("3 memories are back.")).to_be_visible()
    expect(history.get_by_text("undone")).to_be_visible()


def test_what_is_open_is_listed_with_its_topic_and_leads_to_its_memory(site: Site, tab: Tab) -> None:
    site.stored(summary("Owls", "owls", "Owls are counted at night.", open_questions=["Who feeds the owls?"]))
    page = tab.open("#/topics")
    still_open = page.get_by_role("region", name="Still open")
    expect(still_open.get_by_role("link", name="Owls", exact=True)).to_be_visible()
    still_open.get_by_role("link", name="Who feeds the owls?").click()
    expect(page.locator("main")).to_contain_text("Owls are counted at night.")


# --- the review ---


def test_a_disputed_pair_is_counted_settled_by_the_keyboard_and_taken_back_in_its_place(site: Site, tab: Tab) -> None:
    """The texts are full of markup, and stay text."""
    older, newer = f"The gate is locked {HOSTILE}", f"The gate is unlocked {HOSTILE}"
    numbers = site.stored(summary("The gate", "gate", older, day=3), summary("The gate", "gate", newer, day=4))
    page = tab.open("#/topics")
    row = page.locator(".topics tbody tr", has=page.get_by_role("link", name="gate"))
    row.get_by_role("link", name="1 contradiction").click()
    expect(page.locator("main")).to_contain_text("Only pairs of the topic gate")
    pair = page.get_by_role("region", name="Disputed").get_by_role("listitem", name=f"Pair {numbers[0]}/{numbers[1]}")
    expect(pair.locator("[data-side=older]")).to_contain_text("The gate is locked <img")
    expect(pair.locator("[data-side=newer]")).to_contain_text("The gate is unlocked <img")
    badge = page.get_by_role("link", name="Review").locator(".badge")
    before = int(badge.inner_text().split()[0])
    place = pair.bounding_box()

    pair.get_by_label("Why (optional)").fill(HOSTILE)
    pair.get_by_role("button", name="The newer holds").focus()
    page.keyboard.press("Enter")
    expect(pair).to_contain_text("The newer holds said by person")
    expect(pair).to_contain_text(HOSTILE)
    expect(pair.locator("[data-side=newer]")).to_contain_text("holds")
    expect(pair).to_be_focused()
    assert (pair.bounding_box() or {})["y"] == (place or {})["y"]
    if before > 1:
        expect(badge).to_have_text(f"{before - 1} disputed")
    else:
        expect(badge).to_have_count(0)

    tab.go(f"#/memories/{numbers[0]}")
    known = page.get_by_role("region", name="What is known")
    expect(known).to_contain_text(f"Replaced by #{numbers[1]}: The gate is unlocked")
    known.get_by_role("link", name="1 pair in the review").click()
    settled = page.get_by_role("region", name="Replaced or settled").get_by_role("listitem")
    expect(page.locator("main")).to_contain_text("Nothing is disputed.")
    settled.get_by_role("button", name="Both hold").click()
    expect(pair).to_contain_text("Both hold said by person")
    expect(pair.get_by_role("button")).to_have_text(["The newer holds", "The older holds", "Take back"])
    pair.get_by_role("button", name="Take back").click()
    expect(pair).to_contain_text("May contradict each other")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script").count() == 0


def test_a_pair_that_cannot_be_settled_says_why_and_stays_disputed(site: Site, tab: Tab) -> None:
    texts = {4: "The ferry is locked.", 5: "The ferry is unlocked."}
    first, second = site.stored(*(summary("The ferry", "ferry", text, day=day) for day, text in texts.items()))
    page = tab.open("#/review?topic_id=ferry")
    pair = page.get_by_role("listitem", name=f"Pair {first}/{second}")
    expect(pair).to_be_visible()
    tab.expected.append("400")
    refused = {"success": False, "error": "Refused.", "error_code": "REFUSED", "remediation": "Wait."}
    page.route("**/v1/jobs", lambda route: route.fulfill(status=400, json=refused))
    pair.get_by_role("button", name="Both hold").click()
    expect(pair.get_by_role("alert")).to_contain_text("Refused.")
    expect(pair).to_contain_text("May contradict each other")


# --- health ---


def test_health_shows_findings_and_where_each_setting_came_from(site: Site, tab: Tab) -> None:
    page = tab.open("#/health")
    expect(page.get_by_role("region", name="Memory")).to_contain_text(re.compile(r"Graph\s*(none yet|up to date|\d+ )"))
    expect(page.get_by_role("region", name="Worker")).to_contain_text("ready")
    expect(page.get_by_role("region", name="Team")).to_have_count(0)
    page.get_by_role("button", name="Examine now").click()
    expect(page.get_by_role("button", name="Look again")).to_be_enabled()
    expect(page.locator("main").get_by_text(re.compile(r"\d+ checks? in"))).to_be_visible()
    page.get_by_label("Find a setting").fill("COGNEE_MEMORY_TEST_JOBS")
    row = page.locator(".settings tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("environment")


def test_health_says_nothing_of_what_is_not_known(site: Site, tab: Tab) -> None:
    """A store that cannot be read is not an empty one, and a worker without a heartbeat has no version."""
    page = tab.page
    tab.open("#/health")
    problem = {"code": "STORE_NEWER", "message": "The store is newer.", "remediation": "Update.", "details": {}}

    def unknown(route: Route) -> None:
        response = route.fetch(headers={**route.request.headers, "if-none-match": ""})
        worker = {"alive": True, "heartbeat": None}
        route.fulfill(response=response, json={**response.json(), "worker": worker, "memory": None,
                                               "memory_error": problem})  # fmt: skip

    page.route("**/v1/status", unknown)
    memory, worker = (page.get_by_role("region", name=name) for name in ("Memory", "Worker"))
    expect(worker).to_contain_text("starting")
    expect(memory).not_to_contain_text("up to date")
    expect(memory).not_to_contain_text("Memories")
    expect(memory.get_by_role("alert")).to_contain_text("The store is newer.")
    expect(page.locator("main")).not_to_contain_text("undefined")
    expect(worker).not_to_contain_text("restart it")


def test_more_jobs_than_one_request_takes_are_asked_for_in_several(site: Site, tab: Tab) -> None:
    page = tab.open()
    ids = [f"none-{number}" for number in range(2001)]
    answer = page.evaluate("ids => import('/assets/api.js').then(api => api.postForJobs('dismiss', ids))", ids)
    assert (answer["requested"], [each["job_id"] for each in answer["skipped"]]) == (0, ids)


# --- any screen, any device ---


def test_on_a_phone_no_screen_is_wider_than_the_phone(site: Site, phone: Tab, remembered: list[str]) -> None:
    phone.open()
    for address in _addresses(site, remembered):
        phone.go(address)
        _settled(phone.page)
        assert phone.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0, address


def test_no_screen_has_a_barrier_that_axe_finds(site: Site, remembered: list[str]) -> None:
    with context(site, bypass_csp=True) as alone:
        tab = Tab(alone, site)
        tab.open()
        for address in _addresses(site, remembered):
            tab.go(address)
            _settled(tab.page)
            assert barriers(tab.page) == [], address


def barriers(page: Page) -> list[tuple[str, str, list[str]]]:
    """What axe finds, and in the dark what contrast is too low. The page's policy has to be set aside, since axe itself
    makes markup; everything else of the page is as always."""
    page.evaluate(f"() => {{ if (!window.axe) {{ {AXE.read_text('utf-8')} }} }}")
    found = []
    for scheme, options in AXE_RUNS:
        page.emulate_media(color_scheme=scheme)
        answer = page.evaluate("options => axe.run(document, options)", {"resultTypes": ["violations"], **options})
        found += [
            (scheme, each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in answer["violations"]
        ]
    return found


def _addresses(site: Site, jobs: list[str]) -> list[str]:
    return [
        *(f"#/{screen}" for screen in SCREENS),
        f"#/jobs/{jobs[0]}",
        "#/memories/1",
        "#/topics/uploads",
        "#/memories?q=uploads",
    ]


def _settled(page: Page) -> None:
    """Its first answers are there."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def test_light_and_dark_can_be_chosen_and_are_kept(tab: Tab) -> None:
    page = tab.open()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    switch = page.get_by_role("button", name=re.compile("^Colours"))
    switch.click()
    switch.click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


# --- the end ---


def test_draining_ends_the_worker_and_the_page_keeps_what_it_shows(site: Site, tab: Tab, worker: RealWorker) -> None:
    page = tab.open()
    tab.expected.append("ERR_")
    rows = page.locator(".jobs tbody tr")
    expect(rows.first).to_be_visible()
    shown = rows.count()
    page.get_by_role("button", name="Drain…").click()
    page.get_by_role("button", name="Drain and stop").click()
    assert worker.process.wait(60) == 0
    expect(page.get_by_text("The worker does not answer.").first).to_be_visible()
    expect(page.get_by_role("banner").get_by_text("Not connected")).to_be_visible()
    expect(rows).to_have_count(shown)
    worker.again()
