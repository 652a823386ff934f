"""The alert rules, the dashboard and the scrape configuration: of a right form, and of figures that there are."""

import json
from collections.abc import Iterator
from typing import Any

import promql_parser
import pytest
from jsonschema import Draft202012Validator
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML
from starlette.testclient import TestClient

from records.database.engine import Database
from tests.app.conftest import bearer, sqlite, sqlite_client, sqlite_database
from tests.deployment.files import ROOT

__all__ = ["sqlite", "sqlite_client", "sqlite_database"]

FOLDER = ROOT / "deployment"
_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_DURATION = {"type": "string", "pattern": "^[0-9]+[smhdw]$"}
RULES = {
    "type": "object",
    "required": ["groups"],
    "additionalProperties": False,
    "properties": {
        "groups": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name", "rules"],
                "additionalProperties": False,
                "properties": {
                    "name": _TEXT,
                    "interval": _DURATION,
                    "rules": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "required": ["alert", "expr", "labels", "annotations"],
                            "additionalProperties": False,
                            "properties": {
                                "alert": _TEXT,
                                "expr": _TEXT,
                                "for": _DURATION,
                                "labels": _TEXTS,
                                "annotations": _TEXTS | {"required": ["summary"]},
                            },
                        },
                    },
                },
            },
        }
    },
}
PANEL = {
    "type": "object",
    "required": ["id", "title", "type", "datasource", "gridPos", "targets"],
    "properties": {
        "id": {"type": "integer"},
        "gridPos": {"type": "object", "required": ["h", "w", "x", "y"], "additionalProperties": {"type": "integer"}},
        "targets": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["refId", "expr"]}},
    },
}
DASHBOARD = {
    "type": "object",
    "required": ["title", "uid", "schemaVersion", "panels", "time", "templating"],
    "properties": {"title": _TEXT, "schemaVersion": {"type": "integer"}, "panels": {"type": "array", "items": PANEL}},
}
OF_PROMETHEUS = {"up"}


def read(name: str) -> Any:
    """Return a file of YAML or JSON."""
    path = FOLDER / name
    return json.loads(path.read_text()) if path.suffix == ".json" else YAML(typ="safe", pure=True).load(path)


def expressions() -> list[str]:
    """Return every expression of the rules and of the dashboard."""
    rules = [rule["expr"] for group in read("prometheus/alerts.yml")["groups"] for rule in group["rules"]]
    return rules + [target["expr"] for panel in read("grafana/freshet.json")["panels"] for target in panel["targets"]]


def names(expression: Any) -> Iterator[str]:
    """Yield the names of the series that a parsed expression asks for."""
    match expression:
        case promql_parser.VectorSelector():
            assert expression.name is not None
            yield expression.name
        case promql_parser.MatrixSelector():
            yield from names(expression.vector_selector)
        case promql_parser.BinaryExpr():
            yield from names(expression.lhs)
            yield from names(expression.rhs)
        case promql_parser.AggregateExpr() | promql_parser.ParenExpr():
            yield from names(expression.expr)
        case promql_parser.Call():
            for argument in expression.args:
                yield from names(argument)
        case _:
            assert isinstance(expression, promql_parser.NumberLiteral)


@pytest.mark.parametrize(("name", "schema"), [("prometheus/alerts.yml", RULES), ("grafana/freshet.json", DASHBOARD)])
def test_a_file_has_the_form_that_its_program_reads(name: str, schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(read(name))


def test_no_alert_and_no_panel_is_there_twice() -> None:
    alerts = [rule["alert"] for group in read("prometheus/alerts.yml")["groups"] for rule in group["rules"]]
    panels = [panel["id"] for panel in read("grafana/freshet.json")["panels"]]
    assert len(alerts) == len(set(alerts))
    assert len(panels) == len(set(panels))


def test_every_expression_parses_and_asks_for_figures_that_the_service_gives(
    sqlite_client: TestClient, sqlite_database: Database
) -> None:
    (scrape,) = read("prometheus/scrape.yml")
    answer = sqlite_client.get(scrape["metrics_path"], headers=bearer(sqlite_database))
    shown = {family.name: family.type for family in text_string_to_metric_families(answer.text)}
    series = {
        name + suffix
        for name, kind in shown.items()
        for suffix in (("_bucket", "_count", "_sum") if kind == "histogram" else ("",))
    }
    asked = {name for expression in expressions() for name in names(promql_parser.parse(expression))}
    assert asked <= series | OF_PROMETHEUS
    assert {name for name in series if not name.endswith(("_info", "_sum", "_t0_seconds"))} <= asked
