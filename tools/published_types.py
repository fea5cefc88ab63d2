"""docs/schemas/cognee-memory.d.ts: the TypeScript declarations of the files, the answers and the HTTP interface.

The file holds types only, so it serves ES modules and CommonJS alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from bridge.interface import result_shapes
from bridge.memory import MemoryKind, Status
from jobs.errors import ERRORS
from jobs.kinds import KIND_NAMES
from jobs.payloads import PAYLOADS
from jobs.states import AttemptOutcome, State

from .json_schema import payload_name
from .typescript import TypeScript, comment

Schema = Mapping[str, Any]

# The first state of each group of states whose records have the same fields -> the name and the comment of its type.
_RECORDS = {
    "queued": ("ActiveRecord", "A job that waits or runs."),
    "retrying": ("RetryingRecord", "A job that waits for another attempt; `error` says why."),
    "succeeded": ("SucceededRecord", "A job that has ended well, with its result."),
    "failed": ("FailedRecord", "A job that has ended without success; `error` says why."),
    "cancelled": ("CancelledRecord", "A job that was cancelled."),
    "rejected": ("RejectedRecord", "A file that could not become a job."),
}
_MOST_INLINE = 3  # fields of a request body that has no type of its own

_CAMEL = """\
/** `some_name` as `someName`. */
export type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** A job file may have camelCase names throughout: `Camel<JobFile<"ingest">>`. */
export type Camel<T> = T extends readonly (infer Item)[]
  ? Camel<Item>[]
  : T extends object
    ? { [Name in keyof T as Name extends string ? CamelCase<Name> : Name]: Camel<T[Name]> }
    : T;
"""


def text(schemas: Mapping[str, Schema], api: Schema) -> str:
    """The declarations for the JSON Schemas, by any key, and for the OpenAPI document ``api``."""
    known: dict[str, Any] = dict(api["components"]["schemas"])
    for schema in schemas.values():
        known |= schema.get("$defs", {})
        known[schema["title"]] = schema
    script = TypeScript(
        {
            "Kind": KIND_NAMES,
            "State": get_args(State),
            "AttemptOutcome": get_args(AttemptOutcome),
            "Status": get_args(Status),
            "MemoryType": get_args(MemoryKind),
            "ErrorCode": tuple(ERRORS),
        },
        declared_elsewhere=("ErrorCode",),
    )
    job, record = known.pop("JobFile"), known.pop("JobRecord")
    payloads = "".join(f"  {kind}: {payload_name(kind)};\n" for kind in PAYLOADS)
    results = "".join(f"  {kind}: {model.__name__};\n" for kind, model in result_shapes.RESULTS.items())
    parts = [
        "// Made from the code by `python -m tools.schemas`: do not edit.\n",
        script.names(),
        f"{comment('The payload of each kind.')}export interface Payloads {{\n{payloads}}}\n",
        f"{comment('The result of each kind.')}export interface Results {{\n{results}}}\n",
        *_job(script, job),
        *_record(script, record),
        *_routes(script, api),
        *(script.declaration(name, known[name]) for name in sorted(known)),
        _CAMEL,
    ]
    return "\n".join(parts)


# --- jobs and records ---


def _job(script: TypeScript, job: Schema) -> Iterator[str]:
    own = {name: field for name, field in job["properties"].items() if name not in ("kind", "payload")}
    said = comment("The fields that a job file of any kind has.")
    yield f"{said}export interface JobFields {{\n{script.fields({**job, 'properties': own})}}}\n"
    yield (
        f"{comment('The job file of one kind.')}export interface JobOf<K extends Kind> extends JobFields {{\n"
        "  kind: K;\n  payload: Payloads[K];\n}\n"
    )
    yield (
        f"{comment(job['description'])}"
        "export type JobFile<K extends Kind = Kind> = { [Each in K]: JobOf<Each> }[K];\n"
    )
    said = comment("A job that is sent over HTTP: its id and version may be left out.")
    yield (
        f"{said}export type NewJob<K extends Kind = Kind> = {{\n"
        '  [Each in K]: Omit<JobOf<Each>, "job_id" | "schema_version"> &\n'
        '    Partial<Pick<JobFields, "job_id" | "schema_version">>;\n'
        "}[K];\n"
    )


def _record(script: TypeScript, record: Schema) -> Iterator[str]:
    """A type for each group of states whose records have the same fields, and their union."""
    groups: dict[str, list[str]] = {}
    for state in get_args(State):
        groups.setdefault(json.dumps(_fields_in(record, state), sort_keys=True), []).append(state)
    special = {field for key in groups for field in json.loads(key)} | {"state"}
    common = {name: field for name, field in record["properties"].items() if name not in special}
    said = comment("The fields that a record has in every state.")
    yield f"{said}export interface RecordFields {{\n{script.fields({**record, 'properties': common})}}}\n"
    for key, states in groups.items():
        name, said = _RECORDS[states[0]]
        fields = record["properties"] | json.loads(key) | {"state": {"enum": states}}
        own = {field: schema for field, schema in fields.items() if field in special}
        as_is = {} if own["kind"] == {"type": "null"} else {"kind": "K"}
        if own["result"] == {"type": "object"}:
            as_is["result"] = "Results[K]"
        generic = "<K extends Kind = Kind>" if as_is else ""
        lines = script.fields({"properties": own, "required": list(own)}, as_is)
        yield f"{comment(said)}export interface {name}{generic} extends RecordFields {{\n{lines}}}\n"
    yield (
        f"{comment('How a job has ended: `success` or `state` tells which.')}"
        "export type EndedRecord<K extends Kind = Kind> =\n  | { [Each in K]: SucceededRecord<Each> }[K]\n"
        "  | FailedRecord<K>\n  | CancelledRecord<K>\n  | RejectedRecord;\n"
    )
    yield (
        f"{comment(record['description'])}"
        "export type JobRecord<K extends Kind = Kind> = ActiveRecord<K> | RetryingRecord<K> | EndedRecord<K>;\n"
    )


def _fields_in(record: Schema, state: str) -> dict[str, Any]:
    """The fields that the schema's conditions give to a record in this state."""
    fields: dict[str, Any] = {}
    for condition in record["allOf"]:
        given = condition["if"]["properties"]
        if list(given) == ["state"] and state in given["state"].get("enum", [given["state"].get("const")]):
            fields |= condition["then"]["properties"]
    return fields


