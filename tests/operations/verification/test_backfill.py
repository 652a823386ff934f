"""A season of past weather forecasts gives a new service fitted errors of its forecasts at once."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hydrology.base.calendar import Period, as_date
from hydrology.base.errors import DataProblem, NotFound
from jobspec.jobs.forecasting import BackfillParams
from operations.feeds.fetch import FetchCallbacks
from operations.verification.backfill import Backfilled, backfill
from operations.verification.calibrate import calibrate
from operations.verification.recalibrate import settled
from operations.weather.import_forecasts import NoWeather, add_all
from records.database.engine import Database
from records.database.work import Progress
from records.forecasts.latest import latest
from records.runs import runs
from records.runs.run_summary import RunCalibration
from records.versions import versions
from testing.country import BASINS
from testing.records import contents
from testing.work import work_of
from tests.operations.live import FORECAST, HORIZON, Station, quiet, station

pytestmark = pytest.mark.extended

DAYS = 46
COUNT = DAYS - 1  # yesterday's run is the feed's own
SETTLED = 13
"""Of these days, those whose last lead is 30 days old."""
WEATHER = "open-meteo/ecmwf_ifs"
UNSEEN = Period.parse("2004-10-01..2005-02-28")


class Cancelled(Exception):  # noqa: N818 - not a fault
    """Somebody asked to stop."""


@pytest.fixture(scope="module")
def calibrated_file(live_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The live country with the error model of its simulation, its archive filled until yesterday."""
    folder = tmp_path_factory.mktemp("calibrated")
    database = Database(f"sqlite:///{shutil.copy(live_file, folder / 'freshet.sqlite')}")
    with station(database, folder) as at:
        at.add("ahead", FORECAST)
        at.fetch("past")
        with database.reading() as session:
            version = versions.newest(session).id
        calibrate(work_of(database, at.clock), version, BASINS, UNSEEN)
    database.close()
    return folder / "freshet.sqlite"


@pytest.fixture(scope="module")
def season(calibrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Backfilled]:
    """The same after a backfill of a season, and its outcome."""
    folder = tmp_path_factory.mktemp("season")
    database = Database(f"sqlite:///{shutil.copy(calibrated_file, folder / 'freshet.sqlite')}")
    with station(database, folder) as at:
        done = backfilled(at, days=DAYS)
        assert len(at.world.requests) == COUNT
    database.close()
    return folder / "freshet.sqlite", done


@pytest.fixture
def after(season: tuple[Path, Backfilled], tmp_path: Path) -> Iterator[Station]:
    """A copy of it."""
    database = Database(f"sqlite:///{shutil.copy(season[0], tmp_path / 'after.sqlite')}")
    with station(database, tmp_path) as at:
        yield at
    database.close()


@pytest.fixture
def here(calibrated_file: Path, tmp_path: Path) -> Iterator[Station]:
    database = Database(f"sqlite:///{shutil.copy(calibrated_file, tmp_path / 'live.sqlite')}")
    with station(database, tmp_path) as at:
        yield at
    database.close()


def backfilled(at: Station, show: Progress = quiet, **params: Any) -> Backfilled:
    asked = BackfillParams.model_validate({"feed": "ahead", "days": 8, "horizon": HORIZON} | params)
    return backfill(work_of(at.database, at.clock, at.settings, progress=show), asked, FetchCallbacks(pause=quiet))


def rows(at: Station) -> dict[str, Any]:
    """Return all stored rows but those of the fit, which a second run replaces with equal ones."""
    with at.database.reading() as session:
        return {name: of for name, of in contents(session).items() if name != "recalibrations"}


def calibration(at: Station, run: str) -> RunCalibration:
    with at.database.reading() as session:
        used = runs.basin_of(session, run, BASINS[0]).summary.calibration
    assert isinstance(used, RunCalibration)
    return used


def test_the_first_forecast_after_a_backfill_rests_on_a_season_of_reforecasts(
    after: Station, season: tuple[Path, Backfilled]
) -> None:
    _, done = season
    assert done.counts == {
        "issues": COUNT,
        "issues_before": 0,
        "issues_missing": 0,
        "reforecasts": COUNT * len(BASINS),
        "reforecasts_before": 0,
        "recalibrations": 1,
    }
    assert (done.remarks, [model.weather for model in done.fitted]) == ([], [WEATHER])
    (run,) = after.cycle().runs
    used = calibration(after, run.id)
    assert run.weather is not None
    recalibration = run.weather.recalibration
    assert (used.kind, used.weather, used.weather_issues) == ("backfilled", WEATHER, 15)
    assert (recalibration.issue_days, recalibration.reforecast_days) == (SETTLED, SETTLED)
    assert recalibration == done.fitted[0].fitted


def test_a_reforecast_is_of_its_day_and_never_the_latest(here: Station) -> None:
    backfilled(here, days=5)
    with here.database.reading() as session:
        stored = runs.list_runs(session, purpose="reforecast")
        with pytest.raises(NotFound, match="has no available forecast"):
            latest(session, BASINS[0], here.clock.now())
    assert [str(run.t0) for run in stored] == [str(day) for day in Period.parse("2005-05-26..2005-05-29").days][::-1]
    for run in stored:
        assert run.weather is not None
        assert as_date(run.t0) + timedelta(days=1) == run.weather.reference_time.date()
        assert (run.status, run.forcing_kind, run.horizon_days, run.owner) == ("issued", "supplied", HORIZON, None)


