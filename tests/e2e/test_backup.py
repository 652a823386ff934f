"""What was lost with its machine is answered as before from a backup."""

from pathlib import Path

import pytest

from testing.answers import answers
from testing.api_process import served
from testing.databases import PostgreSQL
from tests.e2e.conftest import Api
from tests.freshet.conftest import Freshet

pytestmark = pytest.mark.extended


def freshet(database_url: str, data: Path, *command: str) -> None:
    done = Freshet(data)(*command, FRESHET_DATABASE_URL=database_url)
    assert done.code == 0, done.err


def test_a_service_restored_elsewhere_answers_to_the_byte(
    api: Api, database_url: str, postgresql: PostgreSQL, tmp_path: Path
) -> None:
    """Each on the other kind of database; on its own kind, the rows are compared in the tests of backups."""
    before, file = answers(api.address, api.stored), tmp_path / "backup"
    assert {answer[:4] for answer in before.values()} == {b"200 "}
    freshet(database_url, tmp_path / "data", "backup", str(file))

    data = tmp_path / "elsewhere"
    data.mkdir()
    url = postgresql.new() if database_url.startswith("sqlite") else f"sqlite:///{data / 'freshet.sqlite'}"
    freshet(url, data, "restore", "--send-alerts", str(file))
    with served(url, data) as (address, _):
        assert answers(address, api.stored) == before
