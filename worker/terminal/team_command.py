"""The commands ``team share``, ``team join``, ``team leave``, ``team status`` and ``team list``, and their views."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bridge import trust
from bridge.capture import consent
from bridge.interface import envelope
from bridge.settings import Settings
from bridge.team import copy_age, opening, server_clock
from jobs import clock, launch
from jobs.errors import JobError, error_kind
from jobs.layout import Workspace

from ..admin import team
from ..wording import counted, span
from .command_line import ANYWHERE, Given, command, group, option, verb
from .output import Envelope, facts, say, table, table_of
from .process_commands import require_positive, stop_worker

if TYPE_CHECKING:
    from ..admin.shapes import TeamCopy, TeamStatus

T = TypeVar("T")

_IDLE_SECONDS = 60.0  # a pool that runs takes a job that is due before
_PATIENCE_SECONDS = 600.0  # for a large workspace to be sent, or to arrive

group("team", ["team share", "team join 3f0c…", "team status"])


def show_made(answer: Envelope) -> None:
    """What was shared or joined."""
    seen = answer["team"]["workspace"]
    if answer["is_current"]:
        say(f"The workspace belongs to the team now: {seen['name']}, {counted(seen['changes'], 'change')}.")
    else:
        say("The workspace belongs to the team now. Its memories follow: cognee-memory team status.")
    say("Everything that is remembered in this folder from now on is shared with all who see the workspace.")
    if tools := answer["captured_from"]:
        say(f"Sessions of {' and '.join(tools)} are captured here, and so shared: cognee-memory capture disable")
    if not answer["joined"]:
        say(f"On another machine, in an empty folder: cognee-memory team join {answer['workspace_id']}")


@verb(
    "team share",
    "make this workspace a team's: all its memories, from now on on every machine that joins",
    more="The setting team is the address of the team's gateway: docs/team.md. A running worker is restarted.",
    needs="starts",
    show=show_made,
)
@option("--name NAME", "its name in the team (default: the name of the folder)")
def share(args: Given) -> Envelope:
    """Share the workspace, and wait until the team has its memories. Raises JobError as ``admin.team.share``."""
    made = _with_worker_stopped(args.place, lambda: team.share(args.place, args.settings, args.name))
    return _followed(args.place, args.settings, made.workspace_id, joined=False)


@verb(
    "team join",
    "make this folder a copy of a workspace of the team",
    ["join 3f0c6f0e-6a3e-4a53-9d0a-0f4c1f1d2b11"],
    more="The folder must have no memories of its own. A running worker is restarted.",
    needs="starts",
    show=show_made,
)
@option("id ID", "the id that team share has printed, or the name if one alone has it: team list")
def join(args: Given) -> Envelope:
    """Join a workspace of the team, and wait until its memories are here. Raises JobError as ``admin.team.join``."""
    made = _with_worker_stopped(args.place, lambda: team.join(args.place, args.settings, args.id))
    return _followed(args.place, args.settings, made.workspace_id, joined=True)


def show_left(answer: Envelope) -> None:
    """That the team was left."""
    say("The memories are this machine's alone now. The team keeps its own: nothing of it was changed.")


@verb(
    "team leave",
    "make this workspace this machine's alone, with all memories that are here",
    more="The team keeps its memories, and its other machines stay.",
    needs="starts",
    show=show_left,
)
def leave(args: Given) -> Envelope:
    """Leave the team, and keep the memories. Raises JobError as ``admin.team.leave``."""
    _with_worker_stopped(args.place, lambda: team.leave(args.place, args.settings), starts=False)
    return envelope.success(left=True)


def _with_worker_stopped(workspace: Workspace, change: Callable[[], T], *, starts: bool = True) -> T:
    """Make a change while no worker runs. Afterwards start one again if one ran, or, with ``starts``, in any case."""
    had_worker = launch.is_alive(workspace) and stop_worker(workspace)
    try:
        done = change()
    except BaseException:
        if had_worker:
            launch.start(workspace)
        raise
    if had_worker or starts:
        launch.start(workspace)
    return done


def _followed(workspace: Workspace, settings: Settings, workspace_id: str, *, joined: bool) -> Envelope:
    """The answer, once the copy here and the team are the same."""
    found = _reached(workspace, settings)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while found["behind"] != 0 and not copy_age.has_no_copy(workspace) and time.monotonic() < deadline:
        time.sleep(0.1)
        found = _reached(workspace, settings)
    captured = sorted(consent.read(workspace, settings.config_folder).tools)
    return envelope.success(
        workspace_id=workspace_id,
        joined=joined,
        is_current=found["behind"] == 0,
        team=found,
        captured_from=captured,
    )


def _reached(workspace: Workspace, settings: Settings) -> TeamStatus:
    found = team.status(workspace, settings)
    is_yet_to_share = found["position"] is None  # the worker that was started does
    if (error := found["error"]) is not None and not (is_yet_to_share and error["code"] == "TEAM_NOT_SHARED"):
        raise JobError(error["code"], error["message"], remediation=error["remediation"])
    return found


def show_status(answer: Envelope) -> None:
    """The team of a workspace."""
    found = answer["team"]
    if (error := found["error"]) is not None:
        facts(
            [
                ("team", found["address"]),
                ("reached", f"no: {error['message']} ({error['code']})"),
                ("this copy", f"at change {_number(found['position'], 'none')}, {_as_of(found['current_at'])}"),
            ]
        )
        say(error["remediation"])
        answers = "are answered from this machine's copy" if found["has_copy"] else "wait, too"
        say(f"Meanwhile jobs wait here, and nothing is lost. Questions {answers}.")
        return
    seen = found["workspace"]
    jobs = seen["jobs"]
    facts(
        [
            ("team", found["address"]),
            ("workspace", f"{seen['name']} ({seen['workspace_id']})"),
            ("changes", f"{seen['changes']:,}; this copy lacks {_number(found['behind'], 'all')}"),
            ("jobs", f"{jobs['waiting']} wait, {jobs['running']} run, {jobs['failed']} failed"),
            *[("service met", _met(code, count)) for code, count in seen["retrying"].items()],
            ("runs its jobs", _runner(seen)),
            ("clock", _differs(found["clock_ahead_seconds"])),
            ("token", _ends(found["token_ends_at"])),
        ]
    )
    rows = [
        [_named(each), _lacks(each), counted(each["forgotten"], "text"), _seen(each), each["version"]]
        for each in found["copies"]
    ]
    table(["copy", "lacks", "to forget", "seen", "version"], rows, right=["lacks", "to forget"])
    if found["failed_jobs"]:
        say("")
        columns = {"failed job": "job_id", "kind": "kind", "error": "error_code"}
        table_of(found["failed_jobs"], columns | {"dropped on": "asked_by", "failed": "failed_at"})
        say("To remove them from this list: cognee-memory team dismiss --all")
    if found["set_aside"]:
        say("")
        table_of(found["set_aside"], {"left out here": "table", "key": "key", "why": "why"})


def _met(code: str, count: int) -> str:
    return f"{code}, so {counted(count, 'job')} will be tried again: {error_kind(code).cause}"


def _runner(seen: Envelope) -> str:
    if seen["lease_owner"]:
        return f"{seen['lease_owner']}, until {seen['lease_until']}"
    if (seconds := seen["idle_seconds"] or 0) < _IDLE_SECONDS:
        return "nobody"
    return f"nobody for {span(seconds)}: no pool runs, or none with this workspace's model. Tell an operator."


@verb(
    "team status",
    "show the team: who runs jobs, what waits, and how far each copy is",
    ["status", "status --json"],
    show=show_status,
)
def status(args: Given) -> Envelope:
    """The workspace's team. Raises JobError as ``admin.team.status``."""
    return envelope.success(team=team.status(*args.opened))


