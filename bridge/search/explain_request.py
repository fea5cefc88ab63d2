"""A request to explain memories: by question, by number, or both; with the problems found in its arguments.

``explanation`` answers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.spelling import encodable

from ..argument_table import EXPLAIN_ARGUMENTS, MAX_IDS
from .question import Question, brief, parse_question

if TYPE_CHECKING:
    from ..interface.answer_shapes import ExplainProblem, ExplainProblemCode

_ANY_QUERY = "-"  # placeholder without a query, so that ``parse_question`` still checks the other arguments


class ExplainRequest(NamedTuple):
    """A checked request. Without a ``query`` only the ranking and the limits of ``question`` count."""

    workspace: Workspace
    query: str | None
    ids: tuple[int, ...]
    project: str | None
    include_pack_context: bool
    limit: int
    question: Question
    problems: tuple[ExplainProblem, ...]
    """The invalid parts, which were left out."""

    @property
    def is_of_its_workspace(self) -> bool:
        """Whether ``project`` is this workspace's folder name or path, in any spelling; True without a project."""
        return self.project is None or self.workspace.matches(self.project)


def parse(workspace: Workspace, arguments: Mapping[str, Any], now: datetime) -> ExplainRequest:
    """The request from raw arguments; ``None`` means not given.

    Invalid ids and an empty query are reported in ``problems`` and left out, as long as a query or an id remains.
    Raises JobError: ARGUMENT_INVALID when nothing remains or another argument is invalid.
    """
    problems: list[ExplainProblem] = []
    query = _query(arguments.get("query"), problems)
    ids = wanted_ids(arguments.get("ids"), problems)
    if query is None and not ids:
        first = problems[0] if problems else problem("query", "at least one of query or ids is required")
        raise _invalid(first["field"], first["message"])
    project = arguments.get("project")
    if project is not None and (not isinstance(project, str) or not project.strip()):
        raise _invalid("project", f"project must be a path or the name of a folder, not {brief(project)}")
    pack = arguments.get("include_pack_context")
    if pack is not None and not isinstance(pack, bool):
        raise _invalid("include_pack_context", f"include_pack_context must be true or false, not {brief(pack)}")
    return ExplainRequest(
        workspace,
        query,
        ids,
        project,
        pack or False,
        _limit(arguments.get("limit")),
        parse_question({**arguments, "query": query or _ANY_QUERY}, now),
        tuple(problems),
    )


def problem(field: str, message: str, code: ExplainProblemCode = "INVALID_ARGUMENT") -> ExplainProblem:
    """An entry of the answer's ``errors``."""
    return {"code": code, "message": message, "field": field}


def problem_of(error: JobError, arguments: Mapping[str, Any]) -> ExplainProblem | None:
    """The entry of ``errors`` for an error in the arguments; None for any other error."""
    if error.code not in ("ARGUMENT_INVALID", "QUERY_EMPTY"):
        return None
    # A question's errors begin with the name of the argument.
    named = next((name for name in arguments if error.message.startswith(f"{name} ")), "query")
    return problem(error.details.get("field", named), error.message)


def wanted_ids(value: Any, problems: list[ExplainProblem]) -> tuple[int, ...]:
    """The valid ids, each once, in the order of first appearance. Appends to ``problems`` for invalid ones.

    Empty when there are more than MAX_IDS.
    """
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        problems.append(problem("ids", f"ids must be a list of whole numbers, not {brief(value)}"))
        return ()
    strange = [number for number in value if not _is_id(number)]
    if strange:
        problems.append(problem("ids", f"ids must be whole numbers from 1, not {listed(strange)}"))
    ids = tuple(dict.fromkeys(number for number in value if _is_id(number)))
    if len(ids) > MAX_IDS:
        problems.append(problem("ids", f"ids may be at most {MAX_IDS}, not {len(ids)}"))
        return ()
    return ids


def listed(values: Sequence[Any]) -> str:
    """The first ten values as text, each shortened, and the number of further ones."""
    shown = ", ".join(brief(value) for value in values[:10])
    return f"{shown} and {len(values) - 10} more" if len(values) > 10 else shown


def _query(value: Any, problems: list[ExplainProblem]) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        problems.append(problem("query", f"query must be a text with at least one word, not {brief(value)}"))
        return None
    return encodable(value).strip()


def _is_id(value: Any) -> bool:
    lowest, highest = EXPLAIN_ARGUMENTS["ids"].range
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest


def _limit(value: Any) -> int:
    if value is None:
        return int(EXPLAIN_ARGUMENTS["limit"].default)
    least, most = EXPLAIN_ARGUMENTS["limit"].range
    try:
        number = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not (least <= number <= most and number == int(number)):
        raise _invalid("limit", f"limit must be a whole number from {least} to {most}, not {brief(value)}")
    return int(number)


def _invalid(field: str, message: str) -> JobError:
    return JobError("ARGUMENT_INVALID", message, details={"field": field})
