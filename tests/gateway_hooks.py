"""What schemathesis is told of a gateway's requests that no schema can say. It imports this by its name, from the
environment."""

import json
import os
from typing import Any

import schemathesis
from openapi_hooks import _as_written

from bridge.team import wire


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """A valid id is that of the workspace that the person may see; nobody waits."""
    sent = _as_written(case.body)
    if isinstance(sent, dict):
        if isinstance(sent.get("workspace_id"), str) and len(sent["workspace_id"]) == 36:
            sent = {**sent, "workspace_id": os.environ["COGNEE_MEMORY_SHARED"]}
        if sent.get("seconds") and case.path.endswith("listen"):
            sent = {**sent, "seconds": 0.0}
    if repr(sent) != repr(case.body):
        case.body = sent


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    end = b"" if context.case.path.endswith("incoming") else wire.END
    return value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n" + end