def show_dismissed(answer: Envelope) -> None:
    """How many were removed."""
    say(f"{counted(answer['dismissed'], 'failed job')} removed from the team's list. The memories are as they were.")


@verb(
    "team dismiss",
    "remove failed jobs from the team's list; the memories stay as they are",
    ["dismiss JOB_ID", "dismiss --all"],
    show=show_dismissed,
)
@option("job_ids JOB_ID", "from the end of team status", nargs="*")
@option("--all", "all failed jobs")
def dismiss(args: Given) -> Envelope:
    """Remove failed jobs from the team's list. Raises JobError as ``admin.team.dismiss``; ARGUMENT_INVALID."""
    if not args.job_ids and not args.all:
        raise JobError("ARGUMENT_INVALID", "Name the jobs, or give --all for all failed ones.")
    dismissed = team.dismiss(*args.opened, None if args.all else args.job_ids)
    return envelope.success(dismissed=dismissed)


def show_list(answer: Envelope) -> None:
    """The team's workspaces."""
    rows = [
        [
            each["name"],
            each["workspace_id"],
            str(each["changes"]),
            str(each["jobs"]["waiting"]),
            each["lease_owner"] or "",
        ]
        for each in answer["workspaces"]
    ]
    table(["name", "id", "changes", "waiting", "runs its jobs"], rows, right=["changes", "waiting"])


