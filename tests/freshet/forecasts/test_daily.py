"""`freshet daily`: the daily cycle and its outcome by basin."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydrology.base.calendar import day
from records.database.engine import Database
from testing.country import BASINS
from tests.freshet.conftest import Freshet
from tests.operations.conftest import live_file, trained_file
from tests.operations.live import FORECAST, Station, station
from tests.workers.tasks.divided import in_parts_of

__all__ = ["live_file", "trained_file"]

STOPPED, *GOING = BASINS


@pytest.fixture
def here(live_file: Path, freshet: Freshet) -> Iterator[Station]:
    freshet.data.mkdir()
    database = Database(f"sqlite:///{shutil.copy(live_file, freshet.data / 'freshet.sqlite')}")
    with station(database, freshet.data) as at:
        at.add("ahead", FORECAST)
        yield at
    database.close()


def test_every_basin_is_reported_and_the_exit_code_shows_whether_all_have_a_forecast(
    here: Station, freshet: Freshet
) -> None:
    done = freshet("daily", "--json", **here.environment)
    assert (done.code, done.json["counts"]) == (0, {"issued": len(BASINS)})
    assert [run["t0"] for run in done.json["runs"]] == ["2005-05-31"]
    again = freshet("daily", **here.environment)
    assert "3 basins: 3 unchanged" in again.out
    here.stop(STOPPED, day("2005-05-31"))
    here.world.now = here.world.now.replace(day=6)
    late = freshet("daily", "--json", **here.environment)
    assert (late.code, late.json["counts"]) == (6, {"issued": len(GOING), "stale": 1})
    assert list(late.json["reasons"]) == [STOPPED]
    listed = freshet("issues", "--json", **here.environment).json["issues"]
    assert [(one["day"], one["renewed"], one["lacking"]) for one in listed] == [
        ("2005-06-06", len(GOING), 1),
        ("2005-06-01", len(BASINS), 0),
    ]
    assert f"{STOPPED} " in freshet("issues", "2005-06-06", **here.environment).out


def test_a_feed_that_is_not_stored_is_refused(here: Station, freshet: Freshet) -> None:
    assert freshet("daily", "--feed", "nowhere", **here.environment).code == 3


@pytest.mark.extended
def test_the_parts_of_a_cycle_are_done_by_processes(
    here: Station, freshet: Freshet, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts_of(monkeypatch, "daily-part", 1)
    done = freshet("daily", "--json", **here.environment, FRESHET_CORES="2")
    assert (done.code, done.json["counts"]) == (0, {"issued": len(BASINS)})
    assert len(done.json["runs"]) == len(BASINS)
    again = freshet("daily", "--json", **here.environment, FRESHET_CORES="2")
    assert (again.json["counts"], again.json["runs"]) == ({"unchanged": len(BASINS)}, [])
