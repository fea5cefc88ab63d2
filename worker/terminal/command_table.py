"""The table ``COMMANDS``: the function of each command and the view that prints its answer.

The parser of a command is in ``memory_parsers`` or ``queue_parsers``. Both functions are named here as
``module.function`` below ``worker.terminal`` and imported when the command runs, so that ``retrieve`` starts fast.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .output import Envelope

_OF_A_JOB = "job_views.show"

# By the words of the command: the function that returns the envelope or raises JobError, and the view that prints it.
# A command with the name of a kind of job needs no row: its function is ``run`` in the module of ``kinds``.
COMMANDS: dict[str, tuple[str, str]] = {
    # --- start and see ---
    "demo": ("commands.demo", "display.nothing"),
    "setup": ("commands.setup", "display.setup"),
    "status": ("commands.status", "queue_views.overview"),
    "open": ("open_page.open_page", "open_page.show_page"),
    "doctor": ("doctor_command.doctor", "doctor_view.show"),
    "model list": ("model_command.list_models", "model_command.show_list"),
    "model use": ("model_command.use", "model_command.show_use"),
    "model add": ("model_command.add", "model_command.show_add"),
    "model compare": ("model_command.compare", "model_command.show_compare"),
    "model status": ("model_command.status", "model_command.show_status"),
    "team share": ("team_command.share", "team_command.show_made"),
    "team join": ("team_command.join", "team_command.show_made"),
    "team leave": ("team_command.leave", "team_command.show_left"),
    "team status": ("team_command.status", "team_command.show_status"),
    "team dismiss": ("team_command.dismiss", "team_command.show_dismissed"),
    "serve": ("team_command.serve", "display.nothing"),
    "pool": ("team_command.pool", "display.nothing"),
    "team database": ("team_command.people", "team_command.show_people"),
    "team person": ("team_command.people", "team_command.show_people"),
    "team persons": ("team_command.people", "team_command.show_people"),
    "team remove-person": ("team_command.people", "team_command.show_people"),
    "team member": ("team_command.people", "team_command.show_people"),
    "team remove-member": ("team_command.people", "team_command.show_people"),
    "team token": ("team_command.people", "team_command.show_people"),
    "team tokens": ("team_command.people", "team_command.show_people"),
    "team revoke": ("team_command.people", "team_command.show_people"),
    "team give": ("team_command.people", "team_command.show_people"),
    "team list": ("team_command.list_workspaces", "team_command.show_list"),
    "settings": ("commands.settings", "display.settings"),
    "settings set": ("commands.settings_set", "display.setting"),
    "purge": ("purge.purge", "purge.show"),
    "trust": ("commands.trust_workspace", "display.plain"),
    "worker": ("process_commands.run", "display.nothing"),
    "worker run": ("process_commands.run", "display.nothing"),
    "worker start": ("process_commands.start", "queue_views.worker"),
    "worker stop": ("process_commands.stop", "queue_views.stopped"),
    "worker restart": ("process_commands.restart", "queue_views.worker"),
    "worker status": ("process_commands.status", "queue_views.worker"),
    "worker logs": ("process_commands.logs", "queue_views.logs"),
    "completion": ("commands.completion", "display.script"),
    # --- capture ---
    "capture preview": ("kinds.capture.preview", _OF_A_JOB),
    "capture run": ("kinds.capture.run", _OF_A_JOB),
    "capture undo": ("kinds.capture.undo", _OF_A_JOB),
    "capture enable": ("capture_commands.enable", "capture_commands.show_set"),
    "capture disable": ("capture_commands.disable", "capture_commands.show_set"),
    "capture install": ("capture_commands.install", "capture_commands.show_installed"),
    "capture uninstall": ("capture_commands.uninstall", "capture_commands.show_installed"),
    "capture status": ("capture_commands.status", "capture_commands.show_status"),
    "capture list": ("capture_commands.list_sessions", "capture_commands.show_list"),
    "capture forget": ("capture_commands.forget", _OF_A_JOB),
    # --- recall and look ---
    "retrieve": ("questions.retrieve", "display.retrieve"),
    "explain": ("questions.explain", "display.explain"),
    "context": ("questions.context", "display.context"),
    "mcp": ("commands.mcp", "display.nothing"),
    "memories list": ("commands.memories_list", "display.memories"),
    "memories open": ("commands.memories_open", "display.open_items"),
    "memories show": ("commands.memories_show", "display.memory"),
    "memories set-status": ("kinds.set_status.run", _OF_A_JOB),
    "review": ("kinds.resolve.run", "kinds.resolve.show_review"),
    "topics": ("commands.topics", "display.topics"),
    "history": ("commands.history", "display.history"),
    "export": ("commands.export", "display.export"),
    # --- the queue ---
    "submit": ("job_commands.submit_file", _OF_A_JOB),
    "jobs list": ("queue_commands.list_jobs", "queue_views.job_list"),
    "jobs causes": ("queue_commands.causes", "queue_views.all_causes"),
    "jobs show": ("queue_commands.show", "life_view.show"),
    "jobs watch": ("queue_commands.watch", "queue_views.watched"),
    "jobs wait": ("queue_commands.wait", "life_view.show"),
    "jobs cancel": ("queue_commands.cancel", "queue_views.cancelled"),
    "jobs retry": ("queue_commands.retry", "queue_views.retried"),
    "jobs dismiss": ("queue_commands.dismiss", "queue_views.dismissed"),
    "jobs pause": ("queue_commands.pause", "queue_views.requested"),
    "jobs resume": ("queue_commands.resume", "queue_views.requested"),
    "jobs drain": ("queue_commands.drain", "queue_views.drained"),
    "jobs prune": ("queue_commands.prune", "queue_views.pruned"),
}


def functions_of(args: argparse.Namespace) -> tuple[str, str]:
    """The names of the function and the view of the parsed command."""
    verb = getattr(args, "verb", None)
    name = str(args.command) if verb is None else f"{args.command} {verb}"
    return COMMANDS.get(name) or _of_kind(name)


def _of_kind(name: str) -> tuple[str, str]:
    from jobs.kinds import BY_NAME

    return f"kinds.{BY_NAME[name].module}.run", _OF_A_JOB


def run(args: argparse.Namespace) -> Envelope:
    """Run the parsed command; returns its envelope. Raises the command's JobError."""
    answer: Envelope = imported(functions_of(args)[0])(args)
    return answer


def view_of(args: argparse.Namespace) -> Callable[[Envelope], None]:
    """The function that prints the command's answer."""
    return imported(functions_of(args)[1])


def imported(name: str) -> Callable[..., Any]:
    """The function with this name in the table."""
    module, _, function = name.rpartition(".")
    loaded: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), function)
    return loaded
