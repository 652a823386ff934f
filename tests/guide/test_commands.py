"""The commands of the guide: they run, and print, as they stand on its pages; all others can be understood."""

import json
import re
import shlex
import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import typer

from freshet.cli.commands import loaded
from freshet.cli.commands import names as command_names
from tests.guide.conftest import FIRST, OUTPUTS, PRINTED, api_at, data_settings
from tests.guide.follow import assert_as_printed, first_difference, follow
from tests.guide.pages import BY_NAME, DOCS, PAGES, ROOT, Block, blocks, commands
from tests.guide.reference import pages

BESIDE_THE_API = ("client", "formats", "edr", "volumes", "what-if", "alerts", "forecasts", "thresholds", "forecasters")
FOLLOWED = (("own-basin",), ("own-weather",), ("retraining",), ("deployment",), BESIDE_THE_API)
"""Pages that go on from what the first one has stored: each by itself, or in this order."""
RUN_ELSEWHERE = ("tomorrow", "walk", "networks-from-python")
COMBINING = "it names versions of the reader's own; tests/freshet/versions/test_combine.py runs such commands"
NOT_RUN: Mapping[str, str] = MappingProxyType(
    {
        "docker compose": "it needs a container engine",
        "TORCH_INDEX_URL=... make containers": "it needs a container engine",
        "install --directory": "it prepares a folder for containers",
        "freshet worker --queue gpu": "it needs a graphics card, and does not end",
        "journalctl": "it reads the log of a unit of systemd",
        "useradd": "it changes the machine's users and services",
        "freshet backup /backups/2026-11-22": "it needs PostgreSQL: SQLite has no backup of what is new",
        "freshet models list\nfreshet models combine": COMBINING,
        "freshet evaluate --version COMBINED": COMBINING,
        "freshet models export COMBINED": COMBINING,
        "from standardwebhooks": "test_alerts_page calls its functions",
        "import hmac": "test_alerts_page calls its functions",
    }
)
"""Beginnings of blocks in docs/learn and docs/do that are not run, with the reason."""
FILES: Mapping[str, str] = MappingProxyType(
    {
        "rating.csv": "stage_ft,discharge_cfs\n1,10\n8,3000\n20,30000\n",
        "gauge.json": '{"flood": {"flowUnits": "cfs", "categories": {"minor": {"stage": 9}}}}',
    }
)
"""Files of the reader's own that pages name."""
FOLDERS: Mapping[str, str] = MappingProxyType({"/backups": "backups", "/new/place": "place"})
"""Folders of the reader's own, in the folder of the test."""
GENERATED = pages()
WRITTEN = [page for page in PAGES if page not in {DOCS / name for name in GENERATED}]


@pytest.mark.extended
def test_the_first_page_prints_what_stands_there(first_followed: Path) -> None:
    outputs = json.loads((first_followed / OUTPUTS).read_text())
    for block, output in zip(blocks(BY_NAME[FIRST]), outputs, strict=True):
        assert_as_printed(block, output)


