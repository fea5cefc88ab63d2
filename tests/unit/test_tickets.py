"""The ticket that signs a browser in."""

import pytest

from jobs.errors import JobError
from worker.http.tickets import SECONDS, Tickets, issue

TOKEN = "the-token-of-this-worker"
NOON = 1_795_262_400.0


class Door:
    def __init__(self, token: str = TOKEN, since: float = NOON) -> None:
        self.now = since
        self._tickets = Tickets(token, lambda: self.now)

    def opens(self, ticket: str) -> bool:
        try:
            self._tickets.redeem(ticket)
        except JobError as error:
            if error.code != "HTTP_TICKET_INVALID":
                raise
            return False
        return True


def test_a_ticket_opens_once() -> None:
    door, ticket = Door(), issue(TOKEN, NOON)
    assert [door.opens(ticket), door.opens(ticket)] == [True, False]
    assert door.opens(issue(TOKEN, NOON)), "another one of the same moment"


@pytest.mark.parametrize(("age", "opens"), [(0, True), (SECONDS - 1, True), (SECONDS + 0.1, False), (-5, False)])
def test_a_ticket_opens_for_a_minute(age: float, opens: bool) -> None:
    door = Door(since=NOON - 10)
    ticket = issue(TOKEN, NOON)
    door.now = NOON + age
    assert door.opens(ticket) is opens


def test_a_used_ticket_opens_no_process_that_came_later() -> None:
    """It cannot know what its predecessor took."""
    assert not Door(since=NOON + 1).opens(issue(TOKEN, NOON))


def test_a_ticket_of_another_worker_does_not_open() -> None:
    assert not Door().opens(issue("the-token-of-its-predecessor", NOON))


def test_no_part_of_a_ticket_can_be_changed() -> None:
    ticket = issue(TOKEN, NOON)
    for place in range(len(ticket)):
        for other in "0a.":
            forged = ticket[:place] + other + ticket[place + 1 :]
            assert forged == ticket or not Door(since=0).opens(forged)
    made_at, nonce, seal = ticket.split(".")
    for forged in (f"{int(made_at) + 1}.{nonce}.{seal}", f"{made_at}.{nonce}", f"{ticket} ", f"{ticket}\n", "", ".."):
        assert not Door().opens(forged)


def test_a_ticket_tells_nothing_of_the_token() -> None:
    assert TOKEN not in issue(TOKEN, NOON)


def test_used_tickets_are_forgotten_once_they_are_too_old_to_open() -> None:
    door = Door()
    for second in range(200):
        door.now = NOON + second
        assert door.opens(issue(TOKEN, door.now))
    assert len(door._tickets._used) <= SECONDS + 1
