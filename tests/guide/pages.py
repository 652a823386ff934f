"""The pages of docs/, and the commands that stand on them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted((*DOCS.rglob("*.md"), *(ROOT / "extensions").rglob("*.md")))
BY_NAME = {page.stem: page for page in PAGES}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n+```(?:text|json)\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
RUN = ("sh", "python")


@dataclass(frozen=True, slots=True)
class Block:
    """Code of a page in a language, and the output of it that stands right after it, if any does."""

    page: Path
    language: str
    code: str
    printed: str | None


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return the blocks of code of a page, by default of shell and Python."""
    return [block for block in _blocks(page) if block.language in (languages or RUN)]


def commands(page: Path) -> list[str]:
    """Return the `freshet` commands of a page, wherever they stand as code, each on one line."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    code = [block for language, block in fenced if language != "text"]
    lines = [line for block in code for line in block.splitlines()] + re.findall(r"^ {4}(freshet .*)$", text, re.M)
    calls = [re.search(r"(?<![\w/])freshet [a-z].*", line) for line in lines]
    return [call[0] for call in calls if call]


def _blocks(page: Path) -> Iterator[Block]:
    for language, code, printed in BLOCK.findall(page.read_text(encoding="utf-8")):
        yield Block(page, language, code, printed or None)
