"""A measured flow updates the latest forecast of a basin, once, for all readers, until the next issue."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import day
from hydrology.base.errors import Problem
from hydrology.base.units import NoArea, mm_per_day_to_m3s
from hydrology.uncertainty.error_model import LEVELS
from jobspec.changes import NewAdjustment
from operations.alerts.decide_alerts import carry_out, decide, read_published
from records.access.audit import Actor
from records.alerts import alerts
from records.database.engine import Database
from records.database.stored import read
from records.forecasts import adjustments, latest
from records.forecasts.latest import NoForecast
from records.outlooks import reader, updates
from records.outlooks.reader import Outlook
from records.outlooks.updates import NotUpdatable
from records.runs.run_summary import RunSummary
from records.runs.tables import ADJUSTMENTS, Adjustment
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_reason, a_run
from testing.work import work_of
from tests.app import factories
from tests.app.alerts.test_alerts import fill_records

HOUR = timedelta(hours=1)
AT, KEY = NOW - 2 * HOUR, Actor("Ann", "key")


@pytest.fixture
def run(database: Database) -> str:
    """The latest forecast, whose first day is that of the clock."""
    version = fill_records(database)
    with database.transaction() as session:
        return a_run(session, version, factories.forecast(), t0=day("2008-09-30"), horizon_days=3).id


def m3s(basin: str, database: Database, depth: float) -> float:
    with database.reading() as session:
        area = latest.latest(session, basin, NOW).basin.area
    assert area is not None
    return float(mm_per_day_to_m3s(depth, area=area))


def update(database: Database, at: datetime = AT, depth: float = 5.0, now: datetime = NOW) -> Adjustment:
    flow = m3s(BASIN, database, depth)
    with database.transaction() as session:
        return updates.update(session, BASIN, at, flow, KEY, now)[0]


def outlook(database: Database, at: datetime = NOW) -> Outlook:
    with database.reading() as session:
        return reader.outlook(session, BASIN, at)


def median(found: Outlook) -> float:
    assert not isinstance(found.published, Absent)
    first = found.published.days.median[0]
    assert first is not None
    return first


def rows(session: Session) -> list[Adjustment]:
    return read(session, Adjustment, ADJUSTMENTS.select())


def test_every_reader_of_the_outlook_gets_the_update_and_its_label(database: Database, run: str) -> None:
    issued = median(outlook(database))
    stored = update(database)
    found = outlook(database)
    assert stored.words == f"Updated with the flow of 04:00 UTC, {m3s(BASIN, database, 5.0):.3g} m³/s."
    assert (stored.run_id, stored.measured_at) == (run, AT)
    assert median(found) > issued
    assert found.adjustment == stored
    assert not isinstance(found.run_outlook, Absent)
    assert found.run_outlook.update == stored.words
    assert found.run_outlook.issued.days.median[0] == issued
    higher = outlook(database)
    assert (higher.peak_m3s or 0) > 0


def test_a_flow_observed_before_the_last_past_day_is_not_taken_for_that_of_it(database: Database) -> None:
    version, found = fill_records(database), list[Adjustment]()
    for flow_day, flow in (("2008-09-29", 0.1), ("2008-09-29", 300.0), ("2008-09-30", 300.0)):
        calibration = replace(factories.CALIBRATION, last_flow_day=flow_day, last_flow_mm=flow)
        result = factories.forecast(summary=replace(factories.SUMMARY, calibration=calibration))
        with database.transaction() as session:
            a_run(session, version, result, t0=day("2008-09-30"), horizon_days=3)
        found.append(update(database))
    assert found[0].moves == found[1].moves != found[2].moves


@pytest.mark.usefixtures("run")
def test_the_same_flow_again_or_an_older_one_changes_nothing(database: Database) -> None:
    stored = update(database)
    before = outlook(database)
    assert update(database, now=NOW + HOUR / 2) == stored
    assert update(database, AT - HOUR, depth=0.5) == stored
    assert outlook(database) == before


@pytest.mark.usefixtures("run")
def test_a_newer_flow_takes_the_place_of_the_one_before(database: Database) -> None:
    first = update(database)
    second = update(database, AT + HOUR, depth=0.5, now=NOW + HOUR / 2)
    with database.reading() as session:
        assert rows(session) == [second]
    assert median(outlook(database, NOW + HOUR)) < median_of_update(first)
    assert outlook(database, NOW + HOUR).adjustment == second


def median_of_update(stored: Adjustment) -> float:
    level = LEVELS.index(0.5)
    return float(stored.of_flow.adjusted(factories.CALIBRATED.astype(float))[level, 0])


@pytest.mark.usefixtures("run")
def test_the_next_issue_replaces_it(database: Database) -> None:
    update(database)
    with database.transaction() as session:
        version = latest.latest(session, BASIN, NOW).run.version_id
        a_run(session, version, factories.forecast(), t0=day("2008-10-01"), horizon_days=3)
    found = outlook(database)
    assert found.adjustment is None
    assert not isinstance(found.run_outlook, Absent)
    assert found.run_outlook.update is None


@pytest.mark.usefixtures("run")
def test_before_the_update_the_outlook_is_as_issued(database: Database) -> None:
    issued = outlook(database)
    update(database, now=NOW + HOUR)
    assert median(outlook(database)) == median(issued)
    assert outlook(database).adjustment is None


def test_what_a_forecaster_published_stays_and_a_forecaster_can_publish_after_it(database: Database, run: str) -> None:
    update(database)
    with database.transaction() as session:
        new = NewAdjustment(run=run, factor=2.0, words="A gate.")
        drafted = adjustments.create(session, BASIN, new, "Ann", "key", now=NOW, wall=NOW + HOUR)
        adjustments.publish(session, drafted.id, "Ann", None, None, NOW + HOUR)
    later = NOW + 2 * HOUR
    assert outlook(database, later).adjustment == adjustment_of(database, drafted.id)
    assert update(database, AT + HOUR, now=later).id == drafted.id


def adjustment_of(database: Database, name: str) -> Adjustment:
    with database.reading() as session:
        return adjustments.get(session, name)


@pytest.mark.usefixtures("run")
def test_alerts_are_decided_by_the_issue_alone(database: Database) -> None:
    work = work_of(database, Clock(NOW))
    decide(work, [BASIN])
    with database.reading() as session:
        decided = alerts.standings(session, [BASIN])
        newest = latest.latest(session, BASIN, NOW)
        chances = read_published(session, [(newest.run, newest.basin)])
    update(database, depth=20.0)
    assert carry_out(work) == []
    assert decide(work, [BASIN]) == []
    with database.reading() as session:
        assert not adjustments.is_any_undecided(session)
        assert alerts.standings(session, [BASIN]) == decided
        assert read_published(session, [(newest.run, newest.basin)]) == chances


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("at", "depth", "words"),
    [
        (NOW + HOUR, 5.0, "not of the last 24 hours"),
        (NOW - 25 * HOUR, 5.0, "not of the last 24 hours"),
        (NOW - 10 * HOUR, 5.0, "not one of its days ahead"),  # the day before its first
        (AT, 5000.0, "over 20 times"),
        (AT, -1.0, "below 0"),
        (AT, np.nan, "below 0"),
    ],
)
def test_a_flow_that_cannot_be_is_refused_and_nothing_is_stored(
    database: Database, at: datetime, depth: float, words: str
) -> None:
    with pytest.raises(NotUpdatable, match=words):
        update(database, at, depth)
    with database.reading() as session:
        assert rows(session) == []


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [({"area_m2": None, "area_name": None}, NoArea), ({"status": "withheld", "reason": a_reason("no")}, NoForecast)],
)
def test_a_basin_without_an_area_or_a_forecast_is_refused(
    database: Database, chosen: dict[str, Any], problem: type[Problem]
) -> None:
    version = fill_records(database)
    with database.transaction() as session:
        a_run(session, version, factories.forecast(**chosen), t0=day("2008-09-30"), horizon_days=3)
    with pytest.raises(problem), database.transaction() as session:
        updates.update(session, BASIN, AT, 5.0, KEY, NOW)


def test_an_uncalibrated_forecast_is_refused(database: Database) -> None:
    version = fill_records(database)
    result = factories.forecast(summary=RunSummary(calibration=a_reason("No error model.")))
    bare = [one for one in result.series if one.variable not in ("discharge_calibrated", "discharge_paths")]
    with database.transaction() as session:
        whole = type(result)(basin=result.basin, series=bare, ledgers=result.ledgers)
        a_run(session, version, whole, t0=day("2008-09-30"), horizon_days=3)
    with pytest.raises(NotUpdatable, match="not calibrated"):
        update(database)
