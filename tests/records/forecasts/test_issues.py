"""The record of an issue: the expected basins, the outcome of each, and that a repetition changes nothing."""

from datetime import timedelta

import pytest

from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.forecasts import issues
from records.forecasts.issues import Issue, Settled, Tally, UnknownIssue
from testing.records import BASIN, NOW, a_run, a_version, contents

TODAY = day(NOW.date())
LATER = NOW + timedelta(hours=1)
OTHERS = "SYNTH-01", "SYNTH-02"
NO_WEATHER = absent(Reason.FAILED, message="no weather")


def started(database: Database) -> str:
    """Start an issue of three basins, and return the run of one."""
    with database.transaction() as session:
        version = a_version(session).id
        for basin in (BASIN, *OTHERS):
            basins.upsert(session, Basin(basin, huc="17" if basin == BASIN else "01"))
        run = a_run(session, version).id
        issues.start(session, Issue(day=TODAY, opened_at=NOW), dict.fromkeys((BASIN, *OTHERS), version))
    return run


def test_an_issue_counts_its_basins_by_outcome_and_its_missing_by_reason(database: Database) -> None:
    run = started(database)
    with database.reading() as session:
        assert issues.get(session, TODAY).tally == Tally(3, {"pending": 3}, {})
    with database.transaction() as session:
        issues.settle(session, TODAY, {BASIN: Settled("issued", run), OTHERS[0]: Settled("failed", None, NO_WEATHER)})
        issues.settle(session, TODAY, {OTHERS[1]: Settled("unchanged", run), "SYNTH-99": Settled("issued")}, LATER)
    with database.reading() as session:
        stored = issues.get(session, TODAY)
        assert stored.tally == Tally(3, {"issued": 1, "failed": 1, "unchanged": 1}, {"failed": 1})
        assert (stored.tally.lacking, stored.closed_at, stored.late) == (1, LATER, False)
        (missing,) = issues.basins_of(session, TODAY, issues.MISSING)
        assert (missing.basin_id, str(missing.reason)) == (OTHERS[0], str(NO_WEATHER))
        assert issues.tallies(session, [TODAY], huc="17")[TODAY] == Tally(1, {"issued": 1}, {})
        assert issues.tallies(session, [TODAY], version="another")[TODAY] == Tally()
        assert [one.basin_id for one in issues.basins_of(session, TODAY, huc="01")] == [*OTHERS]


def test_a_repeated_cycle_stores_nothing_and_takes_no_forecast_away(database: Database) -> None:
    run = started(database)
    outcomes = {BASIN: Settled("filled", run), OTHERS[0]: Settled("failed", None, NO_WEATHER)}
    with database.transaction() as session:
        issues.settle(session, TODAY, outcomes, LATER)
        before = contents(session)
        versions = {one.basin_id: one.version_id for one in issues.basins_of(session, TODAY)}
    with database.transaction() as session:
        issues.start(session, Issue(day=TODAY, opened_at=LATER, job_id="another"), versions)
        issues.settle(session, TODAY, {**outcomes, BASIN: Settled("failed", None, NO_WEATHER)}, LATER + timedelta(1))
        assert contents(session) == before


def test_forecasts_belong_to_the_issue_of_today_or_of_the_evening_before(database: Database) -> None:
    started(database)
    with database.reading() as session:
        for hours, belongs in ((0, True), (24, True), (48, False), (-24, False)):
            assert (issues.newest(session, NOW + timedelta(hours=hours)) is not None) == belongs
        assert [one.day for one in issues.page(session)] == [TODAY]
        assert issues.page(session, before=TODAY) == issues.page(session, first=TODAY + 1) == []
        with pytest.raises(UnknownIssue, match="No daily cycle was started on 2000-01-01"):
            issues.get(session, day("2000-01-01"))