# --- the HTTP interface ---


def _routes(script: TypeScript, api: Schema) -> Iterator[str]:
    """The type of each large request body, then ``Routes``."""
    lines = []
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            answer = _answer(operation)
            if answer is None:
                continue
            body = _body(operation)
            type_name = f"{operation['operationId'].capitalize()}Request"
            is_named = body is not None and len(body.get("properties", ())) > _MOST_INLINE
            if body is not None and is_named:
                yield script.declaration(type_name, body | {"description": f"The body of `{method.upper()} {path}`."})
            lines.append(comment(f"{operation['summary']}.", "  "))
            lines.append(f'  "{method.upper()} {path}": {{\n')
            for place in ("path", "query"):
                if fields := {each["name"]: each for each in operation.get("parameters", ()) if each["in"] == place}:
                    lines.append(f"    {place}{'' if place == 'path' else '?'}: {_inline(script, fields)};\n")
            if body is not None:
                written = type_name if is_named else script.type_of(body)
                if body.get("title") == "NewJob":
                    written = "NewJob"
                lines.append(f"    body: {written};\n")
            lines.append(f"    answer: {script.type_of(answer)};\n")
            lines.append(f"    failure: {script.type_of(_failure(operation))};\n  }};\n")
    said = comment("What each route of a worker's HTTP interface takes and answers. Text and pages are left out.")
    yield f"{said}export interface Routes {{\n{''.join(lines)}}}\n"


def _inline(script: TypeScript, parameters: Mapping[str, Schema]) -> str:
    required = [name for name, each in parameters.items() if each["required"]]
    properties = {name: each["schema"] for name, each in parameters.items()}
    return script.type_of({"type": "object", "properties": properties, "required": required})


def _answer(operation: Schema) -> Schema | None:
    """The schema of the JSON of a good answer."""
    good = next(each for status, each in operation["responses"].items() if status.startswith("2"))
    found: Schema | None = good.get("content", {}).get("application/json", {}).get("schema")
    return found


def _failure(operation: Schema) -> Schema:
    """The schema of the JSON of an error: the operation's own, or the common one."""
    own = operation["responses"]["400"].get("content", {}).get("application/json", {}).get("schema")
    return own or {"$ref": "Refusal"}


def _body(operation: Schema) -> dict[str, Any] | None:
    """The schema of the request's JSON as a program writes it: numbers as numbers, and nothing that is only tolerated.

    The document also describes what the server takes from a command line, such as numbers as text.
    """
    content = operation.get("requestBody", {}).get("content", {})
    if not content:
        return None
    schema: dict[str, Any] = dict(content["application/json"]["schema"])
    if "properties" in schema:
        schema["properties"] = {name: _plain(field) for name, field in schema["properties"].items()}
    for branch in schema.pop("anyOf", ()):  # one of several fields is required: each branch has the type of its own
        for name, field in branch["properties"].items():
            said = schema["properties"][name].get("description")
            schema["properties"][name] = _items(field) | ({"description": said} if said else {})
    return schema


def _plain(field: Schema) -> Schema:
    """The schema without the text in place of a number or a flag, and without null, which means absent."""
    branches = field.get("anyOf")
    if branches is None:
        values = field.get("enum")
        return field if values is None else {**field, "enum": [each for each in values if each is not None]}
    kinds = [branch for branch in branches if branch.get("type") in ("integer", "number", "boolean")]
    kept = kinds or [branch for branch in branches if branch != {"type": "null"}]
    return {**field, "anyOf": kept}


def _items(field: Schema) -> dict[str, Any]:
    """The schema with what an array has to contain as its items."""
    return {**field, "items": field["contains"]} if "contains" in field else dict(field)
