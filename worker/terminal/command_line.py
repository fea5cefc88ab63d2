"""Builds the parsers of the commands and the parts that they share: help, examples, common options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bridge.interface.arguments import EVERYWHERE, EXAMPLES, Parser, Words, add_no_start, add_timeout, add_workspace
from jobs.errors import JobError

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

    def command(self, name: str, examples: Sequence[str], **options: Any) -> argparse.ArgumentParser:
        """Add a command of ``texts``; returns its parser.

        ``functions``: the first gives the answer, or raises JobError; the second prints it, None where the first does.
        ``more`` extends the description. ``needs``: what it does when no worker runs. ``json``: whether it has the
        option.
        """
        return self._add(name, self.commands.add_parser(name, add_help=False), examples, **options)

    def nested(self, name: str, examples: Sequence[str] = ()) -> Subcommands:
        """Add a command that only has subcommands; returns them."""
        parser = self.commands.add_parser(name, description=_sentence(self.texts[name]), epilog=_epilog(examples, ""))
        return Subcommands(self, parser, name, required=True)

    def verbs(self, parser: argparse.ArgumentParser, name: str) -> Subcommands:
        """Let a command, which also runs alone, have subcommands; returns them."""
        return Subcommands(self, parser, name, required=False)

    def _add(
        self,
        name: str,
        made: argparse.ArgumentParser,
        examples: Sequence[str],
        functions: Functions,
        more: str = "",
        needs: Needs = "none",
        json: bool = True,
        inherits_options: bool = False,
    ) -> argparse.ArgumentParser:
        """Complete the parser of a command. ``inherits_options``: it does not overwrite what its command was given."""
        self.needs[name] = needs
        made.description = _sentence(self.texts[name]) + (f"\n\n{more}" if more else "")
        made.epilog = _epilog(examples, WITHOUT_A_WORKER[needs])
        made.set_defaults(run=functions[0], show=functions[1] or _nothing)
        group = made.add_argument_group(EVERYWHERE)
        kept: dict[str, Any] = {"default": argparse.SUPPRESS}  # what was given before the command
        add_workspace(group, **(kept if inherits_options else {}))
        if json:
            group.add_argument("--json", action="store_true", help="print one JSON object", **kept)
        group.add_argument("-h", "--help", action="help", help="show this help")
        return made


class Subcommands:
    """The subcommands of a command."""

    def __init__(
        self, builder: CommandLineBuilder, parser: argparse.ArgumentParser, command: str, *, required: bool
    ) -> None:
        self._builder = builder
        self._command = command
        self._parsers = parser.add_subparsers(
            dest="verb", metavar="SUBCOMMAND", required=required, title="subcommands", prog=f"cognee-memory {command}"
        )
        self._inherits = not required

    def add(self, name: str, text: str, examples: Sequence[str], **options: Any) -> argparse.ArgumentParser:
        """Add a subcommand; returns its parser. ``text``: what it does, in a sentence without its full stop.
        ``examples`` begin with its name. ``options`` are those of ``CommandLineBuilder.command``."""
        self._builder.texts[f"{self._command} {name}"] = text
        made = self._parsers.add_parser(name, add_help=False, help=text)
        shown = [f"cognee-memory {self._command} {example}" for example in examples]
        return self._builder._add(
            f"{self._command} {name}", made, shown, inherits_options=self._inherits, **options
        )  # fmt: skip


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


def in_markdown(parser: argparse._ActionsContainer) -> None:
    """Add ``--markdown``, for the commands whose answer has a document."""
    parser.add_argument("--markdown", action="store_true", help="print what it did, or would do, as Markdown")


def _default(is_default: bool) -> str:
    return " (the default)" if is_default else ""


def topic(parser: argparse._ActionsContainer, which: str = "only this topic") -> None:
    """Add a topic as an argument and as ``--topic-id``, for ``named_topic``; ``which`` tells in the help what it is."""
    help_ = f"{which}: its id or its exact title"
    parser.add_argument("named_topic", action=Words, metavar="TOPIC", nargs="*", help=help_)
    parser.add_argument("--topic-id", metavar="TOPIC", help="the same, as an option")


def named_topic(args: argparse.Namespace) -> str | None:
    """The topic as it was named, if one was. Raises JobError: ARGUMENT_INVALID when it was named in both ways."""
    if args.named_topic and args.topic_id:
        raise JobError("ARGUMENT_INVALID", "Name one topic: by itself, or with --topic-id.")
    named: str | None = args.named_topic or args.topic_id
    return named


def limit(parser: argparse._ActionsContainer, what: str) -> None:
    """Add ``--limit``; ``what`` names the items in the help."""
    parser.add_argument(
        "--limit", type=int, default=50, metavar="N", help=f"maximum number of {what} to show (default 50)"
    )
