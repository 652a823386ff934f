"""The age of the water of a forecast: in which season it fell."""

import numpy as np
import numpy.typing as npt
import pytest
from sqlalchemy import delete, select

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period, day
from hydrology.base.reasons import Reason
from hydrology.water.storage import Ages
from records.database.engine import Database
from records.runs import run_types, runs
from records.runs.tables import STATES
from records.series.year_rows import SERIES
from testing.country import BASINS
from testing.records import change_row
from tests.operations.forecasting.test_forecast import T0, discharge, one_run
from tests.operations.forecasting.test_origin import origin

Parts = dict[str, npt.NDArray[np.float32]]
NAMES = ("older", "2003-MAM", "2003-JJA", "2003-SON", "2004-DJF", "2004-MAM", "yet_to_fall")


def parts_of(database: Database, run: run_types.Run, basin: str = BASINS[0]) -> Parts:
    """Return the means by age, (leads,)."""
    with database.reading() as session:
        shown = runs.series_of(session, run.id, basin)[run_types.AGE]
    return dict(zip(shown.axes["age"], shown.values[:, 0], strict=True))


def reason_of(database: Database, run: run_types.Run, basin: str = BASINS[0]) -> Absent | None:
    with database.reading() as session:
        assert run_types.AGE not in runs.series_of(session, run.id, basin)
        return runs.basin_of(session, run.id, basin).summary.age_reason


def write_rain(database: Database, days: Period, depth: float) -> None:
    """Let the same depth fall on each of some days of one year, in every basin."""
    first = np.datetime64(str(days.first)[:4])
    at = slice(*((end - first.astype("datetime64[D]")).astype(int) for end in (days.first, days.last + 1)))
    with database.transaction() as session:
        for row in session.execute(select(SERIES).filter_by(year=int(str(first)), variable="precipitation")).all():
            values = np.frombuffer(row.value_bytes, "<f4").copy()
            values[at] = depth
            change_row(session, SERIES, row, value_bytes=values.tobytes())


@pytest.mark.parametrize("weather", ["observed", "climatology", "dry"])
def test_the_parts_add_up_to_the_discharge_and_what_has_yet_to_fall_is_that_of_the_origin(
    trained_store: Database, weather: str
) -> None:
    run = one_run(trained_store, horizon=20, weather=weather, age=True)
    for basin in BASINS:
        parts = parts_of(trained_store, run, basin)
        assert tuple(parts) == Ages(T0).names == NAMES
        flow = discharge(trained_store, run, basin)
        whole = flow.reshape(-1, flow.shape[-1]).mean(axis=0)
        np.testing.assert_allclose(np.sum([*parts.values()], axis=0), whole, rtol=2e-6)
        by_origin, _ = origin(trained_store, run, basin)
        np.testing.assert_allclose(parts["yet_to_fall"], by_origin["yet_to_fall"], rtol=1e-5, atol=1e-9)
        assert all((part >= 0).all() for part in parts.values())
        assert parts["2004-DJF"].all()
        with trained_store.reading() as session:
            assert runs.basin_of(session, run.id, basin).summary.age_reason is None


def test_asking_for_it_changes_nothing_else(trained_store: Database) -> None:
    without, shown = one_run(trained_store, horizon=20), one_run(trained_store, horizon=20, age=True)
    assert reason_of(trained_store, without) == absent(Reason.AGE_NOT_REQUESTED)
    with trained_store.reading() as session:
        before, after = (runs.series_of(session, run.id, BASINS[0]) for run in (without, shown))
    assert set(after) - set(before) == {run_types.AGE}
    assert all(np.array_equal(after[name].values, before[name].values) for name in before)


def test_a_season_without_rain_has_no_part_and_one_with_rain_has(trained_store: Database) -> None:
    for dry in ("2003-12-01..2003-12-31", "2004-01-01..2004-02-29"):
        write_rain(trained_store, Period.parse(dry), 0.0)
    parts = parts_of(trained_store, one_run(trained_store, age=True))
    assert not parts["2004-DJF"].any()
    assert all(parts[name].any() for name in ("2003-JJA", "2003-SON", "yet_to_fall"))


def test_it_does_not_depend_on_the_state_that_the_past_begins_from(trained_store: Database) -> None:
    from_state = parts_of(trained_store, one_run(trained_store, age=True))
    with trained_store.transaction() as session:
        session.execute(delete(STATES).where(STATES.c.day < Ages(T0).begin))
    from_empty = parts_of(trained_store, one_run(trained_store, age=True))
    assert all(np.array_equal(from_state[name], from_empty[name]) for name in NAMES)


@pytest.mark.parametrize(("t0", "shown"), [("2001-09-29", False), ("2001-10-01", True), ("2001-12-31", True)])
def test_a_record_of_less_than_a_year_reports_no_age(trained_store: Database, t0: Day, shown: bool) -> None:
    run = one_run(trained_store, t0=day(t0), age=True)
    assert run.status == "issued"
    if shown:
        parts = parts_of(trained_store, run)
        np.testing.assert_allclose(
            np.sum([*parts.values()], axis=0), discharge(trained_store, run, BASINS[0]).mean(0), rtol=2e-6
        )
    else:
        assert reason_of(trained_store, run) == absent(Reason.RECORD_TOO_SHORT_FOR_AGE, days=363)


def test_a_past_that_does_not_end_in_the_stored_state_reports_no_age(trained_store: Database) -> None:
    one_run(trained_store)
    write_rain(trained_store, Period(day("2004-01-10"), day("2004-01-10")), 50.0)  # without the stored states noticing
    run = one_run(trained_store, age=True)
    assert run.status == "issued"
    assert reason_of(trained_store, run) == absent(Reason.OTHER_PAST)
