"""What schemathesis is told that no schema can say. It imports this by its name, from the environment."""

import os
from typing import Any

import schemathesis

# A drained worker leaves, and takes the server along. Paused, it runs none of what is submitted here by the hundred.
_LEFT_OUT = ("drain",) if os.environ.get("COGNEE_MEMORY_SOAK") == "1" else ("drain", "resume")


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    sent = _as_written(case.body)
    if isinstance(sent, dict):
        if sent.get("request") in _LEFT_OUT:
            sent = {**sent, "request": "pause"}
        if isinstance(sent.get("since"), str) and isinstance(sent.get("until"), str):  # which has to be the later one
            sent = {name: value for name, value in sent.items() if name != "until"}
    if repr(sent) != repr(case.body):
        case.body = sent


def _as_written(value: Any) -> Any:
    """A whole number is written as one, and a text holds no NUL."""
    if isinstance(value, dict):
        return {name: _as_written(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_written(inner) for inner in value]
    if isinstance(value, str):
        return value.replace("\0", "0")
    return int(value) if isinstance(value, float) and value.is_integer() else value