@verb("team list", "show the team's workspaces", show=show_list)
@option("--limit N", "at most N (default 100)", type=int, default=100)
@ANYWHERE
def list_workspaces(args: Given) -> Envelope:
    """The team's workspaces. Raises JobError as ``admin.team.list_workspaces``."""
    require_positive(args.limit)
    settings = trust.settings_of(args.place)
    return envelope.success(workspaces=team.list_workspaces(settings, args.limit))


@command(
    "serve",
    ["serve --host 0.0.0.0 --certificate server.pem --key server.key --copies /var/lib/cognee-memory --workers 2"],
    more="The setting store is the address of the team's database: docs/team-operations.md.",
)
@option("--host HOST", "the address to listen on (default 127.0.0.1)", default="127.0.0.1")
@option("--port PORT", "the port to listen on (default 8443)", type=int, default=8443)
@option("--certificate FILE", "the certificate and its chain, as PEM", type=Path)
@option("--key FILE", "the certificate's key, as PEM", type=Path)
@option("--behind-proxy", "speak HTTP, to a proxy that has the certificate")
@option("--requests-per-minute N", "of each person (default 1200)", type=float, default=1200.0)
@option("--mebibytes-per-minute N", "of each person (default 1024)", type=float, default=1024.0)
@option(
    "--copies FOLDER",
    "answer questions about workspaces that are too large for a machine's copy, from copies in this folder",
    type=Path,
)
@option("--most-copies N", "copies that are kept there (default 100)", type=int, default=100)
@option(
    "--workers N",
    "also run the jobs of all workspaces, N at a time (default 0: a pool elsewhere does)",
    type=int,
    default=0,
)
@ANYWHERE
def serve(args: Given) -> Envelope:
    """Run the gateway until it is ended. Raises JobError as ``gateway.serving.serve``."""
    opening.require_driver()
    from ..gateway.serving import Serving, serve  # only a gateway needs a server
    from ..pool.running import PoolOptions

    if args.workers < 0 or (args.workers and args.copies is None):
        raise JobError("ARGUMENT_INVALID", "--workers needs --copies, a folder for copies of the workspaces.")
    copies = None if args.copies is None else args.copies.resolve()
    given = {name: getattr(args, name) for name in Serving.__dataclass_fields__ if name in args}
    runs = PoolOptions(copies / "pool", args.workers) if copies is not None and args.workers else None
    serve(args.settings, Serving(**given | {"copies": copies, "pool": runs}))
    return envelope.success(served=True)


@command(
    "pool",
    ["pool --folder /var/lib/cognee-memory --workers 2"],
    more="The setting store is the address of the team's database: docs/team-operations.md.",
)
@option("--folder FOLDER", "where copies of workspaces are", type=Path, required=True)
@option("--workers N", "jobs that run at a time (default 1)", type=int, default=1)
@option("--copies N", "copies that are kept on this host (default 1000)", type=int, default=1000)
@option("--metrics-port PORT", "serve metrics for Prometheus on this port", type=int)
@option(
    "--metrics-host HOST",
    "the address for them (default 127.0.0.1); they have no names and no texts",
    default="127.0.0.1",
)
@ANYWHERE
def pool(args: Given) -> Envelope:
    """Run a pool of workers until it is ended. Raises JobError as ``pool.running.run``; ARGUMENT_INVALID."""
    opening.require_driver()
    from ..pool.running import PoolOptions, run  # only a pool needs a client of Postgres

    if args.workers < 1 or args.copies < args.workers:
        raise JobError("ARGUMENT_INVALID", "--workers must be at least 1, and --copies at least as many.")
    run(
        args.settings,
        PoolOptions(args.folder.resolve(), args.workers, args.copies, args.metrics_port, args.metrics_host),
    )
    return envelope.success(ran=True)


