"""`freshet feeds backfill`: past weather forecasts, reforecasts with them and the fit, in one command."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from records.database.engine import Database
from testing.country import BASINS
from tests.freshet.conftest import Freshet
from tests.freshet.weather.test_weather import written
from tests.operations.conftest import live_file, trained_file
from tests.operations.live import FORECAST, Station, station

pytestmark = pytest.mark.extended

__all__ = ["live_file", "trained_file"]


@pytest.fixture
def here(live_file: Path, freshet: Freshet) -> Iterator[Station]:
    freshet.data.mkdir()
    database = Database(f"sqlite:///{shutil.copy(live_file, freshet.data / 'freshet.sqlite')}")
    with station(database, freshet.data) as at:
        at.add("ahead", FORECAST)
        at.fetch("past")
        yield at
    database.close()


def test_what_is_stored_and_missing_is_reported(here: Station, freshet: Freshet) -> None:
    args = ("feeds", "backfill", "ahead", "--days", "6", "--horizon", "5")
    done = freshet(*args, "--json", **here.environment)
    assert (done.code, done.json["issues"], done.json["reforecasts"]) == (6, 5, 5 * len(BASINS))
    assert "has no error model: fit one" in done.json["warnings"][0]
    assert "The fetch weighs 15 calls by Open-Meteo's count." in done.err
    requests = len(here.world.requests)
    again = freshet(*args, **here.environment)
    assert "has no error model: fit one" in again.err
    assert len(here.world.requests) == requests


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ((), "either FEED or --weather is needed"),
        (("ahead", "--weather", "a/b"), "either FEED or --weather is needed"),
        (("ahead", "--days", "1"), "days"),
        (("--weather", "a"), "weather"),
        (("past",), "of the adapter open-meteo-archive has no past issues"),
        (("nowhere",), "No feed 'nowhere'"),
    ],
)
def test_an_impossible_request_is_refused(here: Station, freshet: Freshet, args: tuple[str, ...], reason: str) -> None:
    result = freshet("feeds", "backfill", *args, **here.environment)
    assert result.code in (2, 3)
    assert reason in result.err
    assert all("/v1/forecast" not in path for _, path, _, _ in here.world.requests)


def test_a_folder_is_added_file_by_file(worked: Freshet, tmp_path: Path) -> None:
    for day in (26, 27):
        (tmp_path / f"{day}").mkdir()
        times = dict.fromkeys(("reference_time", "available_time"), f"2005-09-{day}T00:00:00Z")
        written(tmp_path / f"{day}", *BASINS, **times)
    (tmp_path / "broken.csv").write_text("basin")
    added = worked("weather", "add", str(tmp_path), "--json")
    assert (added.code, added.json["files"], added.json["new"]) == (6, 2, 2 * len(BASINS))
    assert list(added.json["refused"]) == ["broken.csv"]
    assert worked("weather", "add", str(tmp_path), "--json").json["known"] == 2 * len(BASINS)
