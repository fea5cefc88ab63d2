"""The commands of ``capture`` that need no job, and ``capture forget``: consent, and the captured sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bridge import trust
from bridge.capture import consent
from bridge.graph import tool_model
from bridge.interface import envelope
from bridge.search import listing
from bridge.store.opening import reader_of
from bridge.team.membership import membership_of
from jobs import clock
from jobs.errors import JobError
from jobs.kinds import CAPTURE_TOOLS

from ..hooks import installers, moments
from ..hooks.installation import Edit
from ..wording import counted
from . import output as terminal
from .command_line import YES, Given, group, option, verb
from .job_commands import submit_for_target, submits
from .kinds.graph import model_use
from .output import Envelope, say, table

if TYPE_CHECKING:
    from bridge.memory_shapes import SessionLine
    from bridge.settings import Settings
    from jobs.layout import Workspace

_UNCONFIRMED = "Nothing was changed; not confirmed."
_TOOL = option("tool TOOL", ", ".join(CAPTURE_TOOLS), choices=CAPTURE_TOOLS)

group("capture", ["capture preview", "capture enable claude-code", "capture run"])


def show_set(answer: Envelope) -> None:
    """Print whether the tool is enabled now, and what to do next."""
    if answer["tool"] in answer["enabled"]:
        say(f"Capture from {answer['tool']} is enabled for this workspace. Capture: cognee-memory capture run")
        if answer["summaries"].startswith("own"):
            program = tool_model.TOOLS[answer["tool"]].program
            say(f"Its sessions are summarised by {program} itself, at your cost there: what was asked and answered is"
                " given to it again. How much: cognee-memory capture preview")  # fmt: skip
        if answer["is_shared"]:
            say("This workspace belongs to a team: its service writes the summaries. What is captured is shared with"
                " all who see it.")  # fmt: skip
    else:
        say(f"Capture from {answer['tool']} is disabled. What was captured stays: cognee-memory capture list")


@verb(
    "capture enable",
    "allow capture from a tool in this workspace",
    ["enable claude-code", "enable claude-code --summaries own"],
    more="Capture is off until it is enabled, for each tool and workspace.",
    show=show_set,
)
@_TOOL
@option(
    "--summaries",
    "own: the tool's own command line summarises its sessions, at your cost there; rules: no more",
    choices=("own", "rules"),
)
@option("--model NAME", "with own: the model that the tool is to take")
def enable(args: Given) -> Envelope:
    """Enable a tool; returns the enabled ones. Raises JobError: ARGUMENT_INVALID, LLM_CONFIG."""
    own: str | Literal[False] | None = False if args.summaries else None
    if args.summaries == "own":
        if args.tool not in tool_model.TOOLS:
            message = f"{args.tool} has no command line that could summarise; {', '.join(tool_model.TOOLS)} have."
            fix = "Configure a language model instead: docs/language-model.md."
            raise JobError("ARGUMENT_INVALID", message, remediation=fix)
        tool_model.require(args.tool)
        own = args.model or ""
    elif args.model:
        raise JobError("ARGUMENT_INVALID", "--model goes with --summaries own.", remediation="Give both.")
    return _set(args, enabled=True, own=own)


@verb("capture disable", "stop capture from a tool; what was captured stays", ["disable claude-code"], show=show_set)
@_TOOL
def disable(args: Given) -> Envelope:
    """Disable a tool; returns the enabled ones."""
    return _set(args, enabled=False, own=None)


def _set(args: Given, *, enabled: bool, own: str | Literal[False] | None) -> Envelope:
    tools = consent.set_enabled(args.place, args.settings.config_folder, args.tool, enabled, own_model=own)
    return envelope.success(
        enabled=sorted(tools), tool=args.tool, is_shared=_is_shared(args.place, args.settings),
        summaries=_summaries(args.place, args.settings, args.tool),
    )  # fmt: skip


def _summaries(workspace: Workspace, settings: Settings, tool: str) -> str:
    """Who summarises a tool's sessions: ``rules``, ``own``, ``own, MODEL``, or the team's ``service``."""
    if _is_shared(workspace, settings):
        return "service"
    model = consent.read(workspace, settings.config_folder).own_models.get(tool)
    return "rules" if model is None else ", ".join(filter(None, ("own", model)))


def _is_shared(workspace: Workspace, settings: Settings) -> bool:
    """Whether what is captured is shared with a team."""
    return membership_of(workspace, settings.config_folder) is not None


def show_installed(answer: Envelope) -> None:
    """Print what was changed in which files, what is left to do, and whether capture is enabled."""
    for each in answer["files"]:
        if each["diff"]:
            say(each["diff"].rstrip())
    for each in answer["files"]:
        say(f"{each['path']}: {'changed' if each['changed'] else 'nothing to change'}.")
    if answer["note"]:
        say(answer["note"])
    show_set(answer)
    if answer["recall"]:
        say(f"Notes that fit are shown for {' and '.join(answer['recall'])}: cognee-memory capture status counts them.")


@verb(
    "capture install",
    "have a tool capture its sessions by itself, and begin them with notes",
    ["install claude-code", "install claude-code --recall prompts --recall files"],
    more="It shows the change of the tool's configuration file first, and enables capture in this workspace.",
    show=show_installed,
)
@_TOOL
@YES
@option(
    "--recall MOMENT",
    "notes that fit: before each of the prompts, with the files that it reads and changes, after failures of"
    " its commands; none: no more",
    choices=(*consent.MOMENTS, "none"),
    action="append",
)
def install(args: Given) -> Envelope:
    """Write the tool's hook after the user has confirmed the difference, and enable capture from it here.

    Raises JobError: TOOL_CONFIG_UNUSABLE, NOT_CONFIRMED, ARGUMENT_INVALID.
    """
    chosen = _moments(args, consent.read(args.place, args.settings.config_folder).recall.get(args.tool, frozenset()))
    edits = installers.install(args.tool, args.settings.config_folder, chosen)
    needed = [edit for edit in edits if edit.is_needed]
    if needed and not args.yes:
        lines = [line for edit in needed for line in edit.diff().splitlines()]
        names = " and ".join(str(edit.path) for edit in needed)
        terminal.confirm(args.json, lines, "line", f"Change {names}?", _UNCONFIRMED)
    installers.write(args.tool, edits, args.settings.config_folder)
    tools = consent.set_enabled(args.place, args.settings.config_folder, args.tool, True, chosen)
    note, is_shared = installers.NOTES.get(args.tool), _is_shared(args.place, args.settings)
    return envelope.success(
        tool=args.tool, enabled=sorted(tools), files=_files(edits), note=note, is_shared=is_shared,
        recall=sorted(chosen), summaries=_summaries(args.place, args.settings, args.tool),
    )  # fmt: skip


def _moments(args: Given, before: Collection[str]) -> Collection[str]:
    """At which moments the tool is to be shown notes: as before, unless it is said. Raises JobError:
    ARGUMENT_INVALID."""
    known = installers.moments_of(args.tool)
    wanted = before if args.recall is None else [moment for moment in args.recall if moment != "none"]
    for moment in wanted:
        if moment not in known:
            message = f"{args.tool} takes no notes for {moment}: it has no hook that could give them."
            remediation = f"It takes them for {', '.join(known)}." if known else "Its sessions begin with notes."
            raise JobError("ARGUMENT_INVALID", message, remediation=remediation)
    return wanted


@verb(
    "capture uninstall",
    "take the change of a tool's configuration file back, and disable capture from it here",
    ["uninstall claude-code"],
    show=show_installed,
)
@_TOOL
def uninstall(args: Given) -> Envelope:
    """Take the tool's hook back, and disable capture from it here. Raises JobError: TOOL_CONFIG_UNUSABLE."""
    edits = installers.uninstall(args.tool, args.settings.config_folder)
    installers.restore(args.tool, edits, args.settings.config_folder)
    tools = consent.set_enabled(args.place, args.settings.config_folder, args.tool, False)
    note = f"The hook was that of all your workspaces: none captures from {args.tool} by itself any more."
    return envelope.success(
        tool=args.tool, enabled=sorted(tools), files=_files(edits),
        note=note if any(edit.is_needed for edit in edits) else None, is_shared=False, recall=[], summaries="rules",
    )  # fmt: skip


