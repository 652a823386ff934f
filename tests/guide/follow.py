"""Follow pages: run their blocks as they are printed, and hold the output against what the pages print.

A printed line stands for one of the output, word by word; a line `…` for any that are left out, and `…` within a line
for any words there, `<id>` for an identifier, which is another one at each run. Numbers with a decimal point may differ
as those of two processors do.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import isclose
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.guide.pages import Block

LEFT_OUT = "…"
DECIMAL = r"\d+\.\d+"
TOLERANCE = 0.01  # of a number
MARK = "\x1e"
"""Between the outputs of two blocks."""
PATTERNS: Mapping[str, str] = MappingProxyType(
    {rf"({DECIMAL})": rf"({DECIMAL})", "(<id>)": "[0-9a-f]{22}", f"({LEFT_OUT})": ".*", r"(\s+)": r"\s+"}
)
"""The pattern of what a part of a printed line stands for, by the pattern of that part."""
TOKEN = re.compile("|".join(PATTERNS))


def follow(blocks: Sequence[Block], *where: Any, **more: Any) -> list[str]:
    """Run blocks as `output_of` does, hold what they print against their pages, and return it by block."""
    outputs = output_of(blocks, *where, **more)
    for block, output in zip(blocks, outputs, strict=True):
        assert_as_printed(block, output)
    return outputs


def output_of(
    blocks: Sequence[Block],
    environment: Mapping[str, str],
    folder: Path,
    *,
    before: str = "",
    replaced: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Run blocks in one shell and return what they print, by block.

    Args:
        blocks: The blocks, in their order; those of Python that follow one another on a page are one program.
        environment: The environment of the shell.
        folder: Where the shell starts.
        before: Commands to run first, whose output is left out.
        replaced: What stands here in place of texts of the pages, such as an address; the output is changed back.
    """
    script = f"{before}\n{_script(blocks)}"
    for text, here in replaced.items():
        script = script.replace(text, here)
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    output = ended.stdout
    for text, here in replaced.items():
        output = output.replace(here, text)
    _, *outputs = output.split(MARK)
    assert ended.returncode == 0, f"exit code {ended.returncode} of\n{blocks[len(outputs) - 1].code}\n{output}"
    return outputs


def assert_as_printed(block: Block, output: str) -> None:
    """Require that a block's output is what its page prints, where it prints any."""
    if block.printed is not None and (difference := first_difference(block.printed, output)):
        raise AssertionError(
            f"{block.page.name} differs at {difference!r} after\n{block.code}\nwhich printed\n{output}"
        )


def first_difference(printed: str, output: str) -> str | None:
    """Return the first line in which a page and an output differ, as it stands on the page or else in the output."""
    rest = iter([line.strip() for line in output.splitlines() if line.strip()])
    skipping = False
    for line in filter(None, map(str.strip, printed.splitlines())):
        if line == LEFT_OUT:
            skipping = True
        elif not any(_is_printed(line, shown) for shown in rest) if skipping else not _is_printed(line, next(rest, "")):
            return line
        else:
            skipping = False
    return None if skipping else next(rest, None)


def _is_printed(line: str, shown: str) -> bool:
    found = re.fullmatch(_pattern(line), shown)
    numbers = map(float, re.findall(DECIMAL, line))
    return found is not None and all(
        isclose(number, float(other), rel_tol=TOLERANCE) for number, other in zip(numbers, found.groups(), strict=True)
    )


def _pattern(line: str) -> str:
    """Return the pattern of the lines that a printed one stands for, with a group for each decimal number."""
    parts, at = [], 0
    for token in TOKEN.finditer(line):
        parts += [re.escape(line[at : token.start()]), [*PATTERNS.values()][(token.lastindex or 0) - 1]]
        at = token.end()
    return "".join([*parts, re.escape(line[at:])])


def _script(blocks: Sequence[Block]) -> str:
    return "\n".join(line for key, group in groupby(blocks, _program) for line in _lines(key[1], [*group]))


def _program(block: Block) -> tuple[Path, str]:
    return block.page, block.language


def _lines(language: str, blocks: Sequence[Block]) -> Iterator[str]:
    if language == "python":
        code = "".join(f'print("\\x1e", end="", flush=True)\n{block.code}' for block in blocks)
        yield f"python - <<'END_OF_PROGRAM'\n{code}END_OF_PROGRAM"
        return
    for block in blocks:
        yield f"printf '\\036'\n{block.code}"
