"""Declares the commands, and builds their parsers with the help and the options that commands share.

A command is a function below its declaration and those of its options::

    @command("purge", ["purge --dry-run", "purge"], show=show_purge)
    @option("--dry-run", "show what would be removed, and change nothing")
    def purge(args: Given) -> Envelope:

It gives the answer, or raises JobError; ``show`` prints the answer. ``worker.cli`` has the table of commands and their
subcommands, and imports the module of the one that runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from bridge.interface.arguments import EVERYWHERE, EXAMPLES, Parser, Words, add_no_start, add_timeout, add_workspace
from jobs.errors import JobError

if TYPE_CHECKING:
    from bridge.settings import Settings
    from jobs.layout import Workspace

    from .output import Envelope

Run = Callable[["Given"], "Envelope"]
Show = Callable[["Envelope"], None]
Add = Callable[[argparse.ArgumentParser], object]
F = TypeVar("F", bound=Callable[..., Any])
Needs = Literal["none", "starts", "opens", "asks", "worker", "is"]


class Given(argparse.Namespace):
    """The arguments of a command, and what they name."""

    @cached_property
    def opened(self) -> tuple[Workspace, Settings]:
        """The workspace and its settings. Raises as ``trust.open_workspace``."""
        from bridge import trust  # not at the top: a command's help opens nothing

        return trust.open_workspace(self.workspace, Path.cwd(), anywhere=getattr(self, "anywhere", False))

    @property
    def place(self) -> Workspace:
        """The workspace. Raises as ``opened``."""
        return self.opened[0]

    @property
    def settings(self) -> Settings:
        """Its settings. Raises as ``opened``."""
        return self.opened[1]


class Decorator(Protocol):
    """Declares something of the function below it, which stays as it is."""

    def __call__(self, run: F, /) -> F: ...


# What a command does when no worker runs.
WITHOUT_A_WORKER: dict[Needs, str] = {
    "none": "Needs no worker.",
    "starts": "Starts a worker unless one is running. With --no-start, the job waits for the next worker.",
    "opens": "Starts a worker unless one is running. With --no-start, exit code 3 without one.",
    "asks": "Without a worker, the request waits for the next one.",
    "worker": "Needs a worker: exit code 3 without one.",
    "is": "",
}


class Declared(NamedTuple):
    """A command or a subcommand, as ``command`` and ``verb`` declare it."""

    run: Run
    show: Show
    text: str
    examples: Sequence[str]
    more: str
    needs: Needs
    json: bool
    options: Sequence[Add]


DECLARED: dict[str, Declared] = {}
"""By command; a subcommand's key is ``command verb``."""
GROUPS: dict[str, Sequence[str]] = {}
"""The examples of the commands that only have subcommands."""


def command(
    name: str,
    examples: Sequence[str] = (),
    *,
    show: Show = lambda answer: None,
    text: str = "",
    more: str = "",
    needs: Needs = "none",
    json: bool = True,
) -> Decorator:
    """Declare a function as a command. ``examples`` begin with its name; without any, the name is the example.

    ``show``: nothing, where the function prints itself. ``more`` extends the description. ``needs``: what it does when
    no worker runs. ``json``: whether it has the option.
    """

    def declare(run: F) -> F:
        options = vars(run).pop("options", ())
        DECLARED[name] = Declared(run, show, text, examples or [name], more, needs, json, options)
        return run

    return declare


def verb(name: str, text: str, examples: Sequence[str] = (), **more: Any) -> Decorator:
    """As ``command``, for a subcommand, ``command verb``. ``text``: what it does, in a sentence without its full stop.
    ``examples`` begin with the verb."""
    return command(name, [f"{name.partition(' ')[0]} {each}" for each in examples], text=text, **more)


def group(name: str, examples: Sequence[str]) -> None:
    """Declare a command that only has subcommands."""
    GROUPS[name] = examples


def option(names: str, help: str, **more: Any) -> Decorator:
    """An option of the command below, ``-f --from FILE``, or an argument, ``job_id JOB_ID``.

    They are argparse's names and metavariable; an option that takes no value is a flag. ``more``: as argparse has it.
    """
    words = names.split()
    flags = [word for word in words if word.startswith("-")] or words[:1]
    if len(words) > len(flags):
        more["metavar"] = words[-1]
    elif words[0].startswith("-") and "choices" not in more:
        more["action"] = "store_true"
    return added(lambda parser: parser.add_argument(*flags, help=help, **more))


def added(add: Add) -> Decorator:
    """Options of the command below that several commands have."""

    def declare(run: F) -> F:
        vars(run).setdefault("options", []).insert(0, add)
        return run

    return declare


