"""Reads and validates what a request carries: its JSON body and its query parameters."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from bridge.argument_table import Argument
from jobs.errors import JobError
from jobs.spelling import did_you_mean, nearest

from ..calls.call import Arguments

BODY_BYTES = 1024 * 1024
_SKIPPED_BYTES = 8 * BODY_BYTES  # read of a body that is too large: a sender that is cut off would not see the reply
_BODY_SECONDS = 10.0
_QUERY_BYTES = 4096
_REMEDY = "docs/http.md lists what there is."


# --- the body ---


async def object_of(request: Request, most: int = BODY_BYTES) -> dict[str, Any]:
    """The JSON object in the body. Raises JobError: ARGUMENT_INVALID when it is not a JSON object in UTF-8; also as
    ``bytes_of``."""
    try:
        value = json.loads((await bytes_of(request, most)).decode("utf-8"))
    except (ValueError, RecursionError):  # also for text that is not UTF-8, and for overlong numbers
        value = None
    if not isinstance(value, dict):
        raise JobError("ARGUMENT_INVALID", "The body is no JSON object.", remediation="Send one JSON object in UTF-8.")
    return value


async def bytes_of(request: Request, most: int = BODY_BYTES) -> bytes:
    """The body, at most ``most`` bytes.

    Raises JobError: HTTP_NOT_JSON when the content type is not JSON, HTTP_TOO_LARGE, HTTP_TOO_SLOW.
    """
    kind, _, parameter = ",".join(request.headers.getlist("content-type")).lower().partition(";")
    # A form on another site can send other content types without a preflight request, so they are refused.
    if kind.strip() != "application/json" or parameter.strip() not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise JobError("HTTP_NOT_JSON")
    declared = request.headers.get("content-length", "0")
    if len(declared) > 15 or int(declared) > _SKIPPED_BYTES:
        raise JobError("HTTP_TOO_LARGE")
    kept = bytearray()
    size = 0
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size <= most:
                    kept += part
                elif size > _SKIPPED_BYTES:
                    break
    except TimeoutError:
        raise JobError("HTTP_TOO_SLOW") from None
    if size > most:
        raise JobError("HTTP_TOO_LARGE", f"The body is larger than {most} bytes.")
    return bytes(kept)


def fields_of(body: dict[str, Any], arguments: Arguments) -> dict[str, Any]:
    """The fields of a body, if all are known and each choice is one of its words. Raises JobError: ARGUMENT_INVALID."""
    only(body, *arguments)
    for name, argument in arguments.items():
        if (name in body or argument.is_required) and argument.choices and body.get(name) not in argument.choices:
            raise JobError("ARGUMENT_INVALID", f"{name} is one of {', '.join(argument.choices)}.")
    return body


def only(found: dict[str, Any], *known: str) -> dict[str, Any]:
    """The object, if all its names are known. Raises JobError: ARGUMENT_INVALID when one is not."""
    for name in found:
        require_known(name, known)
    return found


def require_known(name: str, known: Sequence[str]) -> None:
    """Raises JobError: ARGUMENT_INVALID with the nearest known name when ``name`` is unknown."""
    if name not in known:
        hint = did_you_mean(name, known, quoted=False)
        raise JobError("ARGUMENT_INVALID", f"There is no argument {name[:80]!r}.{hint}", remediation=_REMEDY)


# --- the query parameters ---


def query_of(request: Request, arguments: Arguments) -> dict[str, Any]:
    """The values of the query string; the default of each parameter that is absent.

    Raises JobError: ARGUMENT_INVALID when a parameter is unknown, repeated or wrong, and when the string is too long.
    """
    if len(request.scope["query_string"]) > _QUERY_BYTES:
        raise JobError("ARGUMENT_INVALID", f"The query string is longer than {_QUERY_BYTES} bytes.")
    given: dict[str, Any] = {}
    for name, text in request.query_params.multi_items():
        require_known(name, tuple(arguments))
        if name in given:
            raise _wrong(name, "is given twice")
        given[name] = _value(name, text, arguments[name])
    return {name: argument.default for name, argument in arguments.items()} | given


def _value(name: str, text: str, argument: Argument) -> Any:
    least, most = argument.range
    match argument.kind:
        case "choice":
            return _one_of(name, text, argument.choices)
        case "choices":
            return tuple(_one_of(name, each, argument.choices) for each in text.split(","))
        case "flag":
            return _one_of(name, text, argument.choices) == "true"
        case "whole":
            if not re.fullmatch(r"[0-9]{1,18}", text) or not least <= int(text) <= most:
                raise _wrong(name, f"is a whole number of {least} to {most}")
            return int(text)
        case "number":
            number = float(text) if re.fullmatch(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", text) else math.nan
            if not least <= number <= most:
                raise _wrong(name, f"is a number of {least:g} to {most:g}")
            return number
        case _:
            if not least <= len(text) <= most:
                raise _wrong(name, f"has {least} to {most} characters")
            return text


def _one_of(name: str, value: str, words: Sequence[str]) -> str:
    if value not in words:
        near = nearest(value, words)
        hint = f"did you mean {near[0]}?" if near else f"it is one of {', '.join(words)}"
        raise _wrong(name, f"cannot be {value[:80]!r}; {hint}")
    return value


def _wrong(name: str, why: str) -> JobError:
    end = "" if why.endswith("?") else "."
    return JobError("ARGUMENT_INVALID", f"{name} {why}{end}", remediation=_REMEDY)
