"""A day that its source's calendar lacks, through to a forecast and an evaluation that run over it."""

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.series import DailySeries, Flag, with_lacking_days
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from operations.forecasting.plans import NothingToForecast
from operations.verification.evaluate import evaluate
from records.database.engine import Database
from records.runs import runs
from records.runs.runs import RunRequest
from records.series import revisions, series, series_writer
from records.versions import versions
from testing.country import CLOCK
from testing.records import NOW
from testing.work import work_of

BASIN = "SYNTH-02"
LEAP_DAY = int((day("2004-12-31") - day("2004-01-01")).astype(int))


def store(database: Database, *, filled: bool) -> set[str]:
    """Take 31 December 2004 out of a basin's weather, as Daymet lacks it, and fill it by the rule or leave it."""
    with database.transaction() as session:
        source = revisions.register_source(session, "daymet", "0" * 64, 1, NOW)
        entries = [entry for entry in series.catalogue(session, BASIN) if entry.product == "synthetic"]
        for entry in entries:
            year = series.read(session, BASIN, "synthetic", entry.variable, Period.parse("2004-01-01..2004-12-31"))
            assert year is not None
            values, flags = year.values.copy(), year.flags.copy()
            values[LEAP_DAY], flags[LEAP_DAY] = np.nan, Flag.ABSENT if filled else Flag.MISSING
            lacking = DailySeries(year.start, values, flags, year.unit)
            shown = with_lacking_days(lacking, day("2005-01-01")) if filled else lacking
            series_writer.write(session, BASIN, "synthetic", entry.variable, shown, source, NOW)
    return {entry.variable for entry in entries}


def test_a_forecast_and_an_evaluation_run_over_the_filled_day_and_mark_it(trained_store: Database) -> None:
    variables = store(trained_store, filled=True)
    (run,) = forecast(
        work_of(trained_store, CLOCK), RunRequest(ForecastParams(basins=[BASIN], t0=day("2005-01-05"), horizon=5))
    )
    (before,) = forecast(
        work_of(trained_store, CLOCK), RunRequest(ForecastParams(basins=[BASIN], t0=day("2004-12-20"), horizon=5))
    )
    with trained_store.reading() as session:
        over, until = (runs.basin_of(session, one.id, BASIN).summary.filled_forcing for one in (run, before))
        version = versions.newest(session).id
    assert run.status == "issued"
    assert set(over) <= variables
    assert "precipitation" in over
    assert set(over.values()) == {1}
    assert until == {}
    scores = evaluate(work_of(trained_store, CLOCK), version, Period.parse("2004-10-01..2005-09-30"), [BASIN])
    assert scores


def test_without_the_rule_every_forecast_would_end_before_the_day(trained_store: Database) -> None:
    store(trained_store, filled=False)
    with pytest.raises(NothingToForecast, match="2004-12-31"):
        forecast(
            work_of(trained_store, CLOCK), RunRequest(ForecastParams(basins=[BASIN], t0=day("2005-01-05"), horizon=5))
        )
