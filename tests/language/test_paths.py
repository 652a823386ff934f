"""Paths in the documentation lead to files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "app|benchmarks|freshet|hydrology|ingestion|jobspec|migrations|models|operations|records|runtime|tests|workers"
)
PATH = re.compile(rf"`((?:{PACKAGES}|testing|docs)/[\w./-]+)(?:::\w+)?`")
PLACEHOLDER = re.compile("NAME|ROOM")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_path_on_a_page_exists(page: Path) -> None:
    paths = [path for path in PATH.findall(page.read_text("utf-8")) if not PLACEHOLDER.search(path)]
    assert [path for path in paths if not (ROOT / path).exists()] == []
