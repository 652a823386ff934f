"""Volumes of a season are forecast from the newest state with the weather of other years."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, day
from hydrology.base.reasons import Reason
from hydrology.climatology.volumes import Observed, Season
from jobspec.jobs.forecasting import VolumesParams
from operations.forecasting.forecast import forecast_volumes
from operations.verification.calibrate import calibrate
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.forecasts import volumes_and_recessions
from records.forecasts.latest import Latest, NoForecast, latest
from records.forecasts.volumes_and_recessions import SNOW_SHARE, Volume
from records.runs import run_arrays, run_types, runs, states
from records.runs.runs import RunRequest
from records.series.year_rows import SERIES
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.records import change_row
from testing.work import work_of
from tests.operations.forecasting.test_forecast import one_run
from tests.operations.verification.test_calibrate import UNSEEN, newest

T0 = day("2004-04-10")
BASIN = BASINS[0]
SPRING = Season.parse("04-01..05-31")


def forecast(database: Database, clock: Clock = CLOCK, **asked: Any) -> run_types.Run:
    given: dict[str, Any] = {"basins": [BASIN], "t0": T0, "season": SPRING} | asked
    (run,) = forecast_volumes(work_of(database, clock), RunRequest(VolumesParams(**given)))
    return run


def volume(database: Database, run: run_types.Run, season: Season | None = SPRING, basin: str = BASIN) -> Volume:
    with database.reading() as session:
        return volumes_and_recessions.of_run(session, Latest(run, runs.basin_of(session, run.id, basin), None), season)


def known(depths: Array | Absent) -> Array:
    assert not isinstance(depths, Absent)
    return depths


def discharge(database: Database, run: run_types.Run, variable: str = "discharge") -> np.ndarray[Any, Any]:
    with database.reading() as session:
        return runs.series_of(session, run.id, BASIN, [variable])[variable].values


def change(database: Database, variable: str, days: Period, values: float | None) -> None:
    """Write another value into the days of a variable; None adds 7 to each."""
    with database.transaction() as session:
        rows = session.execute(select(SERIES).filter_by(basin_id=BASIN, variable=variable)).all()
        for row in rows:
            begin = day(f"{row.year}-01-01")
            stored = np.frombuffer(row.value_bytes, "<f4").copy()
            shared = days.overlap(Period(begin, begin + len(stored) - 1))
            if shared is not None:
                at = slice(int((shared.first - begin).astype(int)), int((shared.last - begin).astype(int)) + 1)
                stored[at] = stored[at] + 7 if values is None else values
                change_row(session, SERIES, row, value_bytes=stored.tobytes())


@pytest.fixture
def calibrated(trained_store: Database) -> Database:
    calibrate(work_of(trained_store, CLOCK), newest(trained_store), BASINS, UNSEEN)
    return trained_store


def test_a_volume_is_the_sum_of_the_days_of_every_member_and_trace(trained_store: Database) -> None:
    run = forecast(trained_store)
    shown = volume(trained_store, run)
    assert (run.forcing_kind, run.purpose, run.t0) == ("climatology", "on-request", T0)
    assert shown.period == Period(day("2004-04-01"), day("2004-05-31"))
    assert shown.ahead == Period(day("2004-04-11"), day("2004-05-31"))
    assert run.horizon_days == len(shown.ahead)
    sums = discharge(trained_store, run).sum(axis=-1, dtype=np.float64)
    np.testing.assert_allclose(known(shown.raw), np.quantile(sums, [0.9, 0.7, 0.5, 0.3, 0.1]), rtol=1e-6)
    assert isinstance(shown.calibrated, Absent)
    assert "no error model" in str(shown.calibrated)


def test_the_observed_part_of_the_season_is_added(calibrated: Database) -> None:
    shown = volume(calibrated, forecast(calibrated))
    assert isinstance(shown.observed, Observed)
    assert shown.observed.period == Period(day("2004-04-01"), T0)
    calibrated_ahead = known(shown.calibrated)
    np.testing.assert_allclose(known(shown.whole(shown.calibrated)), shown.observed.depth + calibrated_ahead)
    paths = discharge(calibrated, forecast(calibrated), run_arrays.PATHS).sum(axis=-1, dtype=np.float64)
    np.testing.assert_allclose(calibrated_ahead, np.quantile(paths, [0.9, 0.7, 0.5, 0.3, 0.1]), rtol=1e-6)
    assert (np.diff(calibrated_ahead) <= 0).all()
    assert (calibrated_ahead >= 0).all()


def test_only_the_days_of_a_later_season_are_reported(trained_store: Database) -> None:
    season = Season.parse("05-01..05-31")
    run = forecast(trained_store, season=season)
    shown = volume(trained_store, run, season)
    assert (shown.observed, shown.ahead) == (None, Period(day("2004-05-01"), day("2004-05-31")))
    sums = discharge(trained_store, run)[..., 20:].sum(axis=-1, dtype=np.float64)
    np.testing.assert_allclose(known(shown.whole(shown.raw)), np.quantile(sums, [0.9, 0.7, 0.5, 0.3, 0.1]), rtol=1e-6)


def test_a_missing_day_of_the_season_is_reported_and_the_days_ahead_still_are(trained_store: Database) -> None:
    run = forecast(trained_store)
    change(trained_store, "discharge", Period(day("2004-04-03"), day("2004-04-04")), np.nan)
    shown = volume(trained_store, run)
    reason = str(shown.whole(shown.raw))
    assert reason == "2 of the 10 days of the season until T0 were not observed, 2004-04-03 the first."
    assert not isinstance(shown.raw, Absent)


def test_weather_after_t0_changes_nothing(calibrated: Database) -> None:
    first = forecast(calibrated)
    before = discharge(calibrated, first), discharge(calibrated, first, run_arrays.PATHS)
    change(calibrated, "precipitation", Period(T0 + 1, day("2004-07-31")), None)
    second = forecast(calibrated)
    after = discharge(calibrated, second), discharge(calibrated, second, run_arrays.PATHS)
    assert second.id != first.id
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    change(calibrated, "precipitation", Period(day("2003-04-11"), day("2003-04-30")), None)
    assert not np.array_equal(discharge(calibrated, forecast(calibrated)), before[0])


def test_from_a_stored_state_or_from_the_empty_store_the_volume_has_the_same_bits(calibrated: Database) -> None:
    first = forecast(calibrated)
    with calibrated.reading() as session:
        assert states.get(session, first.version_id, BASIN, T0) is not None
    again = forecast(calibrated)
    np.testing.assert_array_equal(known(volume(calibrated, first).raw), known(volume(calibrated, again).raw))
    before, after = (known(volume(calibrated, run).calibrated) for run in (first, again))
    np.testing.assert_array_equal(before, after)


def test_each_basin_has_the_season_of_its_snow(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        basins.upsert(session, Basin(BASIN, attributes={SNOW_SHARE: 0.7}))
        basins.upsert(session, Basin(BASINS[1], attributes={SNOW_SHARE: 0.1}))
    done = forecast_volumes(
        work_of(trained_store, CLOCK), RunRequest(VolumesParams(basins=list(BASINS[:2]), t0=day("2004-02-10")))
    )
    seasons = {}
    with trained_store.reading() as session:
        for run in done:
            (basin,) = runs.basins_of(session, run.id)
            seasons[basin.basin_id] = str(volumes_and_recessions.of_run(session, Latest(run, basin, None)).season)
    assert seasons == {BASIN: "04-01..07-31", BASINS[1]: "02-01..04-30"}


def test_the_latest_forecast_stays_and_the_newest_volume_is_found(trained_store: Database) -> None:
    daily = one_run(trained_store)
    run = forecast(trained_store)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    with trained_store.reading() as session:
        assert latest(session, BASIN, CLOCK.now()).run.id == daily.id
        assert volumes_and_recessions.newest(session, BASIN, CLOCK.now(), SPRING).run.id == run.id
        with pytest.raises(NoForecast, match=r"freshet volumes --basin SYNTH-01 --season 04-01\.\.08-31\."):
            volumes_and_recessions.newest(session, BASIN, CLOCK.now(), Season.parse("04-01..08-31"))
        with pytest.raises(NoForecast):
            volumes_and_recessions.newest(session, BASIN, at, SPRING)


def test_a_hindcast_reports_no_volume(trained_store: Database) -> None:
    run = one_run(trained_store, t0=T0, horizon=60)
    shown = volume(trained_store, run)
    assert shown.raw == shown.calibrated == absent(Reason.HINDCAST_VOLUME)


def test_the_same_request_leads_to_the_same_run(trained_store: Database) -> None:
    params = VolumesParams(basins=[BASIN], t0=T0, season=SPRING)
    first = forecast_volumes(work_of(trained_store, CLOCK), RunRequest(params, key="a job"))
    assert forecast_volumes(work_of(trained_store, CLOCK), RunRequest(params, key="a job")) == first