def _files(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    return [{"path": str(edit.path), "changed": edit.is_needed, "diff": edit.diff()} for edit in edits]


def show_status(answer: Envelope) -> None:
    """Print a line for each tool, and what it was shown while it worked."""
    hooks = {True: "on", False: "on, no hook"}
    rows = [
        (each["tool"], hooks[each["installed"]] if each["enabled"] else "off", str(each["sessions"] or ""),
         str(each["memories"] or ""), ", ".join(each["recall"]), each["summaries"] if each["enabled"] else "")
        for each in answer["tools"]
    ]  # fmt: skip
    head = ("tool", "capture", "sessions", "memories", "recall", "summaries")
    table(head, rows, right=("sessions", "memories"))
    if by_hand := [each["tool"] for each in answer["tools"] if each["enabled"] and not each["installed"]]:
        say(f"Without a hook, only cognee-memory capture run captures: {', '.join(by_hand)}.")
    for each in answer["tools"]:
        if each["prompts"] or each["notes"]:
            notes = f"{counted(each['notes'], 'note')} ({counted(each['tokens'], 'token')})"
            say(f"{each['tool']} was shown {notes} while it worked; {counted(each['prompts'], 'prompt')} looked at.")
    if answer["model_today"]["calls"]:
        say(f"Language models today, in this workspace: {model_use(answer['model_today'])}.")


@verb("capture status", "show which tools are enabled, and what was captured from each", show=show_status)
def status(args: Given) -> Envelope:
    """Each tool, whether it is enabled here and has the hook, how much was captured from it, and how many notes it was
    shown while it worked."""
    known = consent.read(args.place, args.settings.config_folder)
    sessions = listing.captured_sessions(args.place)
    counts = Counter(session["tool"] for session in sessions if session["state"] == "kept")
    memories = Counter(dict.fromkeys(CAPTURE_TOOLS, 0))
    for session in sessions:
        memories[session["tool"]] += session["memories"]
    shown = _shown(args.place, args.settings)
    tools = [
        {
            "tool": tool, "enabled": tool in known.tools, "installed": installers.is_installed(tool),
            "sessions": counts[tool], "memories": memories[tool],
            "recall": sorted(known.recall.get(tool, ())), "summaries": _summaries(args.place, args.settings, tool),
            **{name: shown[tool, name] for name in ("prompts", "notes", "tokens")},
        }
        for tool in CAPTURE_TOOLS
    ]  # fmt: skip
    spent = reader_of(args.place).sizes(clock.now()).llm_today
    today = {"calls": spent.calls, "tokens": spent.tokens, "cost_usd": spent.cost_usd}
    return envelope.success(tools=tools, model_today=today)


def _shown(workspace: Workspace, settings: Settings) -> Counter[tuple[str, str]]:
    """Of each tool: how many prompts were looked at, and how many notes were shown while it worked, with their
    tokens."""
    found: Counter[tuple[str, str]] = Counter()
    owner = trust.inspect_trust(workspace, settings.config_folder).owner
    for entry in moments.records(str(settings.config_folder), owner or ""):
        tool = str(entry.get("tool"))
        if entry.get("moment") in consent.MOMENTS:
            found[tool, "prompts"] += entry["moment"] == "prompts"
            found[tool, "notes"] += len(entry.get("memories", ()))
            found[tool, "tokens"] += int(entry.get("tokens", 0))
    return found


def show_list(answer: Envelope) -> None:
    """Print a line for each session."""
    rows = [
        (f"{each['tool']}/{each['session_id']}", each["captured_at"][:10], str(each["memories"]),
         "" if each["state"] == "kept" else each["state"], each["path"])
        for each in answer["sessions"]
    ]  # fmt: skip
    if rows:
        table(("session", "captured", "memories", "", "transcript"), rows, right=("memories",), wraps=("transcript",))
    else:
        say("Nothing was captured in this workspace yet. To see what could be: cognee-memory capture preview")


@verb("capture list", "list the captured sessions", show=show_list)
@option("--tool TOOL", f"only this tool: {', '.join(CAPTURE_TOOLS)}", choices=CAPTURE_TOOLS)
def list_sessions(args: Given) -> Envelope:
    """The captured sessions, the last captured first."""
    sessions = [each for each in listing.captured_sessions(args.place) if args.tool in (None, each["tool"])]
    return envelope.success(sessions=sessions)


@submits(
    "capture forget",
    ["capture forget claude-code/5f0c"],
    text="forget all that was captured from a session; it is not captured again",
    more="This cannot be undone.",
)
@option("session SESSION", "the session, as tool/id; the beginning of the id is enough")
@YES
def forget(args: Given) -> Envelope:
    """Submit the job that forgets a session, after the user has confirmed it; returns its envelope.

    Raises JobError: SESSION_NOT_FOUND; ARGUMENT_INVALID for a beginning that several sessions have, NOT_CONFIRMED.
    """
    name, memory_ids = _named(listing.captured_sessions(args.place), args.session)
    if not args.yes:
        titles = listing.titles(args.place, memory_ids, None)
        unconfirmed = "Forgetting cannot be undone; not confirmed."
        terminal.confirm(args.json, titles, "memory", f"Forget what was captured from {name} for good?", unconfirmed)
    return submit_for_target(args, "forget", {"session": name})


def _named(sessions: Sequence[SessionLine], wanted: str) -> tuple[str, list[str]]:
    """The session's name, tool/id, from it or its beginning, and the ids of its memories. An unknown one is left to the
    job: another job may be capturing it."""
    found = {name: each["memory_ids"] for each in sessions if (name := _name(each)).startswith(wanted)}
    if wanted in found or not found:
        return wanted, found.get(wanted, [])
    if len(found) > 1:
        message = f"{counted(len(found), 'session')} begin with {wanted!r}."
        raise JobError("ARGUMENT_INVALID", message, remediation="Give more of the id: cognee-memory capture list.")
    return next(iter(found.items()))


def _name(session: SessionLine) -> str:
    return f"{session['tool']}/{session['session_id']}"
