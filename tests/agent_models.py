"""A model on loopback for the agents of other tools: it answers in the protocols of Anthropic, OpenAI and Google.

Every answer is the same sentence, but to a request that has one of the ``answers``' words. ``requests`` are the bodies
that came, as text, so a test can look for what a hook gave to the model.

    with AgentModels("We take SQLite.").running() as models:
        ... ANTHROPIC_BASE_URL=models.url …
        assert any("notes" in request for request in models.requests)
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import loopback


class AgentModels:
    """The running server."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.answers: dict[str, str] = {}
        self.requests: list[str] = []
        self.url = ""

    def _handler(self) -> type[loopback.Handler]:
        requests, answers, otherwise = self.requests, self.answers, self.answer

        class Handler(loopback.Handler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send(json.dumps({"data": [], "models": []}), "application/json")

            def do_HEAD(self) -> None:
                self._send("", "application/json")

            def do_POST(self) -> None:
                body = self.body().decode("utf-8", "replace")
                requests.append(body)
                asked = json.loads(body or "{}")
                text = next((answers[words] for words in answers if words in body), otherwise)
                for part, answer in _PROTOCOLS.items():
                    if part in self.path:
                        self._send(*answer(asked, text))
                        return
                self._send("{}", "application/json")

            def _send(self, text: str, kind: str) -> None:
                self.answer(text.encode(), headers={"Content-Type": kind})

        return Handler

    @contextmanager
    def running(self) -> "Iterator[AgentModels]":
        """Serve for the block."""
        with loopback.serving(self._handler()) as port:
            self.url = f"http://127.0.0.1:{port}"
            yield self


def _events(events: list[dict[str, Any]], *, named: bool = True, end: str = "") -> tuple[str, str]:
    """Server-sent events, and their content type."""
    lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines) + end, "text/event-stream"


def _counted(asked: dict[str, Any], answer: str) -> tuple[str, str]:
    return json.dumps({"input_tokens": 10, "totalTokens": 10}), "application/json"


def _anthropic(asked: dict[str, Any], answer: str) -> tuple[str, str]:
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model"), "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }  # fmt: skip
    text = {"type": "text", "text": answer}
    if not asked.get("stream"):
        return json.dumps({**message, "content": [text], "stop_reason": "end_turn"}), "application/json"
    return _events(
        [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": answer}},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 5},
            },
            {"type": "message_stop"},
        ]
    )


def _responses(asked: dict[str, Any], answer: str) -> tuple[str, str]:
    item = {
        "type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
        "content": [{"type": "output_text", "text": answer, "annotations": []}],
    }  # fmt: skip
    usage = {
        "input_tokens": 10, "input_tokens_details": None, "output_tokens": 5, "output_tokens_details": None,
        "total_tokens": 15,
    }  # fmt: skip
    return _events(
        [
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
        ]
    )


def _chat(asked: dict[str, Any], answer: str) -> tuple[str, str]:
    head = {"id": "chat_1", "created": 1, "model": asked.get("model")}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    if not asked.get("stream"):
        choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
        whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        return json.dumps(whole), "application/json"
    chunk = {**head, "object": "chat.completion.chunk"}
    delta = {"index": 0, "delta": {"role": "assistant", "content": answer}, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    events = [{**chunk, "choices": [delta]}, {**chunk, "choices": [last], "usage": usage}]
    return _events(events, named=False, end="data: [DONE]\n\n")


def _google(asked: dict[str, Any], answer: str) -> tuple[str, str]:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    form = asked.get("generationConfig", {}).get("responseJsonSchema")
    text = json.dumps(_example(form)) if form else answer
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
    return _events([{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "test"}], named=False)


def _example(form: dict[str, Any]) -> Any:
    """A value of a form, as a JSON schema gives it."""
    values = {"string": "user", "integer": 1, "number": 1, "boolean": False, "array": []}
    kind = form["type"].lower()
    if kind == "object":
        return {name: _example(inner) for name, inner in form["properties"].items()}
    return values[kind]


def _google_at_once(asked: dict[str, Any], answer: str) -> tuple[str, str]:
    text, _ = _google(asked, answer)
    return text.removeprefix("data: ").strip(), "application/json"


# By a part of the path.
_PROTOCOLS = {
    "count_tokens": _counted,
    ":countTokens": _counted,
    "/messages": _anthropic,
    "/responses": _responses,
    "/chat/completions": _chat,
    ":streamGenerateContent": _google,
    ":generateContent": _google_at_once,
}
