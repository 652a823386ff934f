"""A day that no cycle was run on is issued afterwards with what was known then, and is never the latest."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensions.receipts.reproduce import reproduce
from hydrology.base.calendar import Day, as_date, day
from hydrology.base.errors import InvalidInput
from operations.daily import issue_record
from operations.daily.daily_cycle import Cycle
from operations.verification.verify_issued import verify
from records.database.engine import Database
from records.forecasts import issues
from records.forecasts.latest import latest
from records.runs import runs
from records.runs.run_types import Run
from testing.country import BASINS
from testing.records import contents
from testing.work import work_of
from tests.operations.live import FORECAST, Station, station

MISSED = day("2005-06-02")
FOR_READERS = "newest_runs", "alerts", "alert_basins", "alert_changes", "held_alerts", "deliveries"


@pytest.fixture
def here(live_file: Path, tmp_path: Path) -> Iterator[Station]:
    database = Database(f"sqlite:///{shutil.copy(live_file, tmp_path / 'live.sqlite')}")
    with station(database, tmp_path) as at:
        at.add("ahead", FORECAST)
        at.cycle()
        yield at
    database.close()


def late(at: Station, missed: Day = MISSED) -> Cycle:
    return at.cycle(purpose="late", day=missed)


def flows(database: Database, run: Run) -> dict[tuple[str, str], Any]:
    with database.reading() as session:
        return {
            (basin, name): one.values
            for basin in BASINS
            for name, one in runs.series_of(session, run.id, basin, ["discharge_quantiles", "storage"]).items()
        }


def test_a_late_issue_is_what_a_cycle_of_its_day_would_have_issued_without_new_data(
    here: Station, live_file: Path, tmp_path: Path
) -> None:
    copy = Database(f"sqlite:///{shutil.copy(live_file, tmp_path / 'twin.sqlite')}")
    twin, before = replace(here, database=copy), here.world.now
    twin.add("ahead", FORECAST)
    twin.cycle()
    here.world.faults = {MISSED: ["meteo-400"]}
    (then,) = twin.cycle(days=1).runs
    here.world.now = before
    here.cycle(days=2)
    (now,) = late(here).runs
    assert (now.purpose, str(now.t0), now.filled_days) == ("late", "2005-05-31", 1)
    same = ("t0", "horizon_days", "filled_days", "forcing_kind", "version_id", "t0_age_days")
    assert [getattr(now, name) for name in same] == [getattr(then, name) for name in same]
    of_now, of_then = flows(here.database, now), flows(copy, then)
    assert of_now.keys() == of_then.keys()
    for key, values in of_now.items():
        np.testing.assert_array_equal(values, of_then[key])
    copy.close()


def test_a_late_issue_is_marked_and_is_never_the_latest(here: Station) -> None:
    (newest,) = here.cycle(days=2).runs
    with here.database.reading() as session:
        before = {name: contents(session)[name] for name in FOR_READERS}
    (run,) = late(here).runs
    at_its_end = datetime.combine(as_date(MISSED), time.max, UTC)
    assert (run.issued_at, run.available_at) == (at_its_end, here.world.now)
    with here.database.reading() as session:
        assert {name: contents(session)[name] for name in FOR_READERS} == before
        assert {latest(session, basin, here.clock.now()).run.id for basin in BASINS} == {newest.id}
        issue, others = issues.get(session, MISSED), issues.page(session)
        assert (issue.late, issue.closed_at, issue.tally.counts) == (True, here.world.now, {"filled": len(BASINS)})
        assert {str(one.day): one.late for one in others} == {
            "2005-06-01": False,
            "2005-06-02": True,
            "2005-06-03": False,
        }
        assert {one.run_id for one in issues.basins_of(session, MISSED)} == {run.id}
        assert runs.issued_runs(session, run.version_id, run.t0)[-1].id == run.id


def test_what_is_repeated_or_was_interrupted_issues_nothing_twice(
    here: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.cycle(days=2)

    def lost(*_: Any, **__: Any) -> None:
        raise RuntimeError("The process is lost once its runs are stored.")

    with monkeypatch.context() as patched:
        patched.setattr(issue_record, "settle", lost)
        with pytest.raises(RuntimeError):
            late(here)
    with here.database.reading() as session:
        stored = [run.id for run in runs.list_runs(session, purpose="late")]
    assert len(stored) == 1
    assert [run.id for run in late(here).runs] == stored
    with here.database.reading() as session:
        assert issues.get(session, MISSED).tally.counts == {"filled": len(BASINS)}
        before = contents(session)
    assert late(here).runs == []
    with here.database.reading() as session:
        assert contents(session) == before


def test_a_day_that_has_not_ended_is_not_issued_late(here: Station) -> None:
    for missed in ("2005-06-01", "2005-06-02"):
        with pytest.raises(InvalidInput, match=f"{missed} has not ended by the clock"):
            late(here, day(missed))


@pytest.mark.extended
def test_a_late_issue_completes_a_cycle_that_was_lost_and_is_reproduced_and_verified(here: Station) -> None:
    here.world.now = here.world.now.replace(day=2)
    issue_record.start(work_of(here.database, here.clock), "a job that was lost")
    here.cycle(days=1)
    (run,) = late(here).runs
    with here.database.reading() as session:
        assert (issues.get(session, MISSED).late, issues.get(session, MISSED).tally.lacking) == (True, 0)
    assert reproduce(work_of(here.database, here.clock, here.settings), run.id).reproduced == len(BASINS)
    here.world.now = here.world.now.replace(month=9)
    (verified,) = verify(work_of(here.database, here.clock, here.settings))
    assert {*verified.basins} | {*verified.left_out} == {*BASINS}
