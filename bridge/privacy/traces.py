"""Tracebacks for the log without any text of a memory: where it happened and the kind of error.

An exception's message may quote what it choked on, so it stays out; the system's own word for its error goes in.
"""

from __future__ import annotations

import os
import traceback

LOG_FORMAT = "%(levelname)s %(name)s %(message)s"  # of the MCP server, whose stderr is its client's to keep


def trace(error: BaseException) -> str:
    """The kinds of the error and of its causes, each with the lines of code that led to it."""
    parts = []
    seen: BaseException | None = error
    while seen is not None:
        frames = traceback.extract_tb(seen.__traceback__)
        lines = [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        kind = type(seen).__name__
        if isinstance(seen, OSError) and isinstance(seen.errno, int):
            kind += f" ({os.strerror(seen.errno)})"
        parts.append("\n".join([kind, *lines]))
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\ncaused by ".join(parts)
