"""What was lost with its machine is answered as before from a backup."""

import os
import subprocess
import sys
from pathlib import Path

import httpx2

from tests.e2e.conftest import Api, served
from tests.operations.conftest import BASINS


def freshet(database_url: str, data: Path, *command: str) -> None:
    environment = os.environ | {"FRESHET_DATABASE_URL": database_url, "FRESHET_DATA": str(data)}
    subprocess.run([sys.executable, "-m", "freshet", *command], env=environment, check=True)


def answers(address: str, api: Api) -> dict[str, bytes]:
    paths = [
        "/v1/basins",
        "/v1/forecasts",
        f"/v1/basins/{BASINS[0]}/forecasts/latest",
        f"/v1/basins/{BASINS[0]}/origin",
        f"/v1/basins/{BASINS[0]}/observations?product=synthetic&format=csv",
        f"/v1/runs/{api.kept.run}",
        f"/v1/models/{api.kept.version}",
        f"/v1/models/{api.kept.version}/skill",
        "/v1/alerts",
        "/v1/jobs",
        "/v1/subscriptions",
        "/v1/audit",
    ]
    header = {"Authorization": f"Bearer {api.kept.token}"}
    with httpx2.Client(base_url=address, headers=header, trust_env=False) as client:
        return {path: client.get(path).raise_for_status().content for path in paths}


def test_a_service_restored_elsewhere_answers_to_the_byte(api: Api, database_url: str, tmp_path: Path) -> None:
    before, file, elsewhere = answers(api.address, api), tmp_path / "backup", tmp_path / "elsewhere"
    freshet(database_url, tmp_path / "data", "backup", str(file))
    elsewhere.mkdir()
    restored = f"sqlite:///{elsewhere / 'freshet.sqlite'}"

    freshet(restored, elsewhere, "restore", str(file))

    with served(restored, elsewhere) as (address, _):
        assert answers(address, api) == before
