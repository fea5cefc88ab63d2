"""The OpenAPI document: current, whole, and true to the routes."""

import json
import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from http_server import document
from jsonschema_rs import Draft202012Validator, meta
from starlette.routing import Route

from jobs.errors import ERRORS
from jobs.layout import Workspace
from jobs.payloads import PAYLOADS
from tools import openapi
from worker.http import api as http_api
from worker.http.executor import RequestExecutor

PAGE = (openapi.FILE.parents[2] / "docs" / "http.md").read_text("utf-8")


def problems(schema: dict[str, Any], value: Any) -> list[str]:
    validator = Draft202012Validator({**schema, "components": document()["components"]})
    return [error.message for error in validator.iter_errors(value)]


def routes() -> dict[str, set[str]]:
    """Every path that is answered, with its methods."""
    found: Any = http_api.app(RequestExecutor(Workspace(Path("/nowhere")), lambda: None), "token", 1)
    while not hasattr(found, "routes"):
        found = found._inner
    assert all(isinstance(route, Route) for route in found.routes)
    return {route.path: set(route.methods) - {"HEAD"} for route in found.routes}


def test_the_document_is_current() -> None:
    assert openapi.FILE.read_text("utf-8") == openapi.text(), "run: make schemas"


def test_every_route_is_in_it_and_nothing_else() -> None:
    described = {path: {method.upper() for method in found} for path, found in document()["paths"].items()}
    assert described == routes()


def test_every_schema_is_one_and_every_reference_leads_somewhere() -> None:
    whole = document()
    for name, schema in whole["components"]["schemas"].items():
        meta.validate(schema)
        assert "$defs" not in schema, name
    for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(whole)):
        found = whole
        for part in reference.split("/"):
            found = found[part]


def test_each_kind_of_job_can_be_sent_but_those_for_tests() -> None:
    body = document()["paths"]["/v1/jobs"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    kinds = [branch["properties"]["kind"]["const"] for branch in body["oneOf"]]
    assert kinds == [kind for kind in PAYLOADS if kind != "noop"]


def test_what_is_open_is_said_and_nothing_else_is() -> None:
    operations = [
        (f"{method} {path}", found.get("security"))
        for path, methods in document()["paths"].items()
        for method, found in methods.items()
    ]
    assert {name for name, security in operations if security == []} == {
        "get /", "get /assets/{name}", "get /healthz", "post /v1/session",
    }  # fmt: skip
    assert document()["security"] == [{"token": []}]


def test_operations_have_names_of_their_own() -> None:
    names = [found["operationId"] for methods in document()["paths"].values() for found in methods.values()]
    assert len(names) == len(set(names))


def test_every_error_code_can_be_filtered_by() -> None:
    (found,) = [each for each in document()["paths"]["/v1/jobs"]["get"]["parameters"] if each["name"] == "error"]
    assert found["schema"]["enum"] == list(ERRORS)


# --- docs/http.md ---


def test_the_page_about_it_lists_each_route() -> None:
    rows = "".join(line for line in PAGE.splitlines() if line.startswith(("| `GET", "| `POST")))
    named = set(re.findall(r"`(GET|POST) (\S+)`", rows))
    assert named == {(method, path) for path, methods in routes().items() for method in methods}


def test_every_request_on_the_page_about_it_is_as_the_document_says() -> None:
    shell = re.sub(r"\\\n\s*", " ", "\n".join(re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)))
    asked = [shlex.split(line) for line in shell.splitlines() if line.startswith("curl ")]
    assert len(asked) == 5
    for words in asked:
        path, _, query = next(word for word in words if word.startswith("$url")).removeprefix("$url").partition("?")
        operation = document()["paths"][path]["post" if "-d" in words else "get"]
        known = {each["name"]: each["schema"] for each in operation.get("parameters", ()) if each["in"] == "query"}
        for name, (value,) in parse_qs(query).items():
            kind = known[name].get("type")
            given = value.split(",") if kind == "array" else int(value) if kind == "integer" else value
            assert problems(known[name], given) == []
        if "-d" in words:
            body = json.loads(words[words.index("-d") + 1])
            assert problems(operation["requestBody"]["content"]["application/json"]["schema"], body) == []


def test_every_answer_on_the_page_about_it_is_as_the_document_says() -> None:
    (shown,) = re.findall(r"^```jsonc\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    good = document()["paths"]["/v1/jobs"]["post"]["responses"]["202"]["content"]["application/json"]["schema"]
    assert problems(good, json.loads(shown)) == []
