"""The commands of the guide: most are run as they are printed, all others can be understood."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import typer

from freshet.cli.commands import loaded
from freshet.cli.commands import names as command_names
from testing.api_process import await_ready
from testing.processes import free_port
from tests.guide.pages import DOCS, PAGES, ROOT, blocks, commands
from tests.guide.reference import pages

STEPS = ("first-forecast", "own-basin", "own-weather", "retraining")
"""In this order: each goes on from those before."""
BESIDE_THE_API = ("volumes", "thresholds", "alerts", "forecasts", "formats", "edr", "what-if")
"""Where the steps have led, with the API at its address."""
RUN_ELSEWHERE = ("tomorrow", "walk")
PRINTED = "http://127.0.0.1:8000"
GENERATED = pages()
WRITTEN = [page for page in PAGES if page not in {DOCS / name for name in GENERATED}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who follows the guide."""
    return tmp_path_factory.mktemp("guide")


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """The environment of somebody who has installed Freshet."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    around = {name: value for name, value in os.environ.items() if not name.startswith("FRESHET_")}
    return around | {"PATH": path, "FRESHET_CORES": "1", "no_proxy": "127.0.0.1"}


@pytest.fixture(scope="module")
def steps(folder: Path, environment: dict[str, str]) -> str:
    """What the first steps print."""
    return _run(STEPS, environment, folder)


@pytest.fixture
def address(steps: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Where the API serves the results of the first steps."""
    assert steps
    port, log = free_port(), folder / "api.log"
    with ExitStack() as stack:
        output = stack.enter_context(log.open("wb"))
        command = ["bash", "-c", f"{_settings()}\nexec freshet api --port {port}"]
        api = stack.enter_context(
            subprocess.Popen(command, env=environment, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        )
        stack.callback(api.terminate)
        url = f"http://127.0.0.1:{port}"
        await_ready(url, api, log)
        yield url


@pytest.mark.extended
def test_the_first_steps_succeed_as_they_are_printed(steps: str) -> None:
    assert "┃ median" in steps
    assert "8 basins" in steps
    assert "OWN-mill" in steps


@pytest.mark.extended
def test_the_pages_that_need_the_api_succeed_as_they_are_printed(
    address: str, folder: Path, environment: dict[str, str]
) -> None:
    curlrc = folder / ".curlrc"
    curlrc.write_text("silent\nshow-error\nfail-with-body\n")
    (folder / "rating.csv").write_text("stage_ft,discharge_cfs\n1,10\n8,3000\n20,30000\n")
    (folder / "gauge.json").write_text('{"flood": {"flowUnits": "cfs", "categories": {"minor": {"stage": 9}}}}')
    output = _run(BESIDE_THE_API, environment | {"CURL_HOME": str(folder)}, folder, _settings(), address)

    assert '"exceeded_percent"' in output
    assert re.search("^version +basins", output, re.MULTILINE)
    assert '"secret"' in output
    assert "Schedule daily" in output
    assert {file.suffix for file in folder.glob("USGS-12010000_forecast_*")} == {".csv", ".nc"}


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
    assert sorted(listed) == sorted([*STEPS, *BESIDE_THE_API, *RUN_ELSEWHERE])
    with_commands = {page.stem for page in WRITTEN if blocks(page)}
    assert {name for name in with_commands - set(listed) if not re.search(rf"\b{name}\b", not_run)} == set()


def _settings() -> str:
    """Return the command of the first page that names the folder of the data."""
    return next(
        line
        for block in blocks(DOCS / "learn" / "first-forecast.md")
        for line in block.splitlines()
        if "export" in line
    )


def _run(
    names: tuple[str, ...], environment: dict[str, str], folder: Path, before: str = "", address: str = PRINTED
) -> str:
    """Run the commands of pages as they are printed, but for the address of the API, and return what they print."""
    by_name = {page.stem: page for page in PAGES}
    script = "\n".join([before, *(block for name in names for block in blocks(by_name[name]))])
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace(PRINTED, address)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout


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
