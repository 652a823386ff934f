"""The errors of verified forecasts, split exactly into those of weather, initial state and network."""

from datetime import UTC, datetime

import numpy as np
import pytest

from hydrology.attribution import CAUSES, Measure
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.dataset import load_discharge
from operations.forecasting.forecast import forecast
from operations.verification.verify_issued import verify
from records.database.engine import Database
from records.runs import states
from records.runs.runs import RunRequest
from records.series import series_writer
from records.verification import error_splits
from records.verification.error_splits import ErrorFilter, ForecastError
from records.versions import versions
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.records import a_reason, a_source, daily
from testing.work import work_of
from tests.operations.forecasting.test_forecast_change import BASIN, HORIZON, Array, mean, played

pytestmark = pytest.mark.extended

SETTLED = Clock(datetime(2005, 5, 15, tzinfo=UTC))
ISSUE_DAYS = "2005-03-01..2005-03-04"


def split(database: Database, clock: Clock = SETTLED) -> int:
    (done,) = verify(work_of(database, clock))
    return done.split


def errors(database: Database, basin: str = BASIN, of: Measure = "volume", limit: int = 100) -> list[ForecastError]:
    with database.reading() as session:
        return error_splits.worst(session, of, ErrorFilter(basin=basin), limit)


def hindcast(database: Database, t0: np.datetime64, basin: str = BASIN) -> Array:
    """Return the flow with observed weather from the state of a day, by the data as they are now."""
    params = ForecastParams(basins=[basin], t0=t0, horizon=HORIZON)
    (run,) = forecast(work_of(database, CLOCK), RunRequest(params, purpose="on-request"))
    return mean(database, run, basin)


def flow(database: Database, t0: np.datetime64, basin: str = BASIN) -> Array:
    with database.reading() as session:
        products = versions.newest(session).area_products
        found = load_discharge(session, basin, products, Period(t0 + 1, t0 + HORIZON))
    assert not isinstance(found, Absent)
    return found.astype(np.float64)


@pytest.mark.parametrize("of", error_splits.MEASURES)
def test_the_parts_add_up_and_follow_from_reruns(trained_store: Database, of: Measure) -> None:
    (run,) = played(trained_store, "2005-03-03..2005-03-03")
    assert split(trained_store) == len(BASINS)
    (stored,) = errors(trained_store, of=of)
    part = getattr(stored, of)
    assert (stored.run_id, stored.t0, stored.season, stored.version_id) == (run.id, run.t0, "MAM", run.version_id)
    assert sum(getattr(part, cause) for cause in CAUSES) == pytest.approx(part.error, rel=1e-9)
    measured = np.sum if of == "volume" else np.max
    flows = mean(trained_store, run), hindcast(trained_store, run.t0), flow(trained_store, run.t0)
    issued, perfect, truth = (float(measured(one)) for one in flows)
    assert part.observed == pytest.approx(truth)
    assert part.error == pytest.approx(issued - truth)
    assert part.weather == pytest.approx(issued - perfect, rel=1e-5, abs=1e-7)
    assert part.network == pytest.approx(perfect - truth, rel=1e-5)
    assert part.initial_state == 0


def test_revised_data_are_the_error_of_the_initial_state(trained_store: Database) -> None:
    (run,) = played(trained_store, "2005-03-03..2005-03-03")
    before = hindcast(trained_store, run.t0)
    with trained_store.transaction() as session:
        rain = daily("2005-02-20", *[40.0] * 5)
        series_writer.write(session, BASIN, "synthetic", "precipitation", rain, a_source(session), CLOCK.now())
        states.invalidate(session, BASIN, "synthetic", day("2005-02-20"), a_reason("revised"), CLOCK.now())
    split(trained_store)
    (stored,) = errors(trained_store)
    after = hindcast(trained_store, run.t0)
    assert stored.volume.initial_state == pytest.approx(float((before - after).sum()), rel=1e-5)
    assert abs(stored.volume.initial_state) > 0.01
    assert stored.volume.weather == pytest.approx(float((mean(trained_store, run) - before).sum()), rel=1e-4, abs=1e-7)
    assert stored.volume.network == pytest.approx(float((after - flow(trained_store, run.t0)).sum()), rel=1e-5)


def test_a_forecast_is_split_once_when_all_its_days_have_settled(trained_store: Database) -> None:
    played(trained_store, ISSUE_DAYS)
    early = Clock(datetime(2005, 4, 5, tzinfo=UTC))
    first = split(trained_store, early)
    assert 0 < first < 4 * len(BASINS)
    assert split(trained_store, early) == 0
    assert first + split(trained_store) == 4 * len(BASINS)
    assert split(trained_store) == 0


def test_the_worst_of_overlapping_forecasts_is_listed_and_the_means_are_of_all(trained_store: Database) -> None:
    played(trained_store, ISSUE_DAYS)
    split(trained_store)
    with trained_store.reading() as session:
        listed = error_splits.worst(session, "peak", ErrorFilter(), 10)
        assert error_splits.count(session, ErrorFilter()) == 4 * len(BASINS)
        assert error_splits.count(session, ErrorFilter(season="JJA")) == 0
        means = error_splits.means(session, ErrorFilter(basin=BASIN))
        assert error_splits.means(session, ErrorFilter(season="JJA")) is None
    assert sorted(one.basin_id for one in listed) == [*BASINS]
    sizes = [abs(one.peak.error) for one in listed]
    assert sizes == sorted(sizes, reverse=True)
    assert means is not None
    (worst,) = (one for one in listed if one.basin_id == BASIN)
    assert 0 < means["peak"].error <= abs(worst.peak.error)


def test_days_that_the_weights_were_fitted_to_are_left_out(trained_store: Database) -> None:
    played(trained_store, "2003-03-03..2003-03-03")
    assert split(trained_store) == 0
    assert errors(trained_store) == []
