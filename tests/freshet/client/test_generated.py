"""The client's generated modules are of this service, and other generators read its document whole."""

import ast
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from datamodel_code_generator.__main__ import Exit, main
from openapi_python_client.config import Config, ConfigFile, MetaType
from openapi_python_client.parser import GeneratorData
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.freshet.client.generate import generated

pytestmark = pytest.mark.extended
FILES = (
    "application/atom+xml",
    "application/cap+xml",
    "application/x-netcdf",
    "image/png",
    "image/svg+xml",
    "text/csv",
)
"""Media types that openapi-python-client does not know: bytes to it."""


@pytest.fixture(scope="module")
def served(address: str) -> Any:
    """The document as a service sends it, with its own basins and runs as examples."""
    return httpx2.get(f"{address}/openapi.json", timeout=60).json()


def test_the_generated_modules_are_of_this_document() -> None:
    for path, source in generated().items():
        assert path.read_text("utf-8") == source, "run: make client"


def test_the_document_is_valid(served: Any) -> None:
    assert [fault.message for fault in OpenAPIV31SpecValidator(served).iter_errors()] == []


def test_openapi_python_client_reads_every_operation_and_schema(served: Any) -> None:
    overrides = dict.fromkeys(FILES, "application/octet-stream")
    config = Config.from_sources(
        ConfigFile(content_type_overrides=overrides), MetaType.NONE, Path(), "utf-8", overwrite=False, output_path=None
    )
    found = GeneratorData.from_dict(served, config=config)
    assert isinstance(found, GeneratorData), found
    faults = [*found.errors, *(one for tag in found.endpoint_collections_by_tag.values() for one in tag.parse_errors)]
    assert [f"{one.header}: {one.detail}" for one in faults] == []
    assert {str(model.class_info.name) for model in found.models} >= {"BasinForecast", "TrainingConfig", "Job"}


def test_datamodel_code_generator_writes_every_schema(
    served: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(served))
    options = ("--output-model-type", "pydantic_v2.BaseModel", "--use-annotated", "--formatters", "builtin")
    files = ("--input", str(tmp_path / "openapi.json"), "--output", str(tmp_path / "models.py"))
    assert main([*files, "--input-file-type", "openapi", *options]) == Exit.OK
    assert capsys.readouterr() == ("", "")
    source = (tmp_path / "models.py").read_text()
    classes = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)}
    assert served["components"]["schemas"].keys() - classes == set()