@pytest.mark.extended
@pytest.mark.parametrize("names", FOLLOWED, ids=lambda names: names[-1])
def test_pages_run_and_print_as_they_stand(
    names: tuple[str, ...], first_followed: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = shutil.copytree(first_followed, tmp_path / "followed")
    for file, text in FILES.items():
        (folder / file).write_text(text)
    (folder / "backups").mkdir()
    here = {text: str(folder / own) for text, own in FOLDERS.items()}
    to_run = [block for name in names for block in _to_run(BY_NAME[name])]
    serves = api_at(folder, environment, data_settings()) if names == BESIDE_THE_API else nullcontext(PRINTED)
    with serves as address:
        follow(to_run, environment, folder, before=data_settings(), replaced=here | {PRINTED: address})


def test_every_page_of_learn_and_do_is_run_but_for_blocks_with_a_reason() -> None:
    followed = {FIRST, *chain(*FOLLOWED), *RUN_ELSEWHERE}
    of_rooms = [page for page in PAGES if page.parent.name in ("learn", "do")]
    assert [page.stem for page in of_rooms if _to_run(page) and page.stem not in followed] == []
    codes = [block.code for page in of_rooms for block in blocks(page)]
    assert {beginning for beginning in NOT_RUN if not any(code.startswith(beginning) for code in codes)} == set()


@pytest.mark.parametrize(
    ("printed", "output", "difference"),
    [
        ("flow 1.00 m3/s", "flow   1.009 m3/s\n\n", None),
        ("flow 1.00 m3/s", "flow 1.02 m3/s", "flow 1.00 m3/s"),
        ("flow -1.00", "flow 1.00", "flow -1.00"),
        ("8 basins", "9 basins", "8 basins"),
        ("a\nb", "a\nb\nc", "c"),
        ("a\nc", "a\nb\nc", "c"),
        ("a\n…\nc", "a\nb\nb\nc", None),
        ("a\n…", "a\nb\nc", None),
        ("…\nb\na", "a\nb\na", None),
        ("…\na\nb", "b\na", "b"),
        ("run <id> in ID", f"run {'0a' * 11} in ID", None),
        ("run <id>", "run of a basin", "run <id>"),
        ("from 2.5 … to 3.5", "from 2.5 by 1 to 3.5", None),
        ("[1.5] (x)", "[1.5] (x)", None),
        ("a.c", "abc", "a.c"),
        ("a", "", "a"),
    ],
)
def test_a_difference_between_page_and_output_is_found(printed: str, output: str, difference: str | None) -> None:
    assert first_difference(printed, output) == difference


def test_outputs_are_held_against_the_blocks_that_they_belong_to(tmp_path: Path, environment: dict[str, str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\nA=1\n```\n```sh\necho http://printed $A >&2\n```\n```text\nhttp://printed 1\n```\n"
        "```python\nb = 2\nprint('b')\n```\nand\n\n```python\nprint(b)\n```\n\n```text\n2\n```\n"
        "```json\n{}\n```\n```text\nof no command\n```\n"
    )
    one, other = blocks(page), blocks(page)[:2]
    outputs = follow(one, environment, tmp_path, replaced={"http://printed": "http://here"})
    assert outputs == ["", "http://printed 1\n", "b\n", "2\n"]
    with pytest.raises(AssertionError, match="differs at 'http://printed 1'"):
        follow(other, environment, tmp_path, before="A=2", replaced={"A=1": ""})
    with pytest.raises(AssertionError, match="exit code 3 of\necho http"):
        follow(other, environment, tmp_path, replaced={"echo": "exit 3; echo"})


@pytest.mark.extended
def test_a_command_that_fails_is_found(tmp_path: Path, environment: dict[str, str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nfreshet basins --nothing\nfreshet basins --help\n```\n")
    with pytest.raises(AssertionError, match=r"exit code 2 of\nfreshet basins --nothing"):
        follow(blocks(page), environment, tmp_path)


@pytest.mark.parametrize("page", [*WRITTEN, ROOT / "README.md"], ids=lambda page: page.stem)
def test_every_command_and_option_exists(page: Path) -> None:
    for line in commands(page):
        words = shlex.split(line.split(" | ")[0].split(" > ")[0].split(" || ")[0].rstrip(")&"), comments=True)[1:]
        name, *arguments = words
        assert name in command_names(), line
        _require_understood(name, [word for word in arguments if word != "..."], line)


def test_the_index_marks_every_page_whose_commands_are_run() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    section = index[index.index("## Which commands are run") :]
    run, _, not_run = section.partition("Of all others")
    listed = re.findall(r"[a-z]+(?:-[a-z]+)*", run.partition(":")[2])
    assert sorted(listed) == sorted([FIRST, *chain(*FOLLOWED), *RUN_ELSEWHERE])
    with_commands = {page.stem for page in WRITTEN if blocks(page, "sh")}
    assert {name for name in with_commands - set(listed) if not re.search(rf"\b{name}\b", not_run)} == set()


def _to_run(page: Path) -> list[Block]:
    return [block for block in blocks(page) if not block.code.startswith(tuple(NOT_RUN))]


def _require_understood(words: str, arguments: list[str], line: str) -> None:
    """Require that a command would begin with some arguments."""
    command: Any = loaded(words)
    try:
        with command.make_context(words, arguments, resilient_parsing=False) as context:
            rest = [*context._protected_args, *context.args]
            parts = getattr(command, "commands", {})
            if parts and rest:
                assert rest[0] in parts, line
                _require_understood(f"{words} {rest[0]}", rest[1:], line)
    except typer.TyperException as error:
        pytest.fail(f"{line}: {error.format_message()}")
