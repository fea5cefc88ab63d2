"""Calls of a transcript whose outcome is told in a later record: those that run a command, or change a file."""

from __future__ import annotations

import re
from dataclasses import replace

from ..failures import ended
from ..session import Call


class Calls:
    """Joins calls with their outcomes, and with what the assistant said before."""

    def __init__(self) -> None:
        self._open: dict[str, Call] = {}
        self._said = ""

    def say(self, text: str) -> None:
        """Note what the assistant said: it belongs to the next call."""
        self._said = text or self._said

    def begin(self, call_id: str | None, call: Call) -> None:
        """Note a call, if it runs a command or changes files."""
        if call_id and (call.command or call.files):
            self._open[call_id] = replace(call, said=self._said)
            self._said = ""

    def waits(self, named: re.Match[bytes] | None) -> bool:
        """Whether the outcome of the call that an unparsed record names is of interest."""
        return named is not None and named[1].decode("utf-8", "replace") in self._open

    def end(self, call_id: str, output: str, exit_code: int | None) -> Call | None:
        """As ``ended``, of the call of this id; None if it is not waited for."""
        call = self._open.pop(call_id, None)
        return None if call is None else ended(call, output, exit_code)
