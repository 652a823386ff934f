"""The pages of docs/, and the commands that stand on them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted((*DOCS.rglob("*.md"), *(ROOT / "extensions").rglob("*.md")))


def blocks(page: Path) -> list[str]:
    """Return the blocks of commands of a page."""
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """Return the `freshet` commands of a page, wherever they stand as code, each on one line."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    fenced = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in fenced for line in block.splitlines()] + re.findall(r"^ {4}(freshet .*)$", text, re.M)
    calls = [re.search(r"(?<![\w/])freshet [a-z].*", line) for line in lines]
    return [call[0] for call in calls if call]
