"""The main job of README.md, docs/do/client.md and the notebook, as they are printed, with real data."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from testing.api_process import await_ready
from testing.processes import free_port
from tests.guide.pages import DOCS, ROOT
from tests.guide.test_commands import PRINTED, environment

__all__ = ["environment"]

pytestmark = pytest.mark.extended

HEADING = "## The main job on real basins"
INGEST = "freshet ingest camels"
SOME = f"{INGEST} --basin 01022500 --basin 13235000"
"""Two of the 447 basins; of the first in the list there is no forecast."""


@pytest.fixture(scope="module")
def address(camels: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the API serves what the commands of README.md have stored."""
    folder = tmp_path_factory.mktemp("readme")
    for archive in camels.iterdir():
        (folder / archive.name).symlink_to(archive)
    section = (ROOT / "README.md").read_text().partition(HEADING)[2]
    first, *_ = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    setup, *commands, serve = first.replace("\\\n", "").splitlines()
    assert setup.startswith("make setup")
    assert serve.startswith("freshet serve ")
    script = "\n".join(commands)
    assert script.count(INGEST) == 1
    subprocess.run(["bash", "-euc", script.replace(INGEST, SOME)], env=environment, cwd=folder, check=True)
    port, log = free_port(), folder / "api.log"
    with ExitStack() as stack:
        output = stack.enter_context(log.open("wb"))
        command = ["freshet", "api", "--port", str(port)]
        api = stack.enter_context(
            subprocess.Popen(command, env=environment, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        )
        stack.callback(api.terminate)
        url = f"http://127.0.0.1:{port}"
        await_ready(url, api, log)
        yield url


def test_the_notebook_has_the_results_of_the_commands(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_SERVICE", address)
    names: dict[str, Any] = {}
    for cell in json.loads((DOCS / "learn" / "notebook.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            *statements, result = cell["source"].splitlines()
            exec("\n".join([*statements, f"result = {result}"]), names)
            assert_alike(repr(names["result"]), cell["outputs"][0]["data"]["text/plain"])
    names["service"].close()


def test_the_page_on_python_ends_in_the_forecast(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", (DOCS / "do" / "client.md").read_text(), re.DOTALL):
        exec(code.replace(PRINTED, address), names)
    names["service"].close()
    printed = capsys.readouterr().out
    assert "USGS-01022500" in printed
    assert "22.6 m³/s is expected on 2 April" in printed
    assert "unknown-basin" in printed


def assert_alike(shown: str, printed: str) -> None:
    """Require the same words, and numbers as equal as two processors compute them."""
    number = r"-?\d+\.\d+"
    assert re.sub(number, "", shown).split() == re.sub(number, "", printed).split()
    numbers = [[float(one) for one in re.findall(number, text)] for text in (shown, printed)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.01)
