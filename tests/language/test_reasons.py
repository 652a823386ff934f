"""Reasons of missing values are `Absent` throughout the product, and calls are readable."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from hydrology.base.reasons import Reason

ROOT = Path(__file__).parents[2]
PACKAGES = "hydrology jobspec runtime records ingestion models operations workers app freshet extensions"
CATALOGUE = "hydrology/base/reasons.py"
TEXT_CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "hydrology/base/calendar.py": "a day is given as text or as a date",
        "hydrology/base/outline.py": "a file of outlines holds any JSON",
        "jobspec/fields.py": "a request holds any JSON, and a fault's place is a name or a number",
        "runtime/settings.py": "an environment variable is text",
        "records/job_permissions/permissions.py": "a parameter names one basin or several",
        "extensions/usgs/flow.py": "a service answers with any JSON",
        "ingestion/feeds/http.py": "a service answers with any JSON",
        "extensions/usgs/pages.py": "a service answers with any JSON",
        "extensions/usgs/gauges.py": "a service answers with any JSON",
        "ingestion/daily.py": "a fault has one cause, or one for each row",
        "ingestion/sheet.py": "a cell of a sheet holds text or a number",
        "ingestion/weather_files.py": "an attribute of a file holds text or numbers",
        "app/http/dependencies.py": "a parameter of a request may have been given as text",
        "app/pages/render.py": "a page shows texts among other values, and days of sentences are of texts alone",
        "app/http/shown.py": "a period is stored as text, and read again as an object",
    }
)
"""Files that distinguish text from other values, with the reason."""
MAX_POSITIONAL = 6
VARIADIC = {
    "admins_alone",
    "as_values",
    "entity_tag",
    "narrowed",
    "one_of",
    "partial",
    "save_for_backward",
    "select",
    "stored",
    "where",
}
"""Functions that take any number of arguments of one kind."""


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Return every node of the product's modules, with its file."""
    paths = [path for package in PACKAGES.split() for path in sorted((ROOT / package).rglob("*.py"))]
    return [(str(path.relative_to(ROOT)), node) for path in paths for node in ast.walk(ast.parse(path.read_text()))]


def calls() -> Iterator[tuple[str, ast.Call]]:
    return ((file, node) for file, node in nodes() if isinstance(node, ast.Call))


def called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


@cache
def text_checks() -> dict[str, str]:
    """Return a check for text of each file that has one."""
    return {
        file: f"{file}:{call.lineno}: {ast.unparse(call)}"
        for file, call in calls()
        if called(call) == "isinstance"
        and any(isinstance(node, ast.Name) and node.id == "str" for node in ast.walk(call.args[1]))
    }


def used_reasons() -> set[str]:
    return {
        node.attr
        for file, node in nodes()
        if file != CATALOGUE
        and isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Reason"
    }


def test_every_reason_is_used() -> None:
    assert {reason.name for reason in Reason} - used_reasons() == set()


def test_no_text_stands_for_a_missing_value() -> None:
    assert [check for file, check in text_checks().items() if file not in TEXT_CHECKS] == []


def test_every_exception_is_needed() -> None:
    assert TEXT_CHECKS.keys() - text_checks().keys() == set()


def test_no_call_has_many_positional_arguments() -> None:
    found = [
        f"{file}:{call.lineno}: {called(call)}"
        for file, call in calls()
        if len(call.args) > MAX_POSITIONAL and called(call) not in VARIADIC
    ]
    assert found == []
