"""docs/look-up/security.md names tests: each of them exists."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "look-up" / "security.md").read_text()
NAMED = re.findall(r"`((?:client/)?tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_the_page_names_tests() -> None:
    section = PAGE.partition("## Threats")[2].partition("\n## ")[0]
    _, *threats = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(threats) > 10
    assert [row for row in threats if "tests/" not in row] == []


def test_every_named_test_exists() -> None:
    defined = {
        (file, node.name)
        for file in {file for file, _ in NAMED}
        for node in ast.parse((ROOT / file).read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    assert set(NAMED) - defined == set()
