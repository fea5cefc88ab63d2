"""docs/schemas: JSON Schemas, TypeScript types and golden examples, all made from the code; also the OpenAPI document,
and the states of jobs for the page and the extension.

python -m tools.schemas            write them
python -m tools.schemas --check    say which are not as the code would make them; exit status 1 if any
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

from bridge.interface import answer_shapes as answers, result_shapes
from bridge.interface.json_schema import Shape
from bridge.transfer import export_lines
from jobs import schema as shapes
from jobs.kinds import KIND_NAMES
from jobs.payloads import PAYLOADS, JobFile
from jobs.states import ENDS, State

from . import examples, job_states, openapi, published_types
from .json_schema import definition, payload_name

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"
TYPES = "cognee-memory.d.ts"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BY_HAND = {"README.md"}


def job_schema() -> dict[str, Any]:
    """The schema of the job file, with the payload of each kind."""
    shared: dict[str, Any] = {}
    job = definition(JobFile, "JobFile", shared)
    for kind, model in PAYLOADS.items():
        shared[payload_name(kind)] = definition(model, payload_name(kind), shared)
    job["allOf"] = [_where({"kind": [kind]}, payload=_ref(payload_name(kind))) for kind in PAYLOADS]
    return {**job, "$defs": shared}


def record_schema() -> dict[str, Any]:
    """The schema of the record, with the fields that each state requires and the result of each kind."""
    shared: dict[str, Any] = {}
    record = definition(shapes.JobRecord, "JobRecord", shared)
    for model in result_shapes.RESULTS.values():
        shared[model.__name__] = definition(model, model.__name__, shared)
    null, error = {"type": "null"}, _ref("JobError")
    live, ends = sorted(set(get_args(State)) - ENDS), sorted(ENDS)
    unhappy = sorted(ENDS - {"succeeded"})
    jobs = sorted(set(get_args(State)) - {"rejected"})
    record["allOf"] = [
        _where({"state": live}, success=null, finished_at=null, result=null, elapsed_ms=null),
        _where({"state": ends}, success={"type": "boolean"}, finished_at={"type": "string"}, next_attempt_at=null),
        _where({"state": ["succeeded"]}, success={"const": True}, error=null, result={"type": "object"}),
        _where({"state": unhappy}, success={"const": False}, result=null),
        _where({"state": ["rejected"]}, kind=null, job_sha256=null),
        _where({"state": jobs}, kind={"enum": list(KIND_NAMES)}, job_sha256={"type": "string"}),
        _where({"state": ["retrying", "failed", "expired", "rejected"]}, error=error),
        _where({"state": ["retrying"]}, next_attempt_at={"type": "string"}),
        *(
            _where({"kind": [kind], "state": ["succeeded"]}, result=_ref(model.__name__))
            for kind, model in result_shapes.RESULTS.items()
        ),
    ]
    return {**record, "$defs": shared}


RESPONSES: dict[str, tuple[str, Shape, Shape]] = {
    "retrieval": ("RetrievalResponse", answers.RetrievalSuccess, answers.RetrievalFailure),
    "explain": ("ExplainResponse", answers.ExplainSuccess, answers.ExplainFailure),
    "context": ("ContextResponse", answers.ContextSuccess, answers.ContextFailure),
}


def response_schema(verb: str) -> dict[str, Any]:
    """The schema of a query's answer: a success or a failure."""
    title, success, failure = RESPONSES[verb]
    shared: dict[str, Any] = {}
    for model in (success, failure):
        shared[model.__name__] = definition(model, model.__name__, shared)
    return {
        "title": title,
        "description": f"What {verb} writes: an answer, or an error.",
        "oneOf": [_ref(success.__name__), _ref(failure.__name__)],
        "$defs": shared,
    }


def export_schema() -> dict[str, Any]:
    """The schema of a line of an export."""
    shared: dict[str, Any] = {}
    for model in export_lines.MODELS:
        shared[model.__name__] = definition(model, model.__name__, shared)
    return {
        "title": "ExportLine",
        "description": "A line of an export: the header, a memory, what was done with memories, or the end.",
        "oneOf": [_ref(model.__name__) for model in export_lines.MODELS],
        "$defs": shared,
    }


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _where(given: Mapping[str, list[str]], **fields: Any) -> dict[str, Any]:
    """A condition: if each given field has one of the values, the other fields have these schemas."""
    condition = {name: {"const": v[0]} if len(v) == 1 else {"enum": v} for name, v in given.items()}
    return {"if": {"properties": condition, "required": list(condition)}, "then": {"properties": fields}}


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Every schema by file name. Each schema is complete in its file. Not to be changed: they are made once."""
    named = {"job": job_schema(), "record": record_schema()}
    named |= {f"{verb}-response": response_schema(verb) for verb in RESPONSES}
    named["export"] = export_schema()
    alone: list[tuple[str, Shape, str]] = [
        *((f"payload.{kind}", model, payload_name(kind)) for kind, model in PAYLOADS.items()),
        *((f"result.{kind}", model, model.__name__) for kind, model in result_shapes.RESULTS.items()),
        ("heartbeat", shapes.Heartbeat, "Heartbeat"),
        ("reason", shapes.RejectionReason, "RejectionReason"),
        ("control", shapes.ControlRequest, "ControlRequest"),
    ]
    for file, model, name in alone:
        shared: dict[str, Any] = {}
        schema = definition(model, name, shared)
        named[file] = {**schema, "$defs": shared} if shared else schema
    return {
        f"{file}.schema.json": {"$schema": _DIALECT, "$id": f"urn:cognee-memory:1:{file}", **schema}
        for file, schema in named.items()
    }


def documents() -> dict[str, str]:
    """The text of every generated file, by its path below docs/schemas."""
    named = schemas()
    return {
        **{name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in named.items()},
        TYPES: published_types.text(named, openapi.document()),
        **{f"examples/{name}": text for name, text in examples.files().items()},
    }


def stale(folder: Path, wanted: Mapping[str, str]) -> Iterator[str]:
    """The files that are missing, differ from ``wanted``, or should not exist."""
    existing = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in sorted((existing.keys() - _BY_HAND) | wanted.keys()):
        if name not in wanted or name not in existing or existing[name].read_text("utf-8") != wanted[name]:
            yield name


def main() -> int:
    """Write the files, or with ``--check`` report those that are not current. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.schemas", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 if a file is not current")
    check = parser.parse_args().check
    wanted = documents()
    elsewhere = {openapi.FILE: openapi.text(), **job_states.files()}
    files = {FOLDER / name: text for name, text in wanted.items()} | elsewhere
    changed = [FOLDER / name for name in stale(FOLDER, wanted)]
    changed += [path for path, text in elsewhere.items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in changed:
        what = "not current" if check else "written" if path in files else "removed"
        print(f"{what}: {path.relative_to(FOLDER.parent.parent)}")
        if check:
            continue
        if path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], "utf-8", newline="\n")
        else:
            path.unlink()
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
