"""The tools that answer a question: ``memory_context``, ``memory_retrieve`` and ``memory_explain``.

As all functions of tools, these are synchronous and run in several threads at once.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from bridge.memory import BY_STATUS
from bridge.text.template import sections
from jobs.errors import JobError
from jobs.layout import Workspace

from ..wording import cut, cut_context
from .answer import Answer

if TYPE_CHECKING:
    from bridge.interface.answer_shapes import (
        ContextResponse,
        ExplainResponse,
        Refusal,
        RetrievalHit,
        RetrievalResponse,
    )
    from bridge.search.reader import Verb

    from .answer_shapes import Found, FoundHit


def ask(verb: Verb, workspace: Workspace, arguments: dict[str, Any]) -> Any:
    """The envelope of a query, also when it failed."""
    from bridge.search.query_client import ask_for

    return json.loads(ask_for(verb, str(workspace.root), arguments))


def _error(refusal: Refusal) -> JobError:
    """The error in a failed envelope."""
    details = refusal.get("error_details")
    return JobError(refusal["error_code"], refusal["error"], remediation=refusal["remediation"], details=details)


def retrieve(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The hits for a query. Raises the query's JobError when it failed."""
    answer: RetrievalResponse = ask("retrieve", workspace, _as_asked(arguments))
    if not answer["success"]:
        raise _error(answer)
    hits, warnings = answer["results"], answer["warnings"]
    warnings = [*cut(len(hits), answer["total_results"], "limit", warnings), *warnings]
    found: Found = {**answer, "results": [_found(workspace, hit) for hit in hits], "warnings": warnings}
    return Answer(found)


def _as_asked(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a query, as its contract names them."""
    return {"max_results" if name == "limit" else name: value for name, value in arguments.items()}


def _found(workspace: Workspace, hit: RetrievalHit) -> FoundHit:
    """The hit without what its text says beside it, and with what replaced it, if somebody said so."""
    from bridge.search import listing

    found = cast("FoundHit", {**hit, "summary_text": sections(hit["summary_text"])})
    if hit["status"] == "Superseded" and hit.get("feedback", {}).get("wrong"):
        with suppress(JobError):  # it was forgotten meanwhile
            given = listing.memory(workspace, f"#{hit['memory_number']}")["feedback"]["given"]
            for one in given:
                if one["by"] == BY_STATUS and one["note"]:
                    found["replaced"] = one["note"]
    return found


def explain(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The contract's envelope without ``success``; with numbers, the items of these alone.

    A request error stays in the envelope and sets ``is_error``, because the model can correct it. Raises JobError for
    all other failures.
    """
    asked = {"ids" if name == "memory_numbers" else name: value for name, value in arguments.items()}
    answer: ExplainResponse = ask("explain", workspace, asked)
    if not answer["success"] and not answer["errors"]:
        raise _error(answer)
    shown: dict[str, Any] = {name: answer[name] for name in ("items", "missing_ids", "errors", "metadata")}
    if isinstance(asked.get("ids"), list):
        shown["items"] = [item for item in shown["items"] if item["id"] in asked["ids"]]
        shown["metadata"] = shown["metadata"] | {"returned_items_count": len(shown["items"])}
    wrong = not answer["items"] and any(error["code"] != "NOT_FOUND" for error in answer["errors"])
    return Answer(shown, is_error=wrong)


def context(workspace: Workspace, arguments: dict[str, Any]) -> Answer:
    """The context block for a query; the text is the block, with the warnings below it.

    Raises the query's JobError when it failed.
    """
    answer: ContextResponse = ask("context", workspace, _as_asked(arguments))
    if not answer["success"]:
        raise _error(answer)
    answer["warnings"] = [*cut_context(answer, "limit"), *answer["warnings"]]
    text = answer["context"] or "No memory of this workspace fits the question."
    return Answer(answer, "\n".join([text, *(f"Note: {warning}." for warning in answer["warnings"])]))