def test_a_second_backfill_fetches_and_computes_nothing(after: Station, season: tuple[Path, Backfilled]) -> None:
    _, first = season
    before = rows(after)
    again = backfilled(after, days=DAYS)
    assert again.counts == first.counts | {
        "issues": 0,
        "issues_before": COUNT,
        "reforecasts": 0,
        "reforecasts_before": COUNT * len(BASINS),
    }
    assert (rows(after), after.world.requests) == (before, [])
    assert again.fitted == first.fitted


@pytest.mark.parametrize("what", ["past weather forecasts", "reforecasts"])
def test_a_backfill_that_was_cancelled_goes_on(here: Station, what: str) -> None:
    def stop(done: int, _total: int, under_way: str) -> None:
        if under_way.startswith(what) and done == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        backfilled(here, stop)
    done = backfilled(here)
    count = 7
    assert done.counts["issues"] + done.counts["issues_before"] == count == len(here.world.requests)
    assert done.counts["reforecasts"] + done.counts["reforecasts_before"] == count * len(BASINS)
    with here.database.reading() as session:
        t0s = [run.t0 for run in runs.list_runs(session, purpose="reforecast")]
    assert (len(t0s), len(set(t0s))) == (count, count)


def test_a_day_with_an_issued_forecast_is_not_reforecast(here: Station) -> None:
    here.cycle()
    here.world.now += timedelta(days=3)
    here.fetch("past")
    done = backfilled(here, days=6)
    assert (done.counts["issues_before"], done.counts["reforecasts_before"]) == (1, len(BASINS))
    with here.database.reading() as session:
        t0s = [str(run.t0) for run in runs.list_runs(session)]
    assert sorted(t0s) == [str(day) for day in Period.parse("2005-05-28..2005-06-01").days]


def test_too_few_settled_days_are_stored_and_not_fitted(here: Station) -> None:
    done = backfilled(here)
    assert (done.counts["issues"], done.counts["recalibrations"]) == (7, 0)
    assert ["10 days T0" in remark for remark in done.remarks] == [True]
    here.world.missing_runs = {f"2005-05-{day:02}T00:00" for day in range(1, 25)}
    with pytest.raises(DataProblem, match=r"does not have the runs of ecmwf_ifs of 2005-05-22, 2005-05-23"):
        backfilled(here, days=10)


def write(folder: Path, days: Period) -> None:
    """Write past forecasts of another source, one file each."""
    for number, first in enumerate(days.days):
        began = datetime.combine(as_date(first), datetime.min.time(), UTC)
        time = [str(first + np.timedelta64(ahead, "D")) for ahead in range(HORIZON)]
        values = {"precipitation": number % 5, "tmax": 14.0, "tmin": 4.0, "srad": 200.0, "vp": 800.0}
        document = {
            "source": "office",
            "model": "by-hand",
            "reference_time": began.isoformat(),
            "available_time": (began + timedelta(hours=6)).isoformat(),
            "units": {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC", "srad": "W/m2", "vp": "Pa"},
            "basins": {
                name: {"time": time, "traces": {"0": {key: [value] * HORIZON for key, value in values.items()}}}
                for name in BASINS
            },
        }
        (folder / f"{first}.json").write_text(json.dumps(document))


def test_a_folder_of_past_forecasts_serves_as_well(here: Station, tmp_path: Path) -> None:
    folder = tmp_path / "past"
    (folder / "older").mkdir(parents=True)
    write(folder, Period.parse("2005-04-01..2005-04-12"))
    write(folder / "older", Period.parse("2004-09-20..2004-09-20"))  # the version was validated on these days
    (folder / "2005-04-13.json").write_text("{")
    (folder / "README.txt").write_text("forecasts")

    def stop(done: int, total: int, _name: str) -> None:
        if (done, total) == (5, 14):
            raise Cancelled

    with pytest.raises(Cancelled):
        add_all(work_of(here.database, here.clock, progress=stop), folder)
    imported = add_all(work_of(here.database, here.clock), folder)
    assert imported.counts == {"files": 13, "new": 8 * len(BASINS), "known": 5 * len(BASINS)}
    assert imported.failed.keys() == {"2005-04-13.json"}
    done = backfilled(here, feed=None, weather="office/by-hand", days=300)
    assert (done.issues, done.counts["reforecasts"], done.reforecasts.learnt) == (None, 12 * len(BASINS), len(BASINS))
    with here.database.reading() as session:
        (version,) = done.reforecasts.versions
        (of,) = settled(session, here.clock, version)
    assert (of.weather, str(of.days[0]), str(of.days[-1]), of.reforecast_days) == (
        "office/by-hand",
        "2005-03-31",
        "2005-04-11",
        12,
    )
    assert here.world.requests == []


def test_a_folder_without_weather_is_refused(here: Station, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoWeather, match=r"no file that ends in \.csv, \.json, \.nc"):
        add_all(work_of(here.database, here.clock), tmp_path / "empty")
