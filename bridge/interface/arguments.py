"""The argument parsers of the scripts, with positional and named arguments, and the options shared with the command
line.

Ranges and values of a question's arguments are checked by ``bridge.search.question``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NoReturn

from jobs.errors import JobError
from jobs.spelling import nearest

from ..argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, RETRIEVE_POSITIONS
from ..memory import FILTERS, LABELS, LIST_FILTERS, LISTS

EVERYWHERE = "options of every command"
EXAMPLES = "Examples:"


class Help(argparse.HelpFormatter):
    """A help formatter whose usage line shows only required arguments, and which keeps line breaks inside paragraphs.

    The width is cached: argparse creates a formatter for each option, and would import a module for the terminal's
    width that takes longer than creating all our options.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_help_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            part if "\n" in part else super(Help, self)._fill_text(part, width, indent) for part in text.split("\n\n")
        )

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any) -> str:
        needed = [action for action in actions if not action.option_strings or action.required]
        whole, self._prog = self._prog, f"{self._prog} [options]"
        try:
            return super()._format_usage(usage, actions if usage else needed, [], prefix)
        finally:
            self._prog = whole


@cache
def _help_width() -> int:
    try:
        return max(40, min(100, os.get_terminal_size().columns) - 2)
    except OSError:
        return 78  # in a pipe, which usually ends at a terminal, such as a pager


