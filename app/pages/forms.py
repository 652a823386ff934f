"""Forms built from request models: fields, defaults and help texts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

Entry = Literal["text", "number", "boolean", "choice", "list", "json"]
"""Kind of input of a field. `list`: texts with commas between. `json`: anything else."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form; unchanged fields are not sent."""

    name: str
    entry: Entry
    help: str
    required: bool
    default: str
    choices: list[str]


def form_of(model: type[BaseModel]) -> list[FormField]:
    """Return the form fields of a request model."""
    schema = model.model_json_schema(by_alias=True)
    required = schema.get("required", ())
    return [
        _field(name, _resolved(field, schema.get("$defs", {})), name in required)
        for name, field in schema.get("properties", {}).items()
    ]


def _field(name: str, field: Mapping[str, Any], required: bool) -> FormField:
    choices = [str(choice) for choice in field.get("enum", ())]
    return FormField(
        name=name,
        entry="choice" if choices else _entry(field),
        help=field.get("description", ""),
        required=required,
        default=_written(field.get("default")),
        choices=choices,
    )


def _entry(field: Mapping[str, Any]) -> Entry:
    match field.get("type"):
        case "integer" | "number":
            return "number"
        case "boolean":
            return "boolean"
        case "string":
            return "text"
        case "array" if field.get("items", {}).get("type") == "string":
            return "list"
    return "json"


def _resolved(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a field's schema without references and without null."""
    options = [option for option in field.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        field = {**field, **options[0]}
    if "$ref" in field:
        field = {**definitions[field["$ref"].rpartition("/")[2]], **field}
    if "$ref" in field.get("items", {}):
        field = {**field, "items": definitions[field["items"]["$ref"].rpartition("/")[2]]}
    return dict(field)


def _written(default: Any) -> str:
    match default:
        case None | [] | {}:
            return ""
        case bool():
            return "true" if default else ""
        case list() if all(isinstance(part, str) for part in default):
            return ", ".join(default)
        case dict() | list():
            return json.dumps(default)
    return str(default)
