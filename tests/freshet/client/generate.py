"""Writes what the client has from the OpenAPI document, its models and methods: `make client`."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from datamodel_code_generator.__main__ import Exit, main

from tests.freshet.client.operations import operations_module
from tests.openapi import document

FOLDER = Path(__file__).parents[3] / "client" / "freshet_client"
MODELS, OPERATIONS = FOLDER / "models.py", FOLDER / "operations.py"
OPTIONS = (
    *(
        "--input-file-type",
        "openapi",
        "--output-model-type",
        "pydantic_v2.BaseModel",
        "--target-python-version",
        "3.11",
    ),
    *("--base-class", "freshet_client.model_base.Model", "--enum-field-as-literal", "all", "--strict-nullable"),
    *("--use-standard-collections", "--use-union-operator", "--use-one-literal-as-default", "--collapse-root-models"),
    *("--use-schema-description", "--use-field-description", "--use-inline-field-description"),
    *("--custom-file-header", '"""The models of the API, generated from its OpenAPI document."""'),
    *("--use-annotated", "--disable-timestamp", "--formatters", "builtin"),
)
OF_THE_SERVICE = {
    *("examples", "title", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems", "maxProperties", "propertyNames"),
}
"""Keywords that the client leaves to the service, which refuses a value with a sentence of its own."""
_SHORT_TEXT = re.compile(r'"""\n +(.{1,100})\n +"""\n')


def generated() -> dict[Path, str]:
    """Return the source of each generated module."""
    sources = {MODELS: _models_module(document()), OPERATIONS: operations_module(document())}
    return {path: _formatted(source) for path, source in sources.items()}


def _models_module(document: dict[str, Any]) -> str:
    plain = document | {"paths": {}, "components": {"schemas": _plain(document["components"]["schemas"], names=True)}}
    with tempfile.TemporaryDirectory() as folder:
        given, written = Path(folder, "openapi.json"), Path(folder, "models.py")
        given.write_text(json.dumps(plain), "utf-8")
        assert main(["--input", str(given), "--output", str(written), *OPTIONS]) == Exit.OK
        return _SHORT_TEXT.sub(r'"""\1"""\n', written.read_text("utf-8"))


def _plain(schema: Any, *, names: bool = False) -> Any:
    """Return a schema as the client's types need it.

    Args:
        names: whether its keys are names and not keywords.
    """
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: _plain(value, names=key == "properties" and not names)
        for key, value in schema.items()
        if names or key not in OF_THE_SERVICE
    }
    if not names and (values := plain.pop("patternProperties", None)):
        (plain["additionalProperties"],) = values.values()
    if not names and plain.get("additionalProperties") is False:  # as of every model
        del plain["additionalProperties"]
    return plain


def _formatted(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "generated.py", "-"]
    return subprocess.run(command, input=source, capture_output=True, check=True, text=True).stdout


if __name__ == "__main__":
    for path, source in generated().items():
        path.write_text(source, "utf-8")
