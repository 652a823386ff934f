"""What was lost with its machine is answered as before from a backup."""

import os
import subprocess
import sys
from pathlib import Path

from testing.answers import answers
from testing.api_process import served
from testing.databases import PostgreSQL
from tests.e2e.conftest import Api


def freshet(database_url: str, data: Path, *command: str) -> None:
    environment = os.environ | {"FRESHET_DATABASE_URL": database_url, "FRESHET_DATA": str(data)}
    subprocess.run([sys.executable, "-m", "freshet", *command], env=environment, check=True)


def test_a_service_restored_elsewhere_answers_to_the_byte(
    api: Api, database_url: str, postgresql: PostgreSQL, tmp_path: Path
) -> None:
    before, file = answers(api.address, api.stored), tmp_path / "backup"
    assert {answer[:4] for answer in before.values()} == {b"200 "}
    freshet(database_url, tmp_path / "data", "backup", str(file))

    for url in (f"sqlite:///{tmp_path / 'elsewhere' / 'freshet.sqlite'}", postgresql.new()):
        data = tmp_path / url.partition(":")[0]
        data.mkdir()
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        freshet(url, data, "restore", str(file))
        with served(url, data) as (address, _):
            assert answers(address, api.stored) == before
