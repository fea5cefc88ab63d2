"""Reads and validates what a request carries: its JSON body and its query parameters."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from jobs.errors import JobError
from jobs.spelling import did_you_mean, nearest

BODY_BYTES = 1024 * 1024
_SKIPPED_BYTES = 8 * BODY_BYTES  # read of a body that is too large: a sender that is cut off would not see the reply
_BODY_SECONDS = 10.0
_QUERY_BYTES = 4096
LARGEST_PAGE = 500


# --- the body ---


async def object_of(request: Request, most: int = BODY_BYTES) -> dict[str, Any]:
    """The JSON object in the body. Raises JobError: ARGUMENT_INVALID when it is not an object; also as ``bytes_of``."""
    return parsed(await bytes_of(request, most))


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


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``. Raises JobError: ARGUMENT_INVALID when it is not a JSON object in UTF-8."""
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):  # also for text that is not UTF-8, and for overlong numbers
        value = None
    if not isinstance(value, dict):
        raise JobError("ARGUMENT_INVALID", "The body is no JSON object.", remediation="Send one JSON object in UTF-8.")
    return value


def only(found: dict[str, Any], *known: str) -> dict[str, Any]:
    """The object, if all its names are known. Raises JobError: ARGUMENT_INVALID when one is not."""
    for name in found:
        require_known(name, known)
    return found


def require_known(name: str, known: Sequence[str], where: str = "docs/http.md") -> None:
    """Raises JobError: ARGUMENT_INVALID with the nearest known name when ``name`` is unknown. ``where`` is the page
    to read."""
    if name not in known:
        hint = did_you_mean(name, known, quoted=False)
        raise JobError(
            "ARGUMENT_INVALID",
            f"There is no argument {name[:80]!r}.{hint}",
            remediation=f"{where} lists what there is.",
        )


# --- the query parameters ---


class Query:
    """The query parameters of a request, each at most once.

    Every method raises JobError: ARGUMENT_INVALID when a value is wrong; an absent parameter gives None, an empty tuple
    or the default.
    """

    def __init__(self, request: Request, *known: str) -> None:
        """``known`` are the parameters that the route accepts. Raises JobError: ARGUMENT_INVALID for others, for
        repeated ones, and when the query string is too long."""
        if len(request.scope["query_string"]) > _QUERY_BYTES:
            raise JobError("ARGUMENT_INVALID", f"The query string is longer than {_QUERY_BYTES} bytes.")
        self._given: dict[str, str] = {}
        for name, value in request.query_params.multi_items():
            require_known(name, known)
            if name in self._given:
                raise _wrong(name, "is given twice")
            self._given[name] = value

    @property
    def canonical(self) -> str:
        """A text that is equal exactly when the parameters are equal."""
        return json.dumps(sorted(self._given.items()))

    def text(self, name: str, most: int = 128) -> str | None:
        """The value, of 1 to ``most`` characters."""
        value = self._given.get(name)
        if value is not None and not 1 <= len(value) <= most:
            raise _wrong(name, f"has 1 to {most} characters")
        return value

    def choice(self, name: str, words: Sequence[str]) -> str | None:
        """The value, which must be one of ``words``."""
        value = self._given.get(name)
        return None if value is None else _one_of(name, value, words)

    def choices(self, name: str, words: Sequence[str]) -> tuple[str, ...]:
        """The values, separated by commas, each one of ``words``."""
        value = self._given.get(name)
        return () if value is None else tuple(_one_of(name, each, words) for each in value.split(","))

    def integer(self, name: str, default: int, least: int = 1, most: int = LARGEST_PAGE) -> int:
        """The value as an integer from ``least`` to ``most``."""
        value = self._given.get(name)
        if value is None:
            return default
        if not re.fullmatch(r"[0-9]{1,18}", value) or not least <= int(value) <= most:
            raise _wrong(name, f"is a whole number of {least} to {most}")
        return int(value)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """The value as a float from ``least`` to ``most``."""
        value = self._given.get(name)
        if value is None:
            return default
        number = float(value) if re.fullmatch(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", value) else math.nan
        if not least <= number <= most:
            raise _wrong(name, f"is a number of {least:g} to {most:g}")
        return number


def _one_of(name: str, value: str, words: Sequence[str]) -> str:
    if value not in words:
        near = nearest(value, words)
        hint = f"did you mean {near[0]}?" if near else f"it is one of {', '.join(words)}"
        raise _wrong(name, f"cannot be {value[:80]!r}; {hint}")
    return value


def _wrong(name: str, why: str) -> JobError:
    end = "" if why.endswith("?") else "."
    return JobError("ARGUMENT_INVALID", f"{name} {why}{end}", remediation="docs/http.md lists what there is.")
