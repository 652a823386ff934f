"""A run on a dry spell: nothing falls, all else is as usual, and it is never the forecast of a basin."""

from datetime import UTC, datetime

import numpy as np
import pytest
from sqlalchemy import select

from hydrology.base.absent import absent
from hydrology.base.calendar import Period, day
from hydrology.base.reasons import Reason
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.dataset import BasinForcing, load_forcings
from operations.forecasting.forecast import forecast
from operations.forecasting.weather_ahead import RunDays, WeatherAhead, climatology, dry
from records.alerts import alerts
from records.database.engine import Database
from records.forecasts.latest import NoForecast, latest
from records.runs import run_types, runs
from records.runs.runs import RunRequest
from records.series import series
from records.series.year_rows import SERIES
from runtime.clock import Clock
from testing.country import BASINS, configuration
from testing.records import change_row
from testing.work import work_of
from tests.operations.forecasting.test_forecast import T0, discharge, one_run
from tests.operations.forecasting.test_traces import OTHER_YEARS, VARIABLES

LAST = day("2005-09-30")


def forcing_of(database: Database) -> BasinForcing:
    with database.reading() as session:
        forcing = load_forcings(session, BASINS[:1], configuration())[BASINS[0]]
    assert isinstance(forcing, BasinForcing)
    return forcing


def test_nothing_falls_and_all_else_is_the_mean_of_the_same_days_of_other_years(trained_store: Database) -> None:
    spell = dry(BASINS[0], forcing_of(trained_store), RunDays(T0, 7), LAST)
    assert isinstance(spell, WeatherAhead)
    assert spell.traces is None
    assert spell.forcing.mass.shape == (1, 7)
    assert not spell.forcing.mass.any()
    with trained_store.reading() as session:
        other = [
            series.read_many(session, BASINS[:1], "synthetic", VARIABLES[1:], Period(first, first + 6))[0]
            for first in (day(f"{year}-03-11") for year in OTHER_YEARS)
        ]
    names = configuration().inputs.auxiliary
    usual = np.mean(other, axis=0)[:, [VARIABLES[1:].index(name) for name in names]]
    np.testing.assert_allclose(spell.forcing.auxiliary[0], usual, rtol=1e-6)


def test_without_another_year_there_is_no_run_and_the_reason_is_that_of_an_esp(trained_store: Database) -> None:
    forcing, days, ended = forcing_of(trained_store), RunDays(day("2001-03-10"), 7), day("2001-03-10")
    reason = dry(BASINS[0], forcing, days, ended)
    assert reason == climatology(BASINS[0], forcing, days, ended)
    assert "of no other year" in str(reason)


def test_weather_after_t0_in_its_own_year_changes_nothing(trained_store: Database) -> None:
    before = one_run(trained_store, horizon=20, weather="dry")
    with trained_store.transaction() as session:
        for row in session.execute(select(SERIES).filter_by(year=2004, variable="tmax")).all():
            values = np.frombuffer(row.value_bytes, "<f4").copy()
            values[70:] += 20  # from the day after T0 on
            change_row(session, SERIES, row, value_bytes=values.tobytes())
    after = one_run(trained_store, horizon=20, weather="dry")
    for basin in BASINS:
        assert np.array_equal(discharge(trained_store, before, basin), discharge(trained_store, after, basin))


def test_it_is_a_what_if_and_never_the_forecast_of_a_basin(trained_store: Database) -> None:
    clock = Clock(datetime(2004, 3, 11, 14, tzinfo=UTC))
    (run,) = forecast(
        work_of(trained_store, clock),
        RunRequest(ForecastParams(basins=[*BASINS], t0=T0, weather="dry"), purpose="operational"),
    )
    assert (run.status, run.purpose, run.forcing_kind, run.forcing_cutoff) == ("issued", "what-if", "dry", T0)
    assert run.quantiles_of == "members"
    with trained_store.reading() as session:
        with pytest.raises(NoForecast):
            latest(session, BASINS[0], clock.now())
        assert runs.issued_runs(session, run.version_id, LAST) == []
        assert alerts.standings(session, BASINS) == {}
        summary = runs.basin_of(session, run.id, BASINS[0]).summary
    assert (summary.calibration, summary.traces) == (absent(Reason.HYPOTHETICAL_WEATHER), None)


def test_the_ledger_has_no_precipitation_and_all_water_was_there_at_t0(trained_store: Database) -> None:
    run = one_run(trained_store, horizon=180, weather="dry")
    for basin in BASINS:
        with trained_store.reading() as session:
            arrays = runs.series_of(session, run.id, basin)
            ledgers = runs.ledger_of(session, run.id, basin)
        assert not arrays["precipitation"].values.any()
        origin = arrays[run_types.ORIGIN]
        assert not origin.values[origin.axes["origin"].index("yet_to_fall")].any()
        stored = arrays["cells_at_t0"].values.sum(axis=1, dtype=np.float64)
        for member, ledger in enumerate(ledgers):
            assert ledger.closes
            assert ledger.terms["precipitation"] == 0
            flow, loss, left = (arrays[name].values[member] for name in ("discharge", "loss", "storage"))
            gone = flow.sum(dtype=np.float64) + loss.sum(dtype=np.float64)
            assert gone + left[-1] == pytest.approx(stored[member], abs=ledger.tolerance_mm + 1e-5 * stored[member])
            assert flow.sum(dtype=np.float64) < stored[member]
