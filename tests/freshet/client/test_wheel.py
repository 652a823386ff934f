"""The client's wheel: small, and without anything of the service."""

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from runtime.release import code_version
from tests.freshet.conftest import BASINS

pytestmark = pytest.mark.extended
CLIENT = Path(__file__).parents[3] / "client"
MAX_BYTES = 30_000_000
SCRIPT = """
import json, sys
from freshet_client import Client, Refused
with Client(sys.argv[1]) as service:
    basins = [basin.id for basin in service.list_basins()]
    forecast = service.read_latest_forecast(basins[0])
    table = service.read_latest_forecast(basins[0], format="csv")
    try:
        service.read_basin("USGS-99999999")
    except Refused as refused:
        status = refused.status
answers = [basins, forecast.status, len(table.splitlines()) - forecast.horizon_days, status]
print(json.dumps({"answers": answers, "modules": sorted({name.partition(".")[0] for name in sys.modules})}))
"""


def required(name: str) -> Iterator[metadata.Distribution]:
    """Yield what a distribution requires, directly or not."""
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield metadata.distribution(requirement.name)
            yield from required(requirement.name)


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *arguments], check=True)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it requires, as installed here: a test asks no package index."""
    folder = tmp_path_factory.mktemp("wheel")
    source = shutil.copytree(CLIENT, folder / "client")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source))
    (wheel,) = folder.glob("freshet_client-*.whl")
    venv.create(folder / "environment")
    python = folder / "environment" / "bin" / "python"
    pip("--python", str(python), "install", "--no-deps", "--no-index", str(wheel))
    (packages,) = (folder / "environment").glob("lib/python*/site-packages")
    (own,) = metadata.distributions(name="freshet-client", path=[str(packages)])
    named = [Requirement(text) for text in own.requires or ()]
    direct = [one.name for one in named if one.marker is None]
    assert sorted(direct) == ["httpx2", "pydantic"]
    for each in {one.name: one for name in direct for one in (metadata.distribution(name), *required(name))}.values():
        for file in each.files or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), packages / file)
    return folder / "environment"


def test_the_wheel_and_what_it_requires_are_small(environment: Path) -> None:
    size = sum(file.stat().st_size for file in environment.rglob("*") if file.is_file() and not file.is_symlink())
    assert size <= MAX_BYTES


def test_the_wheel_reads_a_service_without_anything_of_it(environment: Path, address: str, tmp_path: Path) -> None:
    command = [str(environment / "bin" / "python"), "-I", "-c", SCRIPT, address]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True)
    found = json.loads(ended.stdout)
    assert found["answers"] == [list(BASINS), "issued", 1, 404]
    foreign = {"app", "freshet", "hydrology", "jobspec", "numpy", "pandas", "runtime", "tenacity", "torch"}
    assert foreign & {*found["modules"]} == set()


def test_the_wheel_has_the_version_of_the_service() -> None:
    assert f'\nversion = "{code_version()}"\n' in (CLIENT / "pyproject.toml").read_text()
