"""The main job of README.md and the notebook, as they are printed, with real data."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.guide.conftest import api_at
from tests.guide.follow import first_difference
from tests.guide.pages import DOCS, ROOT, blocks

pytestmark = pytest.mark.extended

INGEST = "freshet ingest camels"
SOME = f"{INGEST} --basin 01022500 --basin 13235000"
"""Two of the 447 basins; of the first in the list there is no forecast."""


@pytest.fixture(scope="module")
def address(camels: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the API serves what the commands of README.md have stored."""
    folder = tmp_path_factory.mktemp("readme")
    for archive in camels.iterdir():
        (folder / archive.name).symlink_to(archive)
    (main,) = [block.code for block in blocks(ROOT / "README.md") if INGEST in block.code]
    setup, *commands, serve = main.replace("\\\n", "").splitlines()
    assert setup.startswith("make setup")
    assert serve.startswith("freshet serve ")
    script = "\n".join(commands)
    assert script.count(INGEST) == 1
    subprocess.run(["bash", "-euc", script.replace(INGEST, SOME)], env=environment, cwd=folder, check=True)
    with api_at(folder, environment) as url:
        yield url


def test_the_notebook_has_the_results_of_the_commands(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_SERVICE", address)
    names: dict[str, Any] = {}
    for cell in json.loads((DOCS / "learn" / "notebook.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            *statements, result = cell["source"].splitlines()
            exec("\n".join([*statements, f"result = {result}"]), names)
            assert first_difference(cell["outputs"][0]["data"]["text/plain"], repr(names["result"])) is None
    names["service"].close()
