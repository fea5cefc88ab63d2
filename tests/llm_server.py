"""A language model for tests: a real HTTP server on loopback that speaks the OpenAI chat protocol, by a script;
and as much of Ollama's as shows that it was asked.

Each request is answered by the next entry of the queue (``then``), else by ``otherwise``: a good answer. What a good
answer says depends on the response model that the request asks for: what ``answers`` has under its name, else
something made of the request's own text, the same each time. All requests are kept, as they came.

    with LlmServer() as server:
        server.then(Status(429, retry_after=7), Good({"summary": "…", "description": "…"}))
        server.answers["KnowledgeGraph"] = lambda request: {"nodes": [], "edges": []}
        ... LLM_ENDPOINT=server.url, LLM_PROVIDER=openai or custom, LLM_MODEL=openai/test-model, LLM_API_KEY=anything
        server.wait_for(2)
        assert server.requests[0].headers["authorization"] == "Bearer anything"
"""

import contextlib
import itertools
import json
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import loopback

PATIENCE_SECONDS = 30.0
PLAIN = "str"  # the name of no response model: an answer in prose is wanted


@dataclass(frozen=True)
class Request:
    """One request as it came. ``headers`` by lower-case names."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def system(self) -> str:
        return "\n".join(_text(m) for m in self._messages if m["role"] in ("system", "developer"))

    @property
    def user(self) -> str:
        return "\n".join(_text(m) for m in self._messages if m["role"] not in ("system", "developer"))

    @property
    def is_ollamas(self) -> bool:
        return "prompt" in self.body

    @property
    def _messages(self) -> list[dict[str, Any]]:
        if self.is_ollamas:
            return [{"role": "user", "content": self.body["prompt"]}]
        return self.body["messages"]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the answer is to have: of a response format, of a tool, or out of the prompt."""
        wanted = self.body.get("response_format") or {}
        if wanted.get("type") == "json_schema":
            return {"title": wanted["json_schema"]["name"]} | wanted["json_schema"]["schema"]
        for tool in self.body.get("tools") or ():
            return {"title": tool["function"]["name"]} | tool["function"]["parameters"]
        if found := re.search(r"```json\n(\{.*?\n\})\n```", f"{self.system}\n{self.user}", re.DOTALL):
            return json.loads(found[1])
        return None

    @property
    def wants(self) -> str:
        """The name of the response model that is asked for, or ``PLAIN``."""
        return str((self.schema or {}).get("title", PLAIN))


# --- what may be answered ---


@dataclass(frozen=True)
class Good:
    """An answer of the wanted shape: ``content``, else what the server has for that shape. A text is sent as it is."""

    content: Mapping[str, Any] | str | None = None


@dataclass(frozen=True)
class Malformed:
    """A well-formed HTTP answer whose content is no JSON, as of a model that was cut short."""

    content: str = '{"nodes": [{"id": "half'


@dataclass(frozen=True)
class WrongShape:
    """JSON of another shape than was asked for."""

    content: Mapping[str, Any] = field(default_factory=lambda: {"unexpected": [1, 2, 3]})


@dataclass(frozen=True)
class Garbage:
    """Status 200 with a body that is not of the protocol: a proxy's page, say."""

    body: str = "<html>welcome to the hotel</html>"


@dataclass(frozen=True)
class Status:
    """An error of the provider."""

    status: int
    retry_after: int | str | None = None
    message: str = ""
    code: str = ""


@dataclass(frozen=True)
class Hang:
    """No answer until ``release``; then a good one."""


@dataclass(frozen=True)
class Drip:
    """A good answer, byte after byte, ``pause`` seconds between them; the rest at once after ``release``."""

    pause: float = 0.1


@dataclass(frozen=True)
class Reset:
    """The connection is cut before anything was answered."""


Step = Good | Malformed | WrongShape | Garbage | Status | Hang | Drip | Reset


class LlmServer:
    """A context: the server runs within it, in threads."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answers: dict[str, Mapping[str, Any] | str | Callable[[Request], Mapping[str, Any] | str]] = {}
        self.otherwise: Step | Callable[[Request], Step] = Good()
        self._queue: deque[Step] = deque()
        self._changed = threading.Condition()
        self._released = threading.Event()
        self._running = contextlib.ExitStack()
        self.url = ""

    def __enter__(self) -> "LlmServer":
        port = self._running.enter_context(loopback.serving(type("Handler", (_Handler,), {"owner": self})))
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._running.close()

    def environment(self, *, key: str = "test-key") -> dict[str, str]:
        """The variables with which cognee asks this server."""
        return {
            "LLM_PROVIDER": "openai",
            "LLM_MODEL": "openai/test-model",
            "LLM_ENDPOINT": self.url,
            "LLM_API_KEY": key,
        }

    def then(self, *steps: Step) -> None:
        """How the next requests are answered, in the order in which they come."""
        with self._changed:
            self._queue.extend(steps)

    def release(self) -> None:
        """Let go what hangs or drips, for good, until the next ``reset``."""
        self._released.set()

    def reset(self) -> None:
        """As new: nothing queued, nothing asked."""
        with self._changed:
            self._queue.clear()
            self.requests.clear()
            self.answers.clear()
            self.otherwise = Good()
            self._released.clear()

    def wait_for(self, requests: int, patience: float = PATIENCE_SECONDS) -> None:
        """Until so many requests have come in all."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.requests) >= requests, patience)
        assert came, f"{len(self.requests)} requests of {requests} came within {patience} s"

    def begin(self, request: Request) -> Step:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            if self._queue:
                return self._queue.popleft()
        return self.otherwise(request) if callable(self.otherwise) else self.otherwise

    def wait_for_release(self, seconds: float | None = None) -> bool:
        return self._released.wait(seconds)

    def content(self, step: Step, request: Request) -> str:
        """What the model says."""
        if isinstance(step, Malformed | WrongShape):
            found: Any = step.content
        else:
            found = step.content if isinstance(step, Good) else None
            if found is None and request.wants in self.answers:
                given = self.answers[request.wants]
                found = given(request) if callable(given) else given
            if found is None:
                found = made_up(request)
        return found if isinstance(found, str) else json.dumps(found)


