"""Somebody who follows the guide: an environment, and a folder in which the first page has been followed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testing.api_process import await_ready
from testing.parts.forked_commands import forked_commands
from testing.processes import free_port
from tests.guide.follow import output_of
from tests.guide.pages import BY_NAME, blocks
from tests.shared_folders import filled_once

PRINTED = "http://127.0.0.1:8000"
"""The address of the API on the pages."""
FIRST = "first-forecast"
OUTPUTS = "outputs.json"
CURLRC = "silent\nshow-error\nfail-with-body\n"


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of somebody who has installed Freshet."""
    home = tmp_path_factory.mktemp("home")
    (home / ".curlrc").write_text(CURLRC)
    around = {name: value for name, value in os.environ.items() if not name.startswith("FRESHET_")}
    with forked_commands() as commands:
        path = f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        yield around | {"PATH": path, "CURL_HOME": str(home), "FRESHET_CORES": "1", "no_proxy": "127.0.0.1"}


@pytest.fixture(scope="session")
def demonstrated(environment: dict[str, str], shared: Path) -> Path:
    """A folder in which somebody with other settings has run the demonstration, with what it printed; to be copied."""

    def fill(folder: Path) -> None:
        elsewhere = {"FRESHET_AS_OF": "2001-02-03", "FRESHET_PRETRAINED": str(folder)}
        demo, *_ = blocks(BY_NAME[FIRST])
        (folder / OUTPUTS).write_text(json.dumps(output_of([demo], environment | elsewhere, folder)))

    return filled_once(shared / "demonstrated", fill)


@pytest.fixture(scope="session")
def first_followed(demonstrated: Path, environment: dict[str, str], shared: Path) -> Path:
    """A folder in which somebody has followed the first page, with what it printed; to be copied."""

    def fill(folder: Path) -> None:
        shutil.copytree(demonstrated, folder, dirs_exist_ok=True)
        _, *rest = blocks(BY_NAME[FIRST])
        printed = [*json.loads((folder / OUTPUTS).read_text()), *output_of(rest, environment, folder)]
        (folder / OUTPUTS).write_text(json.dumps(printed))

    return filled_once(shared / "guide", fill)


def data_settings() -> str:
    """Return the command of the first page that names the folder of the data and the time there."""
    lines = (line for block in blocks(BY_NAME[FIRST]) for line in block.code.splitlines())
    return next(line for line in lines if line.startswith("export "))


@contextmanager
def api_at(folder: Path, environment: dict[str, str], before: str = "") -> Iterator[str]:
    """Serve the data of a folder, and give the address."""
    port, log = free_port(), folder / "api.log"
    command = ["bash", "-c", f"{before}\nexec freshet api --port {port}"]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, env=environment, cwd=folder, stdout=output, stderr=output) as api,
    ):
        try:
            await_ready(f"http://127.0.0.1:{port}", api, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            api.terminate()
