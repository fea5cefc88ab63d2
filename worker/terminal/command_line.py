"""Builds the parsers of the commands and the parts that they share: help, examples, common options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bridge.interface.arguments import EVERYWHERE, EXAMPLES, Parser, add_no_start, add_timeout, add_workspace

if TYPE_CHECKING:
    from .output import Envelope

Run = Callable[[argparse.Namespace], "Envelope"]
Show = Callable[["Envelope"], None]
Functions = tuple[Run, Show | None]
Needs = Literal["none", "starts", "opens", "asks", "worker", "is"]

# What a command does when no worker runs.
WITHOUT_A_WORKER: dict[Needs, str] = {
    "none": "Needs no worker.",
    "starts": "Starts a worker unless one is running. With --no-start, the job waits for the next worker.",
    "opens": "Starts a worker unless one is running. With --no-start, exit code 3 without one.",
    "asks": "Without a worker, the request waits for the next one.",
    "worker": "Needs a worker: exit code 3 without one.",
    "is": "",
}


class CommandLineBuilder:
    """Collects the commands. ``texts`` and ``needs`` are keyed by command; a subcommand's key is ``command verb``."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """``texts``: what each command does, in a sentence without its full stop."""
        self.top = Parser(
            prog="cognee-memory",
            usage="cognee-memory [-h] [--version] [--json] COMMAND ...",
            description="Long-term memory for a chat assistant. Jobs are dropped as files and run in the background.",
        )
        self.top.add_argument("--version", action="store_true", help="print the version")
        self.top.add_argument("--json", action="store_true", help="print one JSON object; also after a command")
        self.commands = self.top.add_subparsers(dest="command", prog="cognee-memory", help=argparse.SUPPRESS)
        self.texts = dict(texts)
        self.needs: dict[str, Needs] = {}

    def command(self, name: str, examples: Sequence[str] = (), **options: Any) -> argparse.ArgumentParser:
        """Add a command of ``texts``; returns its parser. ``options`` as for ``add``."""
        return self.add(name, self.texts[name], examples, **options)

    def add(
        self,
        name: str,
        text: str,
        examples: Sequence[str] = (),
        *,
        functions: Functions,
        more: str = "",
        needs: Needs = "none",
        parent: Any = None,
        json: bool = True,
        inherits_options: bool = False,
    ) -> argparse.ArgumentParser:
        """Add a command, or with ``parent`` a subcommand; returns its parser.

        ``functions``: the first gives the answer, or raises JobError; the second prints it. ``parent`` is the result of
        ``nested`` or ``verbs``. ``more`` extends the description. With
        ``inherits_options`` the parent itself takes the common options too, so the subcommand's defaults do not
        overwrite them.
        """
        full_name = name if parent is None else f"{parent.dest_name} {name}"
        self.texts[full_name] = text
        self.needs[full_name] = needs
        parser: argparse.ArgumentParser = (self.commands if parent is None else parent).add_parser(
            name,
            add_help=False,
            help=text if parent is not None else None,
            description=_sentence(text) + (f"\n\n{more}" if more else ""),
            epilog=_epilog(examples, WITHOUT_A_WORKER[needs]),
        )
        parser.set_defaults(run=functions[0], show=functions[1] or _nothing)
        group = parser.add_argument_group(EVERYWHERE)
        kept: dict[str, Any] = {"default": argparse.SUPPRESS}  # what was given before the command
        add_workspace(group, **(kept if inherits_options else {}))
        if json:
            group.add_argument("--json", action="store_true", help="print one JSON object", **kept)
        group.add_argument("-h", "--help", action="help", help="show this help")
        return parser

    def nested(self, name: str, examples: Sequence[str] = ()) -> Any:
        """Add a command with subcommands; returns the action to pass as ``parent``."""
        parser = self.commands.add_parser(name, description=_sentence(self.texts[name]), epilog=_epilog(examples, ""))
        return self.verbs(parser, name, required=True)

    @staticmethod
    def verbs(parser: argparse.ArgumentParser, name: str, *, required: bool) -> Any:
        """Let a command have subcommands; returns the action to pass as ``parent``."""
        verbs = parser.add_subparsers(
            dest="verb", metavar="SUBCOMMAND", required=required, title="subcommands", prog=f"cognee-memory {name}"
        )
        verbs.dest_name = name  # type: ignore[attr-defined]
        return verbs


def _nothing(answer: Envelope) -> None:
    """For commands that print their output themselves."""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _epilog(examples: Sequence[str], without_a_worker: str) -> str:
    shown = "\n".join([EXAMPLES, *(f"  {example}" for example in examples)]) if examples else ""
    return "\n\n".join(part for part in (shown, without_a_worker) if part)


def waiting(parser: argparse.ArgumentParser, *, default: bool, start: bool = True) -> None:
    """Add the options of a command that submits a job. ``default`` says whether it waits for the job's end."""
    parser.add_argument(
        "--correlation-id",
        metavar="ID",
        help="an id that the record and every log line repeat (default: the job's id)",
    )
    group = parser.add_argument_group("waiting for the job")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--wait",
        dest="wait",
        action="store_true",
        default=default,
        help="wait until the job has ended" + _default(default),
    )
    either.add_argument("--no-wait", dest="wait", action="store_false", help="return at once" + _default(not default))
    add_timeout(group)
    if start:
        add_no_start(group)


def _default(is_default: bool) -> str:
    return " (the default)" if is_default else ""


def limit(parser: argparse._ActionsContainer, what: str) -> None:
    """Add ``--limit``; ``what`` names the items in the help."""
    parser.add_argument(
        "--limit", type=int, default=50, metavar="N", help=f"maximum number of {what} to show (default 50)"
    )
