"""A line of JSON for each request that changed something or was refused: who, by which token, what, and how it ended.

Lines have no texts: ids, names and codes only.
"""

from __future__ import annotations

import json
import logging
from typing import Any

log = logging.getLogger("gateway.audit")


def note(**facts: Any) -> None:
    """Write a line."""
    log.info(json.dumps({name: value for name, value in facts.items() if value is not None}))