# --- answers that are made of the question ---


def made_up(request: Request) -> Any:
    """A good answer to any request, the same each time."""
    text, schema = request.user, request.schema
    if schema is None:
        return f"From what I was given: {_first(text, 300)}"
    if request.wants == "KnowledgeGraph":
        return knowledge_graph(text) | _blanks(schema, text, ("summary", "description"))
    if request.wants == "SummarizedContent":
        return {"summary": _first(text, 80), "description": _first(text, 200)}
    return example(schema, schema, text)


def knowledge_graph(text: str) -> dict[str, Any]:
    """The names of a text as nodes, and an edge between each two that follow one another in a line."""
    nodes: dict[str, dict[str, str]] = {}
    edges: dict[tuple[str, str], dict[str, str]] = {}
    for line in text.splitlines():
        names = list(dict.fromkeys(re.findall(r"\b[A-Z][A-Za-z0-9]{2,}\b", line)))
        for name in names:
            node_id = name.lower()
            said = f"{name}, as the text has it"
            nodes[node_id] = {"id": node_id, "name": name, "type": "Thing", "description": said}
        for one, other in itertools.pairwise(names):
            ends = (one.lower(), other.lower())
            edges[ends] = {
                "source_node_id": ends[0],
                "target_node_id": ends[1],
                "relationship_name": "named_with",
                "description": f"{one} is named with {other}.",
            }
    return {"nodes": list(nodes.values()), "edges": list(edges.values())}


def example(schema: Mapping[str, Any], root: Mapping[str, Any], text: str) -> Any:
    """A value that a JSON schema allows: the first of what it lists, as little as it takes."""
    if "$ref" in schema:
        return example(root["$defs"][schema["$ref"].rpartition("/")[2]], root, text)
    for first in ("const", "default"):
        if first in schema:
            return schema[first]
    if "enum" in schema:
        return schema["enum"][0]
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return example(schema[several][0], root, text)
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            required = schema.get("required", properties)
            return {name: example(properties[name], root, text) for name in required if name in properties}
        case "array":
            return [example(schema["items"], root, text)] * int(schema.get("minItems", 0))
        case "integer":
            return int(schema.get("minimum", 0))
        case "number":
            return float(schema.get("minimum", 0.5))
        case "boolean":
            return False
        case "null":
            return None
    return _first(text, 80)


def _blanks(schema: Mapping[str, Any], text: str, names: tuple[str, ...]) -> dict[str, str]:
    return {name: _first(text, 80) for name in names if name in schema.get("properties", {})}


def _first(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


# --- HTTP ---


class _Handler(loopback.Handler):
    owner: LlmServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = Request(
            self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(self.body())
        )
        self._answer(self.owner.begin(request), request)

    def _answer(self, step: Step, request: Request) -> None:
        if isinstance(step, Status):
            told = {} if step.retry_after is None else {"Retry-After": str(step.retry_after)}
            error = {
                "message": step.message or f"scripted {step.status}",
                "type": "scripted",
                "code": step.code or None,
            }
            self._send(step.status, json.dumps({"error": error}), told)
        elif isinstance(step, Garbage):
            self._send(200, step.body)
        elif isinstance(step, Reset):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        else:
            if isinstance(step, Hang):
                self.owner.wait_for_release()
            pause = step.pause if isinstance(step, Drip) else None
            self._send(200, json.dumps(completion(request, self.owner.content(step, request))), pause=pause)

    def _send(
        self, status: int, text: str, headers: Mapping[str, str] | None = None, pause: float | None = None
    ) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json", "Connection": "close"} | dict(headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.close_connection = True
        if pause is not None:
            while body and not self.owner.wait_for_release(pause):
                self.wfile.write(body[:1])
                body = body[1:]
        self.wfile.write(body)


def completion(request: Request, content: str) -> dict[str, Any]:
    """An answer of the protocol. A token is a word here."""
    prompt, answered = len((request.system + " " + request.user).split()), len(content.split())
    if request.is_ollamas:
        counted = {"prompt_eval_count": prompt, "eval_count": answered}
        return {"model": request.body["model"], "response": content, "done": True, "done_reason": "stop", **counted}
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if tools := request.body.get("tools"):
        call = {"name": tools[0]["function"]["name"], "arguments": content}
        message |= {"content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": call}]}
    return {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request.body.get("model", "test-model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": answered, "total_tokens": prompt + answered},
    }
