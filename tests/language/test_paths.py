"""Paths in the documentation lead to files."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "app|benchmarks|extensions|freshet|hydrology|ingestion|jobspec|migrations|models|operations|records|runtime|tests|"
    "workers"
)
PATH = re.compile(rf"`((?:{PACKAGES}|testing|docs)/[\w./-]+)(?:::\w+)?`")
PLACEHOLDER = re.compile("NAME|ROOM")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "extensions").rglob("*.md")]


def test_every_path_on_a_page_exists() -> None:
    paths = [(page.stem, path) for page in PAGES for path in PATH.findall(page.read_text("utf-8"))]
    assert [(page, path) for page, path in paths if not PLACEHOLDER.search(path) and not (ROOT / path).exists()] == []
