"""Checking input against a model, and saying in a sentence which field is wrong and what to write instead."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from .errors import JobError
from .payloads import Model
from .spelling import did_you_mean


def check(model: type[Model], data: Any, where: str = "") -> Model:
    """``data`` as the model, or JOB_INVALID naming the first wrong field and what to write instead."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # A misspelt name explains a missing one, and the deepest place is nearest to the mistake.
        found = sorted(error.errors(), key=lambda e: (e["type"] != "extra_forbidden", -len(e["loc"])))
        raise JobError(
            "JOB_INVALID",
            _cut(_explain(model, found[0], data, where)),
            details={"fields": list(dict.fromkeys(_path(where, item["loc"], data) for item in found[:20]))},
        ) from None


def _path(where: str, location: tuple[int | str, ...], data: Any) -> str:
    """The place in the input. Labels that pydantic adds for a union's branches are not in the input."""
    path, here = where, data
    for place, part in enumerate(location):
        if isinstance(here, list) and isinstance(part, int) and part < len(here):
            path, here = f"{path}[{part}]", here[part]
        elif isinstance(here, dict):
            name = part if part in here else to_camel(str(part))
            if name not in here and place < len(location) - 1:
                continue
            path, here = (f"{path}." if path else "") + _short(str(part)), here.get(name)
    return path


def _short(name: str) -> str:
    """A name of the input, fit to be shown: no control characters, no marks that turn a line's direction around."""
    name = name if len(name) <= 64 else f"{name[:63]}…"
    return name if name.isprintable() else repr(name)[1:-1]


def _cut(sentence: str) -> str:
    """A validator may quote what it was given, and that may be a megabyte."""
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
    """The known names of the (sub)model at a place."""
    found: type[Model] = model
    for part in location:
        field = found.model_fields.get(str(part))
        if field is None:
            continue
        nested = [t for t in _types(field.annotation) if isinstance(t, type) and issubclass(t, Model)]
        if nested:
            found = nested[0]
    return list(found.model_fields)


def _types(annotation: Any) -> list[Any]:
    arguments: list[Any] = list(getattr(annotation, "__args__", ()))
    return [annotation, *(kind for argument in arguments for kind in _types(argument))]