def show_people(answer: Envelope) -> None:
    """The answer of ``people``."""
    if "token" in answer:
        say(str(answer["token"]))
        say('It is shown this once. On that machine, in config.toml, mode 0600: team_token = "…"')
    elif "tokens" in answer:
        tokens = [{**each, "last_used_at": each["last_used_at"] or "never"} for each in answer["tokens"]]
        times = {"created": "created_at", "last used": "last_used_at", "expires": "expires_at", "revoked": "revoked_at"}
        table_of(tokens, {"id": "id", "person": "person", "machine": "label", **times})
    elif "persons" in answer:
        table(["person", "groups"], [[each["name"], ", ".join(each["groups"])] for each in answer["persons"]])
    else:
        say(answer["now"] if answer["changed"] else "There was nothing to change.")


_PERSON = option("person PERSON", "")
_GROUP = option("group GROUP", "")


@verb(
    "team database",
    "create or upgrade the team's tables in the database",
    ["database --gateway-role cognee_gateway"],
    show=show_people,
)
@option("--gateway-role ROLE", "give this role of the database a gateway's rights")
@option("--host-role ROLE", "give this role the rights of a worker, and no others")
@verb("team person", "make a person known to the gateway", ["person ann"], show=show_people)
@_PERSON
@verb("team persons", "show all persons and their groups", show=show_people)
@verb("team remove-person", "remove a person, their tokens and memberships", ["remove-person ann"], show=show_people)
@_PERSON
@verb("team member", "put a person into a group", ["member backend ann"], show=show_people)
@_GROUP
@_PERSON
@verb("team remove-member", "take a person out of a group", ["remove-member backend ann"], show=show_people)
@_GROUP
@_PERSON
@verb("team token", "make a token for a machine of a person", ["token ann laptop --days 90"], show=show_people)
@_PERSON
@option("machine MACHINE", "")
@option("--days N", "the token ends after N days (default: never)", type=float)
@verb("team tokens", "show all tokens, without their secrets", show=show_people)
@verb("team revoke", "revoke a token at once", ["revoke 3f0c6f0e6a3e"], show=show_people)
@option("token TOKEN", "")
@verb(
    "team give",
    "say who may see a workspace: a person, or all of a group",
    ["give 3f0c… --group backend"],
    show=show_people,
)
@option("id ID", "")
@option("--person PERSON", "")
@option("--group GROUP", "")
def people(args: Given) -> Envelope:
    """What an operator asks about persons, groups, tokens and workspaces. Raises JobError as ``admin.people``."""
    opening.require_driver()
    from ..admin import people as admin_people

    args.anywhere = True
    return envelope.success(**admin_people.asked(args.settings, args))


def _number(value: int | None, without: str) -> str:
    return without if value is None else str(value)


def _as_of(current_at: str | None) -> str:
    return "of unknown age" if current_at is None else f"as of {current_at}"


def _named(copy: TeamCopy) -> str:
    return copy["node"] if copy["label"] is None else f"{copy['node']} ({copy['label']})"


def _lacks(copy: TeamCopy) -> str:
    """What it lacks. It does not follow where its token has ended."""
    return f"{copy['behind']:,}" if copy["has_access"] else "no access"


def _differs(ahead: float | None) -> str:
    """How wrong this machine's clock is; an empty text if it is not."""
    if ahead is None or abs(ahead) < server_clock.DIFFERS.total_seconds():
        return ""
    way = "behind" if ahead > 0 else "ahead of"
    return f"of this machine is {span(abs(ahead))} {way} the team's; its jobs get the team's time"


def _ends(token_ends_at: str | None) -> str:
    """When this machine's token ends; an empty text if it does not."""
    if token_ends_at is None:
        return ""
    left = (clock.parse(token_ends_at) - clock.now()).total_seconds()
    return f"of this machine ends in {span(left)}, at {token_ends_at}"


def _seen(copy: TeamCopy) -> str:
    return copy["seen_at"] + (" (silent)" if copy["is_silent"] else "")