class _Commands(Parser):
    """Its arguments are ``Given``."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        return super().parse_known_args(args, Given() if namespace is None else namespace)


class CommandLineBuilder:
    """Collects the parsers. ``texts`` and ``needs`` have the keys of ``DECLARED``."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """``texts``: what each command does, in a sentence without its full stop."""
        self.top = _Commands(
            prog="cognee-memory",
            usage="cognee-memory [-h] [--version] [--json] COMMAND ...",
            description="Long-term memory for a chat assistant. Jobs are dropped as files and run in the background.",
        )
        self.top.add_argument("--version", action="store_true", help="print the version")
        self.top.add_argument("--json", action="store_true", help="print one JSON object; also after a command")
        self.commands = self.top.add_subparsers(dest="command", prog="cognee-memory", help=argparse.SUPPRESS)
        self.texts = dict(texts)
        self.needs: dict[str, Needs] = {}

    def add(self, name: str, verbs: Sequence[str]) -> None:
        """Add a command with its subcommands. All are declared."""
        whole = DECLARED.get(name)
        if whole is None:
            epilog = _epilog(GROUPS[name], "")
            parser = self.commands.add_parser(name, description=_sentence(self.texts[name]), epilog=epilog)
        else:
            parser = self.commands.add_parser(name, add_help=False)
            self._complete(parser, name, whole)
        if verbs:
            prog, needed = f"cognee-memory {name}", whole is None
            below = parser.add_subparsers(
                dest="verb", metavar="SUBCOMMAND", required=needed, title="subcommands", prog=prog
            )
        for each in (f"{name} {verb}" for verb in verbs):
            declared = DECLARED[each]
            self.texts[each] = declared.text
            made = below.add_parser(each.partition(" ")[2], add_help=False, help=declared.text)
            self._complete(made, each, declared, inherits_options=whole is not None)

    def _complete(
        self, made: argparse.ArgumentParser, name: str, declared: Declared, *, inherits_options: bool = False
    ) -> None:
        """``inherits_options``: it does not overwrite what its command was given."""
        self.needs[name] = declared.needs
        made.description = _sentence(self.texts[name]) + (f"\n\n{declared.more}" if declared.more else "")
        made.epilog = _epilog(declared.examples, WITHOUT_A_WORKER[declared.needs])
        made.set_defaults(run=declared.run, show=declared.show)
        group = made.add_argument_group(EVERYWHERE)
        kept: dict[str, Any] = {"default": argparse.SUPPRESS}  # what was given before the command
        add_workspace(group, **(kept if inherits_options else {}))
        if declared.json:
            group.add_argument("--json", action="store_true", help="print one JSON object", **kept)
        group.add_argument("-h", "--help", action="help", help="show this help")
        for add in declared.options:
            add(made)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _epilog(examples: Sequence[str], without_a_worker: str) -> str:
    shown = "\n".join([EXAMPLES, *(f"  cognee-memory {example}" for example in examples)]) if examples else ""
    return "\n\n".join(part for part in (shown, without_a_worker) if part)


# --- options that several commands have ---


def waits(*, default: bool) -> Decorator:
    """The options of a command that submits a job. ``default`` says whether it waits for the job's end."""

    def add(parser: argparse.ArgumentParser) -> None:
        text = "an id that the record and every log line repeat (default: the job's id)"
        parser.add_argument("--correlation-id", metavar="ID", help=text)
        group = parser.add_argument_group("waiting for the job")
        either = group.add_mutually_exclusive_group()
        for name, value, text in (
            ("--wait", True, "wait until the job has ended"),
            ("--no-wait", False, "return at once"),
        ):
            help_, action = text + (" (the default)" if value == default else ""), f"store_{str(value).lower()}"
            either.add_argument(name, dest="wait", action=action, default=default, help=help_)
        add_timeout(group)
        add_no_start(group)

    return added(add)


ANYWHERE = added(lambda parser: parser.set_defaults(anywhere=True))
IN_MARKDOWN = option("--markdown", "print what it did, or would do, as Markdown")
YES = option("--yes", "do not ask for confirmation")


def topic(which: str = "only this topic") -> Decorator:
    """A topic as an argument and as ``--topic-id``, for ``named_topic``; ``which`` tells in the help what it is."""

    def add(parser: argparse.ArgumentParser) -> None:
        help_ = f"{which}: its id or its exact title"
        parser.add_argument("named_topic", action=Words, metavar="TOPIC", nargs="*", help=help_)
        parser.add_argument("--topic-id", metavar="TOPIC", help="the same, as an option")

    return added(add)


def named_topic(args: argparse.Namespace) -> str | None:
    """The topic as it was named, if one was. Raises JobError: ARGUMENT_INVALID when it was named in both ways."""
    if args.named_topic and args.topic_id:
        raise JobError("ARGUMENT_INVALID", "Name one topic: by itself, or with --topic-id.")
    named: str | None = args.named_topic or args.topic_id
    return named


def limit(what: str) -> Decorator:
    """``--limit``; ``what`` names the items in the help."""
    return option("--limit N", f"maximum number of {what} to show (default 50)", type=int, default=50)
