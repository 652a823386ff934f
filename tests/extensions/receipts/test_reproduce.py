"""A stored run computed again has the stored bits; where it has not, the cause is named."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import delete, update

from extensions.receipts.reproduce import Receipt, reproduce
from hydrology.base.calendar import Period, day
from jobspec.changes import Changes, Storm
from jobspec.jobs.forecasting import ForecastParams, ReplayParams, WhatIfParams
from models.nets.compiled import loader
from operations.daily.replay import replay
from operations.forecasting.forecast import forecast
from operations.verification.calibrate import calibrate
from operations.what_if import what_if
from records.database.engine import Database
from records.runs import run_types, runs, states
from records.runs.runs import RunRequest
from records.runs.tables import STATES
from records.series import series_writer
from records.series.year_rows import ARRIVALS, REVISIONS
from testing.country import BASINS, CLOCK
from testing.records import a_reason, a_source, contents, daily
from testing.work import work_of

pytestmark = pytest.mark.extended

T0 = day("2004-03-10")
ISSUE_DAYS = ReplayParams(period=Period.parse("2005-04-02..2005-04-03"), horizon=5, traces=3)


def issued(database: Database, **request: object) -> run_types.Run:
    (run,) = forecast(
        work_of(database, CLOCK), RunRequest(ForecastParams.model_validate({"basins": [*BASINS], "t0": T0} | request))
    )
    return run


def revise(database: Database, of: str, mm: float, at: datetime | None = None) -> None:
    """Change the precipitation of a day in the first basin."""
    with database.transaction() as session:
        rain, when = daily(of, mm), at or CLOCK.now()
        series_writer.write(session, BASINS[0], "synthetic", "precipitation", rain, a_source(session), when)
        states.invalidate(session, BASINS[0], "synthetic", day(of), a_reason("revised"), when)


def causes(receipt: Receipt) -> set[str]:
    return {cause for one in receipt.basins for difference in one.different for cause in difference.causes}


def assert_equal(receipt: Receipt) -> None:
    assert receipt.reproduced == len(receipt.basins) == len(BASINS)
    assert [one.different for one in receipt.basins] == [()] * len(BASINS)
    assert all({"discharge", "storage", "cells_at_t0", "ledger"} & {*one.equal} for one in receipt.basins)


@pytest.mark.parametrize("weather", ["observed", "climatology", "dry"])
def test_a_run_computed_again_has_the_stored_bits_and_stores_nothing(trained_store: Database, weather: str) -> None:
    run = issued(trained_store, weather=weather, age=True)
    with trained_store.reading() as session:
        before = contents(session)
    receipt = reproduce(work_of(trained_store), run.id)
    assert_equal(receipt)
    with trained_store.reading() as session:
        assert contents(session) == before
        stored = runs.series_of(session, run.id, BASINS[0])
    assert {*receipt.basins[0].equal} == {*stored}


def test_replayed_and_what_if_runs_are_computed_with_their_weather_and_changes(trained_store: Database) -> None:
    changes = Changes(degrees=1.5, storm=Storm(mm=30, lead=2))
    asked = WhatIfParams(basins=[*BASINS], t0=T0, changes=changes)
    for run in [
        *replay(work_of(trained_store, CLOCK), RunRequest(ISSUE_DAYS)).runs,
        *what_if(work_of(trained_store, CLOCK), RunRequest(asked)),
    ]:
        assert_equal(reproduce(work_of(trained_store), run.id))


def test_basins_can_be_chosen(trained_store: Database) -> None:
    run = issued(trained_store)
    (only,) = reproduce(work_of(trained_store), run.id, [BASINS[1]]).basins
    assert (only.basin_id, only.reproduced) == (BASINS[1], True)


def test_the_forcing_before_a_revision_is_restored_from_the_log(trained_store: Database) -> None:
    issued(trained_store, t0=day("2004-02-20"))
    run = issued(trained_store)
    revise(trained_store, "2004-03-01", 77.0)
    assert_equal(reproduce(work_of(trained_store), run.id))
    issued(trained_store, t0=day("2004-03-09"))
    assert_equal(reproduce(work_of(trained_store), run.id))


def test_a_revision_by_the_clock_of_an_archive_is_restored_too(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        session.execute(update(ARRIVALS).values(arrived_at=datetime(2005, 1, 1, tzinfo=UTC)))
    (run, _) = replay(work_of(trained_store, CLOCK), RunRequest(ISSUE_DAYS)).runs
    revise(trained_store, "2005-03-01", 77.0, at=datetime(2005, 4, 3, tzinfo=UTC))
    assert_equal(reproduce(work_of(trained_store), run.id))


def test_inputs_whose_earlier_values_are_lost_are_named_as_the_cause(trained_store: Database) -> None:
    run = issued(trained_store)
    revise(trained_store, "2004-03-01", 77.0)
    with trained_store.transaction() as session:
        session.execute(delete(REVISIONS))
    receipt = reproduce(work_of(trained_store), run.id)
    revised, *others = receipt.basins
    assert (revised.basin_id, revised.reproduced) == (BASINS[0], False)
    assert revised.worst is not None
    assert revised.worst.causes == ("inputs",)
    assert revised.worst.largest is not None
    assert revised.worst.largest > 0
    assert all(one.reproduced for one in others)


def test_a_parent_state_that_is_gone_is_computed_again(trained_store: Database) -> None:
    issued(trained_store, t0=day("2004-02-20"))
    run = issued(trained_store)
    with trained_store.transaction() as session:
        session.execute(delete(STATES).where(STATES.c.day == day("2004-02-20")))
    assert_equal(reproduce(work_of(trained_store), run.id))


def test_an_error_model_fitted_later_is_no_difference_of_the_run(trained_store: Database) -> None:
    version = issued(trained_store, horizon=2).version_id
    calibrate(work_of(trained_store, CLOCK), version, BASINS, Period.parse("2003-10-01..2004-09-30"))
    calibrated = issued(trained_store, horizon=3)
    assert_equal(reproduce(work_of(trained_store), calibrated.id))
    calibrate(work_of(trained_store, CLOCK), version, BASINS, Period.parse("2004-10-01..2005-09-30"))
    receipt = reproduce(work_of(trained_store), calibrated.id)
    assert receipt.reproduced == len(BASINS)
    assert causes(receipt) == {"calibration"}


def test_another_program_is_named_where_the_last_digits_differ(
    trained_store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = issued(trained_store)
    monkeypatch.setattr(loader, "library", lambda: None)
    receipt = reproduce(work_of(trained_store), run.id)
    assert receipt.program.endswith("recurrence torch")
    assert receipt.program != run.program
    assert causes(receipt) == {"program"}
    assert all(one.relative is not None and one.relative < 1e-3 for basin in receipt.basins for one in basin.different)
