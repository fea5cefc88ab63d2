"""Whether what the knowledge graph is made of is installed: the extra ``graph``, which is cognee and what it brings.

Without it, memories are stored, found, compacted, captured and forgotten as with it. It imports nothing of the extra.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

from jobs.errors import JobError


@cache  # for the whole process: one that began without the extra has other versions of shared packages in use
def is_installed() -> bool:
    """Whether the extra was installed when this process first asked."""
    return find_spec("cognee") is not None


def require() -> None:
    """Raises JobError: GRAPH_NOT_INSTALLED, unless the extra is installed."""
    if not is_installed():
        raise JobError("GRAPH_NOT_INSTALLED")


@contextmanager
def importing() -> Iterator[None]:
    """Around an import of the extra. The objects of its five thousand modules stay: to look through them for garbage,
    meanwhile and later, would take a fifth of the import's time."""
    if "cognee" in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
