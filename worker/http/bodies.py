"""What is sent along with a request: its body, and what stands behind the question mark."""

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
_SKIPPED_BYTES = 8 * BODY_BYTES  # of a body that is too large, read all the same, so that its sender sees our answer
_BODY_SECONDS = 10.0
_QUERY_BYTES = 4096
LARGEST_PAGE = 500


# --- the body ---


async def object_of(request: Request, most: int = BODY_BYTES) -> dict[str, Any]:
    """The JSON object that was sent. Raises ARGUMENT_INVALID for what is none, and as ``bytes_of``."""
    return parsed(await bytes_of(request, most))


async def bytes_of(request: Request, most: int = BODY_BYTES) -> bytes:
    """The body, which says that it is JSON. Raises HTTP_NOT_JSON, HTTP_TOO_LARGE, HTTP_TOO_SLOW."""
    kind, _, parameter = ",".join(request.headers.getlist("content-type")).lower().partition(";")
    # Never what a form of another site's page can send without asking us first.
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
    """Raises ARGUMENT_INVALID."""
    try:
        found = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):  # text that is no UTF-8, and numbers without end, among them
        found = None
    if not isinstance(found, dict):
        raise JobError("ARGUMENT_INVALID", "The body is no JSON object.", remediation="Send one JSON object in UTF-8.")
    return found


def only(found: dict[str, Any], *known: str) -> dict[str, Any]:
    """The object, if it has no other names. Raises ARGUMENT_INVALID."""
    for name in found:
        require_known(name, known)
    return found


def require_known(name: str, known: Sequence[str], where: str = "docs/http.md") -> None:
    """Raises ARGUMENT_INVALID with the nearest known name."""
    if name not in known:
        hint = did_you_mean(name, known, quoted=False)
        raise JobError(
            "ARGUMENT_INVALID",
            f"There is no argument {name[:80]!r}.{hint}",
            remediation=f"{where} lists what there is.",
        )


# --- what stands behind the question mark ---


class Query:
    """The parameters of a request, each given at most once. What is wrong with one is ARGUMENT_INVALID."""

    def __init__(self, request: Request, *known: str) -> None:
        if len(request.scope["query_string"]) > _QUERY_BYTES:
            raise JobError("ARGUMENT_INVALID", f"What stands behind the ? is longer than {_QUERY_BYTES} bytes.")
        self._given: dict[str, str] = {}
        for name, value in request.query_params.multi_items():
            require_known(name, known)
            if name in self._given:
                raise _wrong(name, "is given twice")
            self._given[name] = value

    @property
    def canonical(self) -> str:
        """Another one for other parameters."""
        return json.dumps(sorted(self._given.items()))

    def text(self, name: str, most: int = 128) -> str | None:
        value = self._given.get(name)
        if value is not None and not 1 <= len(value) <= most:
            raise _wrong(name, f"has 1 to {most} characters")
        return value

    def word(self, name: str, words: Sequence[str]) -> str | None:
        value = self._given.get(name)
        return None if value is None else _one_of(name, value, words)

    def words(self, name: str, words: Sequence[str]) -> tuple[str, ...]:
        value = self._given.get(name)
        return () if value is None else tuple(_one_of(name, each, words) for each in value.split(","))

    def whole(self, name: str, default: int, least: int = 1, most: int = LARGEST_PAGE) -> int:
        value = self._given.get(name)
        if value is None:
            return default
        if not re.fullmatch(r"[0-9]{1,18}", value) or not least <= int(value) <= most:
            raise _wrong(name, f"is a whole number of {least} to {most}")
        return int(value)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        value = self._given.get(name)
        if value is None:
            return default
        found = float(value) if re.fullmatch(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", value) else math.nan
        if not least <= found <= most:
            raise _wrong(name, f"is a number of {least:g} to {most:g}")
        return found


def _one_of(name: str, value: str, words: Sequence[str]) -> str:
    if value not in words:
        near = nearest(value, words)
        hint = f"did you mean {near[0]}?" if near else f"it is one of {', '.join(words)}"
        raise _wrong(name, f"cannot be {value[:80]!r}; {hint}")
    return value


def _wrong(name: str, why: str) -> JobError:
    end = "" if why.endswith("?") else "."
    return JobError("ARGUMENT_INVALID", f"{name} {why}{end}", remediation="docs/http.md lists what there is.")
