"""The form of a request model: labelled fields, in groups where models are nested. None is entered as JSON."""

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Literal

from pydantic import BaseModel

Entry = Literal["text", "lines", "number", "boolean", "choice", "list", "rows", "pairs", "group", "variants"]
"""Kind of input of a field. `lines`: a text of several. `list`: values with commas between; `rows`: such lists with
semicolons between; `pairs`: a name and a text each. `group`: fields of its own; `variants`: a choice of groups."""
_ENTRIES: Mapping[str, Entry] = {"integer": "number", "number": "number", "boolean": "boolean", "object": "pairs"}
_LONG = 2000
"""Longest text that is entered on one line, in characters."""
_LABELS = {
    "url": "Address of a receiver's program",
    "email": "Address of mail",
    "least_severity": "From severity",
    "digest": "Once a day",
    "at": "Time of the day",
    "timezone": "Time zone",
    "template": "Own message text",
    "t0": "T0, the last day of the state",
    "horizon": "Days ahead",
    "every": "Days between forecasts",
    "latency_days": "Days until data are known",
    "from": "Folders or addresses to read from",
    "weather_id": "Which weather forecast",
    "judge_on": "Days to judge on",
    "discharge": "Flow",
    "impact": "What happens from it on",
    "instruction": "What to do then",
}
"""Labels of fields whose name does not serve as one."""


def form_of(model: type[BaseModel], **chosen: str) -> list[SimpleNamespace]:
    """Return the form fields of a request model, `chosen` ones with another value; unchanged ones are not sent."""
    schema = model.model_json_schema(by_alias=True)
    fields = _fields(schema, schema.get("$defs", {}))
    for field in fields:
        field.value = chosen.get(field.name, field.default)
    return fields


def _fields(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], tag: str | None = None, *, optional: bool = False
) -> list[SimpleNamespace]:
    """Return the fields of an object but its `tag`; those of an `optional` one need not be filled in."""
    required = schema.get("required", ())
    return [
        _field(name, _resolved(field, definitions), definitions, name in required, optional)
        for name, field in schema.get("properties", {}).items()
        if name != tag and ("const" not in field or name in required)
    ]


def _field(
    name: str, field: Mapping[str, Any], definitions: Mapping[str, Any], required: bool, optional: bool
) -> SimpleNamespace:
    entry, default, needed = _entry(field), field.get("default"), required and not optional
    label = _LABELS.get(name, name.replace("_", " ").capitalize())
    shown = SimpleNamespace(
        name=name,
        label=f"{label} (needed with the others)" if required and optional else label,
        entry=entry,
        help=field.get("description", ""),
        required=needed,
        default=_written(default),
        choices=[str(choice) for choice in field.get("enum", [field.get("const")])],
        has_numbers=_has_numbers(field),
    )
    shown.value = shown.default
    if entry == "group":
        shown.fields = _fields(field, definitions, optional=not needed)
    elif entry == "variants":
        options = [_resolved(option, definitions) for option in field["oneOf"]]
        shown.tag = next((name for name, of in options[0]["properties"].items() if "const" in of), None)
        shown.variants = [_variant(option, definitions, shown.tag, optional=not needed) for option in options]
        shown.value = (default or {}).get(shown.tag, shown.variants[0].value)
    return shown


def _variant(
    option: Mapping[str, Any], definitions: Mapping[str, Any], tag: str | None, *, optional: bool
) -> SimpleNamespace:
    title = re.sub("(?<=[a-z])(?=[A-Z])", " ", option["title"]).capitalize()
    return SimpleNamespace(
        value=option["properties"][tag]["const"] if tag else title,
        help=option.get("description", ""),
        fields=_fields(option, definitions, tag, optional=optional),
    )


def _entry(field: Mapping[str, Any]) -> Entry:
    if "oneOf" in field:
        return "variants"
    if "properties" in field:
        return "group"
    if "enum" in field or "const" in field:
        return "choice"
    if field.get("type") == "array":
        return "rows" if field.get("items", {}).get("type") == "array" else "list"
    is_long = field.get("maxLength", 0) > _LONG and "pattern" not in field
    return "lines" if is_long else _ENTRIES.get(field.get("type", ""), "text")


def _has_numbers(field: Mapping[str, Any]) -> bool:
    """Return whether a list, or the lists of a list, have numbers."""
    items = field.get("items", {})
    inner = items.get("prefixItems", [items.get("items", items)])
    return all(one.get("type") in ("integer", "number") for one in inner)


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
        case bool():
            return "true" if default else ""
        case [[*_], *_]:
            return "; ".join(map(_written, default))
        case [*parts]:
            return ", ".join(str(part) for part in parts)
        case None | dict():
            return ""
    return str(default)
