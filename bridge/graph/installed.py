"""Whether cognee, which the knowledge graph is made of, is installed. It is not imported to find out."""

from __future__ import annotations

from importlib.util import find_spec


def is_installed() -> bool:
    """Whether cognee can be imported."""
    return find_spec("cognee") is not None
