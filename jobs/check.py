"""Validates input against a pydantic model and reports the first wrong field in one sentence.

The models are in ``payloads``; ``parse`` and the readers of other input call ``check``.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from .errors import JobError
from .payloads import Model
from .spelling import did_you_mean


def check(model: type[Model], data: Any, where: str = "") -> Model:
    """``data`` as an instance of the model; ``where`` is the path of ``data`` in the whole input, for messages.

    Raises JobError: JOB_INVALID. Its message names the first wrong field and what to write instead;
    ``details["fields"]`` lists up to 20 paths.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # Unknown names come first: a misspelt name explains a missing one. Then the deepest path, which is the
        # most precise one where a union reports an error for each branch.
        errors = sorted(error.errors(), key=lambda e: (e["type"] != "extra_forbidden", -len(e["loc"])))
        raise JobError(
            "JOB_INVALID",
            _cut(_explain(model, errors[0], data, where)),
            details={"fields": list(dict.fromkeys(_path(where, item["loc"], data) for item in errors[:20]))},
        ) from None


def _path(where: str, location: tuple[int | str, ...], data: Any) -> str:
    """The path of an error in the input, such as ``payload.decisions[2]``.

    Skips the labels that pydantic adds to a location for the branches of a union.
    """
    path, value = where, data
    for index, part in enumerate(location):
        if isinstance(value, list) and isinstance(part, int) and part < len(value):
            path, value = f"{path}[{part}]", value[part]
        elif isinstance(value, dict):
            name = part if part in value else to_camel(str(part))
            if name not in value and index < len(location) - 1:
                continue
            path, value = (f"{path}." if path else "") + _printable(str(part)), value.get(name)
    return path


def _printable(name: str) -> str:
    """A name from the input, shortened, with control and bidirectional characters escaped."""
    name = name if len(name) <= 64 else f"{name[:63]}…"
    return name if name.isprintable() else repr(name)[1:-1]


def _cut(sentence: str) -> str:
    """At most 400 characters: a validator may quote its input, which may be a megabyte long."""
    return sentence if len(sentence) <= 400 else f"{sentence[:399]}…"


def _explain(model: type[Model], first: ErrorDetails, data: Any, where: str) -> str:
    path = _path(where, first["loc"], data) or "the job"
    match first["type"]:
        case "missing":
            return f"The field {path} is missing."
        case "extra_forbidden":
            name = str(first["loc"][-1])
            hint = did_you_mean(name, _names_at(model, first["loc"][:-1]), cutoff=0.5)
            return f"The field {path} is not known.{hint}"
        case "value_error":
            return f"The field {path}: {first['ctx']['error'] if 'ctx' in first else first['msg']}."
        case _:
            return f"The field {path}: {first['msg'][0].lower()}{first['msg'][1:]}."


def _names_at(model: type[Model], location: tuple[int | str, ...]) -> list[str]:
    """The field names of the model, or of the nested model at a location."""
    at_location: type[Model] = model
    for part in location:
        field = at_location.model_fields.get(str(part))
        if field is None:
            continue
        nested = [t for t in _types(field.annotation) if isinstance(t, type) and issubclass(t, Model)]
        if nested:
            at_location = nested[0]
    return list(at_location.model_fields)


def _types(annotation: Any) -> list[Any]:
    """An annotation and all types nested in its arguments."""
    arguments: list[Any] = list(getattr(annotation, "__args__", ()))
    return [annotation, *(kind for argument in arguments for kind in _types(argument))]