# argparse's words have no translations, and to look for some takes a millisecond.
argparse._ = str  # type: ignore[attr-defined]


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as a JobError with a suggestion, so that the process still prints its JSON answer.

    An option has its whole name: of an abbreviation nobody knows what it means once there is another option.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, "allow_abbrev": False, **options})

    def error(self, message: str) -> NoReturn:
        """Raises JobError: ARGUMENT_INVALID with argparse's message."""
        raise JobError(
            "ARGUMENT_INVALID",
            f"{message[:1].upper()}{message[1:]}{'' if message.endswith('?') else '.'}",
            remediation=f"See {self.prog} --help.",
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, but a subcommand's parser reports unknown options itself, since it knows the similar ones.

        Raises JobError: ARGUMENT_INVALID.
        """
        parsed, unknown = super().parse_known_args(args, namespace)
        for text in unknown:
            if text.startswith("--") and text != "--":
                name = text.partition("=")[0]
                begun = [known for known in self._option_string_actions if known.startswith(name)]
                # Without their dashes, which make every two short names alike.
                near = nearest(name[2:], [known[2:] for known in self._option_string_actions])
                alike = begun or [f"--{each}" for each in near]
                self.error(f"there is no option {name[:80]}{_did_you_mean(alike)}")
        return parsed, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        names = [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):
            what = "command" if action.dest == "command" else "subcommand"
            near = _below(value, action, 1.0) or _near(value, names) or _below(value, action, 0.8) or _all(names)
            self.error(f"there is no {what} {value!r}{near}")
        super()._check_value(action, value)

    def format_help(self) -> str:
        """The help, with the options of every command last."""
        self._action_groups.sort(key=lambda group: group.title == EVERYWHERE)
        return super().format_help()


def _verbs(parser: argparse.ArgumentParser) -> list[str]:
    nested = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [str(verb) for action in nested for verb in action.choices]


def _below(value: str, action: argparse._SubParsersAction[Any], cutoff: float) -> str:
    """A suggestion of nested subcommands: "list" alone means ``jobs list``."""
    verbs = [(name, verb) for name, parser in action.choices.items() for verb in _verbs(parser)]
    return _did_you_mean([f"{name} {verb}" for name, verb in verbs if _near(value, [verb], cutoff)])


def _near(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    return _did_you_mean(nearest(name, known, cutoff=cutoff))


def _did_you_mean(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(map(repr, names[:3]))}?" if names else ""


def _all(names: list[str]) -> str:
    return f"; there are {', '.join(names)}" if len(names) <= 12 else ""


def add_workspace(parser: argparse._ActionsContainer, **options: Any) -> None:
    """The option ``--workspace``; ``options`` are passed to argparse."""
    parser.add_argument(
        "--workspace",
        "--workspace-path",
        dest="workspace",
        metavar="PATH",
        help="the folder that is open in the editor (default: the nearest parent with a .cognee_jobs or .git)",
        **options,
    )


# The options of a question, in the order of the help. ``query`` is added separately.
_QUESTION_GROUPS = {
    "limits": ("max_results", "max_tokens"),
    "filters": ("status", *FILTERS, "since", "until", "time_phrase", "include_superseded"),
    "ranking": (
        "preset", "half_life_days", "recency_floor", "relevance_floor", "ranking_mode", "alpha", "feedback_weight",
        "legacy", "as_of",
    ),
}  # fmt: skip


class Words(argparse.Action):
    """A text that may be given as several words, without quotes."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, " ".join(values) if values else None)


def add_question_options(parser: argparse.ArgumentParser, max_tokens: str | None = None) -> None:
    """The named options of a question. Their values stay text, since ``bridge.search.question`` checks them.

    ``max_tokens`` is the help of that option where the table's is not true.
    """
    for title, names in _QUESTION_GROUPS.items():
        group = parser.add_argument_group(title)
        for name in names:
            flag: dict[str, Any] = {"nargs": "?", "const": "true"} if ARGUMENTS[name].kind == "flag" else {}
            flag |= {"action": "append"} if name in LISTS else {}
            is_limit = name == "max_results" and "--limit" not in parser._option_string_actions  # explain has its own
            _add_option(group, name, *(["--max-results", "--limit"] if is_limit else []), **flag)
    if max_tokens is not None:
        parser._option_string_actions["--max-tokens"].help = max_tokens


def _add_option(parser: argparse._ActionsContainer, name: str, *options: str, **more: Any) -> None:
    """Add an argument of the table as an option. The default name of ``half_life_days`` is ``--half-life-days``."""
    argument = EXPLAIN_ARGUMENTS[name]
    options = options or (option_of(name),)
    parser.add_argument(*options, dest=name, metavar=argument.metavar, help=argument.shown_help, **more)


def option_of(name: str) -> str:
    """The option of an argument: ``--topic-id``; of a property with several values one of them: ``--tag``."""
    return f"--{(name.removesuffix('s') if name in LISTS else name).replace('_', '-')}"


def add_list_filters(parser: argparse._ActionsContainer) -> None:
    """The options that ask for memories with some values of a property that has several."""
    for name in LIST_FILTERS:
        _add_option(parser, name, action="append")


def given_values(parsed: argparse.Namespace, arguments: Iterable[str]) -> dict[str, Any]:
    """The raw, unchecked values of arguments, by name; None for one that was not given."""
    return {name: getattr(parsed, name) for name in arguments}


def add_explain_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``explain``: its own, and those of a question but ``--limit``, which is its own."""
    _add_option(parser, "ids", "--id", type=_id, nargs="+", action="extend")
    packing = EXPLAIN_ARGUMENTS["include_pack_context"]
    parser.add_argument("--include-pack-context", action="store_true", help=packing.shown_help)
    _add_option(parser, "limit")
    _add_option(parser, "project")
    add_question_options(parser)


def _id(text: str) -> int | str:
    """The text as a number. Other text is kept: ``explain`` reports it and still explains the valid ids."""
    try:
        return int(text)
    except ValueError:
        return text


def _script(name: str, description: str) -> Parser:
    """The parser of a script, with the option ``--workspace``."""
    parser = Parser(prog=name, description=description)
    add_workspace(parser)
    return parser


def retrieve_arguments(argv: list[str]) -> tuple[str | None, dict[str, Any]]:
    """The workspace's path and the raw arguments of ``retrieve.py``. A positional argument overrides the named one.

    Raises JobError: ARGUMENT_INVALID.
    """
    parser = _script("retrieve.py", "Print the memories that match a query, best first, as one JSON object.")
    _add_option(parser, "query")
    add_question_options(parser)
    parser.add_argument(
        "positional",
        nargs="*",
        metavar="WORKSPACE QUERY [MAX_RESULTS [MAX_TOKENS [HALF_LIFE_DAYS [INCLUDE_SUPERSEDED]]]]",
        help="the same arguments by position",
    )
    parsed = _parse(parser, argv, RETRIEVE_POSITIONS)
    return parsed.workspace, given_values(parsed, ARGUMENTS)


def _parse(parser: Parser, argv: list[str], names: tuple[str, ...]) -> argparse.Namespace:
    """Parse, and store the positional arguments under ``names``, in order."""
    parsed = parser.parse_intermixed_args(argv)
    if len(parsed.positional) > len(names):
        parser.error(f"at most {len(names)} positional arguments are understood")
    for name, value in zip(names, parsed.positional, strict=False):
        setattr(parsed, name, value)
    return parsed


def add_timeout(parser: argparse._ActionsContainer) -> None:
    """The option ``--timeout``, in seconds."""
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="maximum time to wait (default: until it ends)"
    )


def add_no_start(parser: argparse._ActionsContainer) -> None:
    """The option ``--no-start``."""
    parser.add_argument("--no-start", action="store_true", help="do not start a worker")


def _add_no_wait(parser: Parser) -> None:
    """The options of a script that waits for its job by default."""
    parser.add_argument("--no-wait", dest="wait", action="store_false", help="print the job's id and return at once")
    add_timeout(parser)
    add_no_start(parser)
    parser.set_defaults(job_id=None)


def migrate_arguments(argv: list[str]) -> argparse.Namespace:
    """The arguments of ``migrate_summaries.py``. Raises JobError: ARGUMENT_INVALID."""
    parser = _script("migrate_summaries.py", "Migrate the memories of earlier versions from cognee's own store.")
    parser.add_argument("--dry-run", action="store_true", help="show what each text would become, and change nothing")
    parser.add_argument("--limit", type=int, metavar="N", help="maximum number of memories to migrate")
    parser.add_argument("--undo", metavar="RECEIPT", help="undo a migration")
    _add_no_wait(parser)
    return parser.parse_args(argv)


# The options that give a summary field by field: the field and the help of each.
SUMMARY_OPTIONS = {
    "topic": ("topic", "the title (default: made of the first decision)"),
    "context": ("context", "what it was about (default: the decisions)"),
    "decision": ("decisions", "a decision; repeat the option for each"),
    "rationale": ("rationale", "a reason; repeat it for each"),
    "open_question": ("open_questions", "a question still open; repeat it for each"),
    "next_step": ("next_steps", "a next step; repeat it for each"),
    "reference": ("references", "a file, plan, branch or issue; repeat it for each"),
    "time_scope": ("time_scope", "the time that it covers"),
}
_SINGLE = ("topic", "context", "time_scope")


def add_ingest_options(parser: argparse.ArgumentParser) -> None:
    """The options of an ingest job, in groups for a summary, a conversation and the job."""
    by_field = parser.add_argument_group("for a summary by its fields")
    for name, (_, text) in SUMMARY_OPTIONS.items():
        action = "store" if name in _SINGLE else "append"
        by_field.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", action=action, help=text)
    whole = parser.add_argument_group("for a summary as JSON or as text")
    text = "a structured summary: JSON text, a file, or - for standard input"
    whole.add_argument("--summary-json", metavar="JSON|FILE|-", help=text)
    whole.add_argument("--summary", action="store_true", help="the given message is a summary, as text")
    labels = parser.add_argument_group("for every summary")
    for name, label in LABELS.items():
        if label.option:
            metavar, text = label.option
            action = "append" if name in LISTS else "store"
            labels.add_argument(option_of(name), dest=name, metavar=metavar, action=action, help=text)
    said = parser.add_argument_group("for a conversation, or a summary by its fields")
    said.add_argument("--importance", metavar="SHARE", help="importance, 0 to 1")
    said.add_argument("--timestamp", metavar="TIME", help="when it took place (default: now)")
    job = parser.add_argument_group("for the job")
    job.add_argument("--job-id", metavar="ID", help="the job's id (default: a new UUIDv7)")


def add_keep_both(parser: argparse.ArgumentParser) -> None:
    """The option ``--keep-both`` of a compaction."""
    parser.add_argument(
        "--keep-both",
        action="append",
        metavar="CONFLICT",
        help="the id of a conflict of the preview that is none: both decisions hold; repeatable",
    )


def compact_arguments(argv: list[str]) -> argparse.Namespace:
    """The arguments of ``compact.py``. Raises JobError: ARGUMENT_INVALID."""
    parser = _script("compact.py", "Merge a topic's summaries into one decision record, or preview the result.")
    parser.add_argument("--topic-id", required=True, metavar="ID", help="the topic's id")
    parser.add_argument("--preview", action="store_true", help="show the result, and change nothing")
    parser.add_argument("--preview-digest", metavar="DIGEST", help="apply exactly this preview")
    add_keep_both(parser)
    _add_no_wait(parser)
    return parser.parse_args(argv)


def ingest_arguments(argv: list[str]) -> argparse.Namespace:
    """The arguments of ``ingest.py``; a positional argument overrides the named one.

    Raises JobError: ARGUMENT_INVALID.
    """
    parser = _script("ingest.py", "Submit a conversation or a summary to the memory; print the job's id.")
    add_ingest_options(parser)
    add_no_start(parser)
    parser.add_argument("--wait", action="store_true", help="wait until the job has ended")
    parser.add_argument(
        "positional",
        nargs="*",
        metavar="WORKSPACE USER_MESSAGE ASSISTANT_MESSAGE [IMPORTANCE]",
        help="the arguments by position",
    )
    parser.set_defaults(user_message=None, assistant_message=None, timeout=None)
    return _parse(parser, argv, ("workspace", "user_message", "assistant_message", "importance"))
