"""The page of a worker in a team, in a real browser: what an operator sees of the team, and once it is not reached.

A real Postgres, two machines, and a link between one of them and the gateway, which a test cuts.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from harness import CHROMIUM, Place, until
from machines import Team, summary
from network import Link
from playwright.sync_api import expect
from postgres import database
from test_page import PHONE, Site, Tab, barriers, browser, opened  # noqa: F401 - a fixture

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


class Shown:
    """Two machines of a team: the page is that of the first; the second has failed jobs."""

    def __init__(self, team: Team, first: Place, second: Place, link: Link, failed: str, site: Site) -> None:
        self.team, self.first, self.second = team, first, second
        self.link, self.failed, self.site = link, failed, site


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Shown]:  # noqa: F811
    with database() as dsn:
        team = Team(tmp_path_factory.mktemp("team"), dsn)
        with Link(team.gateway.port) as link, (first := team.machine("first", port=link.port)).worker():
            second = team.machine("second")
            with second.worker():
                assert second.ended(second.submit("ingest", summary("The queue is a spool", 1))).state == "succeeded"
                failed = second.submit("noop", {"outcome": "fail"}, max_attempts=1)
                assert second.ended(failed).state == "failed"
                until(lambda: first.json("memories", "list")["total"] == 1 or None, "it is here")
                until(lambda: len(first.json("team", "status")["team"]["copies"]) == 3 or None, "all are noted")
            applied = "UPDATE copies SET applied_seq = applied_seq - 1 WHERE workspace_id = %s AND node = %s"
            team.change(applied, team.workspace_id, team.node_of(second))
            yield Shown(team, first, second, link, failed, Site(first, browser))


@pytest.fixture
def tab(shown: Shown) -> Iterator[Tab]:
    yield from opened(shown.site)


@pytest.fixture
def phone(shown: Shown) -> Iterator[Tab]:
    yield from opened(shown.site, viewport=PHONE, has_touch=True)


def test_the_team_is_shown_with_its_copies_and_the_failed_jobs_of_everybody(shown: Shown, tab: Tab) -> None:
    page = tab.open("#/health")
    team = page.get_by_role("region", name="Team", exact=True)
    expect(team).to_contain_text("0 waiting, 0 running, 1 failed")
    expect(team).to_contain_text("up to date")
    expect(page.get_by_role("region", name="Memory", exact=True)).not_to_contain_text(
        "behind"
    )  # its graph, made when needed
    copies = team.get_by_role("region", name="Copies").locator("tbody tr")
    expect(copies).to_have_count(3)
    here = copies.filter(has_text=shown.team.node_of(shown.first))
    expect(here).to_contain_text("(this one)")
    away = copies.filter(has_text=shown.team.node_of(shown.second))

    def is_silent() -> bool:  # once the gateway has noticed that it waits no more
        long_ago = "UPDATE copies SET seen_at = seen_at - interval '8 days' WHERE workspace_id = %s AND node = %s"
        shown.team.change(long_ago, shown.team.workspace_id, shown.team.node_of(shown.second))
        return "silent" in (away.text_content() or "")

    until(is_silent, "it was seen long ago")
    expect(away).to_contain_text("1 change")
    failed = team.get_by_role("region", name="Failed jobs of everybody").locator("tbody tr")
    expect(failed).to_have_count(1)
    expect(failed).to_contain_text(shown.failed)
    expect(failed).to_contain_text(shown.team.node_of(shown.second))


def test_who_runs_the_jobs_is_seen_while_they_run(shown: Shown, tab: Tab) -> None:
    page = tab.open("#/health")
    team = page.get_by_role("region", name="Team", exact=True)
    expect(team).to_contain_text("nobody now")
    running = shown.first.submit("noop", {"sleep_ms": 600_000})
    expect(team).to_contain_text("1 running")
    expect(team.locator(".facts")).to_contain_text("Runs its jobspool-")
    assert shown.first.cli("jobs", "cancel", running).returncode == 0
    expect(team).to_contain_text("nobody now")


def test_while_the_team_is_not_reached_the_page_says_what_still_works(shown: Shown, tab: Tab) -> None:
    page = tab.open("#/health")
    team = page.get_by_role("region", name="Team", exact=True)
    expect(team).to_contain_text("up to date")
    shown.link.cut()
    try:
        alert = team.get_by_role("alert")
        expect(alert).to_contain_text("TEAM_UNREACHABLE")
        expect(alert).to_contain_text("Questions are answered from this machine's copy. Jobs wait here")
        expect(team).to_contain_text("at change")
        tab.go("#/queue")
        expect(page.get_by_text("The team is not reached.")).to_be_visible()
    finally:
        shown.link.heal()
    expect(page.get_by_text("The team is not reached.")).to_have_count(0)
    tab.go("#/health")
    expect(team.get_by_role("alert")).to_have_count(0)
    expect(team).to_contain_text("up to date")


def test_on_a_phone_the_team_is_not_wider_than_the_phone(shown: Shown, phone: Tab) -> None:
    page = phone.open("#/health")
    expect(page.get_by_role("region", name="Copies")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_the_team_has_no_barrier_that_axe_finds(shown: Shown) -> None:
    with shown.site.browser.new_context(bypass_csp=True, reduced_motion="reduce") as context:
        page = Tab(context, shown.site).open("#/health")
        expect(page.get_by_role("region", name="Copies")).to_be_visible()
        assert barriers(page) == []
