"""docs/look-up/security.md names tests: each of them exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "look-up" / "security.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_the_page_names_tests() -> None:
    section = PAGE.partition("## Threats")[2].partition("\n## ")[0]
    _, *threats = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(threats) > 10
    assert [row for row in threats if "`tests/" not in row] == []


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_named_test_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
