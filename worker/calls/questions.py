"""Which arguments each query takes."""

from __future__ import annotations

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, RETRIEVE_ARGUMENTS

QUESTIONS = {"retrieve": RETRIEVE_ARGUMENTS, "explain": EXPLAIN_ARGUMENTS, "context": ARGUMENTS}
