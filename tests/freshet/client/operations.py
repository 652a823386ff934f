"""Writes the client's methods from an OpenAPI document.

By hand, as no maintained generator writes what client programmers want: one method an operation with models of
pydantic, lists read page after page, and files as bytes.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Json = Mapping[str, Any]

HEADER = '''"""The operations of the API, generated from its OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, overload

from freshet_client import models
from freshet_client.connection import BaseClient, Request, path_of


class Operations(BaseClient):
    """A method for each operation of the API, named by its operationId."""
'''
JSON, STREAM = "application/json", "text/event-stream"
LEFT_OUT = ("fields", "if-none-match", "if-range")
"""Parameters that make an answer something else than its type: a part of it, or nothing as the reader holds a copy."""
OF_A_PAGE = ("after", "limit")
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
FORMATS = {"date": "date", "date-time": "datetime"}
BYTES = "return self._content(request)"
WIDTH = 108


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a method.

    Attributes:
        parameter: its name in the API.
        place: `path`, `query`, `header` or `body`.
        default: as written in Python; None where it is required.
    """

    name: str
    parameter: str
    place: str
    type: str
    default: str | None
    description: str

    @property
    def declared(self) -> str:
        """The argument in a signature."""
        return f"{self.name}: {self.type}" + ("" if self.default is None else f" = {self.default}")


Arguments = Sequence[Argument]


def operations_module(document: Json) -> str:
    """Return the source of the module with the client's methods."""
    return HEADER + "".join(f"\n{textwrap.indent(method, '    ')}" for method in _methods(document))


def _methods(document: Json) -> Iterator[str]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            content = next(one.get("content", {}) for code, one in operation["responses"].items() if code < "300")
            if STREAM not in content:
                yield _method(document["components"]["schemas"], f'"{method.upper()}", {{}}', path, operation, content)


def _method(schemas: Json, verb: str, path: str, operation: Json, content: Json) -> str:
    """Return the source of a method; with overloads where the answer's type depends on the format."""
    parameters = [_argument(one) for one in operation.get("parameters", ()) if one["name"].lower() not in LEFT_OUT]
    arguments = [*parameters, *_body(operation)]
    names, model = {one.name for one in parameters}, _model(content.get(JSON, {}).get("schema", {}))
    fields = schemas[model]["properties"] if model else {}
    read = arguments
    if model is None:
        returned, statement = ("bytes", BYTES) if content else ("None", "self._content(request)")
    elif "next" in fields and "after" in names:
        items, item = next((name, one["items"]) for name, one in fields.items() if one.get("type") == "array")
        returned, statement = f"Iterator[{_type(item)}]", f'return self._items(models.{model}, "{items}", request)'
        read = [one for one in arguments if one.name not in OF_A_PAGE]
    else:
        returned, statement = f"models.{model}", f"return self._answer(models.{model}, request)"
    if model is None or "format" not in names:
        return _definition(operation, read, returned, _lines(operation, verb, path, read), statement)
    in_json = [replace(one, type='Literal["json"]') if one.name == "format" else one for one in read]
    as_file = [
        replace(one, type=one.type.replace("'json', ", ""), default=None) if one.name == "format" else one
        for one in arguments
    ]
    lines = _lines(operation, verb, path, arguments)
    return "\n".join(
        (
            f"@overload\n{_definition(operation, in_json, returned, '...')}",
            f"@overload\n{_definition(operation, as_file, 'bytes', '...')}",
            _definition(operation, arguments, "Any", lines, f'if format != "json":\n    {BYTES}', statement),
        )
    )


def _type(schema: Json) -> str:
    """Return the Python type of a value that is sent."""
    if "$ref" in schema:
        return f"models.{schema['$ref'].rpartition('/')[2]}"
    if values := schema.get("enum") or [schema[name] for name in ("const",) if name in schema]:
        return f"Literal[{', '.join(map(repr, values))}]"
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(map(_type, choices)))
    if schema.get("type") == "array":
        return f"Sequence[{_type(schema['items'])}]"
    return FORMATS.get(schema.get("format", "")) or TYPES.get(schema.get("type", ""), "Any")


def _model(schema: Json) -> str | None:
    """Return the model of an answer; of a list with chosen fields, that of the whole list."""
    reference = schema.get("$ref") or next((one["$ref"] for one in schema.get("anyOf", ()) if "$ref" in one), None)
    return reference and reference.rpartition("/")[2]


def _argument(parameter: Json) -> Argument:
    kind, default = _type(parameter["schema"]), None if parameter.get("required") else "None"
    name = re.sub(r"\W", "_", parameter["name"]).lower()
    if name == "format":
        default = '"json"'
    elif default and "None" not in kind.split(" | "):
        kind = f"{kind} | None"
    return Argument(name, parameter["name"], parameter["in"], kind, default, parameter.get("description", ""))


def _body(operation: Json) -> Iterator[Argument]:
    content = operation.get("requestBody", {}).get("content", {})
    if [*content] == [JSON]:
        kind = f"{_type(content[JSON]['schema'])} | Mapping[str, Any]"
        yield Argument("body", "", "body", kind, None, "The fields of the request.")
    elif content:
        media = ", ".join(map(repr, content))
        yield Argument("content", "", "body", "bytes", None, "The file.")
        yield Argument("media_type", "Content-Type", "header", f"Literal[{media}]", None, "The format of the file.")


def _definition(operation: Json, arguments: Arguments, returned: str, *lines: str) -> str:
    first = [one.declared for one in arguments if one.place in ("path", "body")]
    rest = [one.declared for one in arguments if one.place not in ("path", "body")]
    signature = ", ".join(["self", *first, *(["*"] if rest else []), *rest])
    return (
        f"def {operation['operationId']}({signature}) -> {returned}:\n"
        + textwrap.indent("\n".join(lines), "    ")
        + "\n"
    )


def _lines(operation: Json, verb: str, path: str, arguments: Arguments) -> str:
    """Return the docstring of a method, and its request."""
    ids = "".join(f", {one.name}={one.name}" for one in arguments if one.place == "path")
    parts = [verb.format(f'path_of("{path}"{ids})' if ids else f'"{path}"')]
    for place, keyword in (("query", "query"), ("header", "headers")):
        if pairs := ", ".join(f'"{one.parameter}": {one.name}' for one in arguments if one.place == place):
            parts.append(f"{keyword}={{{pairs}}}")
    parts += [f"body={one.name}" for one in arguments if one.place == "body"]
    return f"{_docstring(operation, arguments)}\nrequest = Request({', '.join(parts)})"


def _docstring(operation: Json, arguments: Arguments) -> str:
    described = [f"    {one.name}: {one.description}" for one in arguments if one.description]
    paragraphs = [f"{operation['summary']}.", *operation.get("description", "").split("\n\n")]
    paragraphs += ["Args:"] if described else []
    text = "\n\n".join(textwrap.fill(one, WIDTH) for one in paragraphs if one)
    wrapped = [textwrap.fill(one, WIDTH, subsequent_indent=" " * 8) for one in described]
    whole = "\n".join([text, *wrapped])
    return f'{"r" if chr(92) in whole else ""}"""{whole}' + ("\n" if "\n" in whole else "") + '"""'
