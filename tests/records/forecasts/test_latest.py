"""The latest forecast: the newest T0, then the newest issue, of the current version, as the clock sees it."""

import random
from datetime import datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from records.basins.basins import UnknownBasin
from records.database.engine import Database
from records.forecasts import volumes_and_recessions
from records.forecasts.latest import (
    Latest,
    NoForecast,
    NoModel,
    Superseded,
    last_past_days,
    latest,
    latest_many,
    newest_run_keys,
    newest_tried,
    updated_since,
)
from records.runs import run_types
from records.runs.run_types import BasinStatus
from records.versions import promotions
from testing.records import (
    BASIN,
    NOW,
    a_basin,
    a_promoted_version,
    a_reason,
    a_run,
    a_version,
    instant,
    issued,
    not_issued,
)

OLD, NEW = day("2008-09-29"), day("2008-09-30")
LATER = instant("2008-10-01T12:00")


def test_the_newest_t0_comes_before_the_newest_issue(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        new = a_run(session, version, t0=NEW)
        a_run(session, version, t0=OLD, issued_at=LATER, available_at=LATER)
        found = latest(session, BASIN, LATER)
        assert (found.run, found.superseded_by) == (new, None)
        again = a_run(session, version, t0=NEW, issued_at=LATER, available_at=LATER)
        assert latest(session, BASIN, LATER).run == again
        assert found.basin == issued().basin


def test_a_run_that_is_not_available_yet_is_not_seen(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        old = a_run(session, version, t0=OLD)
        a_run(session, version, t0=NEW, available_at=LATER)
        assert latest(session, BASIN, NOW).run == old
        assert latest(session, BASIN, LATER).run.t0 == NEW


def test_only_operational_runs_count(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        old = a_run(session, version, t0=OLD)
        a_run(session, version, t0=NEW, purpose="what-if")
        a_run(session, version, t0=NEW, purpose="reforecast")
        assert latest(session, BASIN, NOW).run == old


def test_a_run_of_an_operator_is_never_the_latest(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        a_run(session, version, t0=NEW, purpose="on-request")
        with pytest.raises(NoForecast, match="has no available forecast"):
            latest(session, BASIN, NOW)
        assert not newest_run_keys(session, [BASIN], NOW)
        old = a_run(session, version, t0=OLD)
        a_run(session, version, t0=NEW, horizon_days=3, purpose="on-request")
        assert latest(session, BASIN, NOW).run == old
        assert latest(session, BASIN, NOW).superseded_by is None
        assert newest_run_keys(session, [BASIN], NOW) == {BASIN: (old.id, OLD)}


@pytest.mark.parametrize(("days", "can_be_latest"), [(1, False), (364, False), (365, False), (366, True), (None, True)])
def test_the_first_year_from_an_empty_store_is_never_the_latest(
    database: Database, days: int | None, can_be_latest: bool
) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        basin = run_types.RunBasin(basin_id=BASIN, status="issued", spin_up_days=days)
        run = a_run(session, version, run_types.BasinResult(basin=basin), t0=OLD)
        if can_be_latest:
            assert latest(session, BASIN, NOW).run == run
            assert newest_run_keys(session, [BASIN], NOW) == {BASIN: (run.id, OLD)}
            return
        assert not newest_run_keys(session, [BASIN], NOW)
        with pytest.raises(NoForecast, match=rf"empty store {days} days? before .* 0\.25 until day 61"):
            latest(session, BASIN, NOW)
        warm = a_run(session, version, t0=day("2008-09-28"))
        found = latest(session, BASIN, NOW)
        assert found.run == warm
        assert found.superseded_by is not None
        assert "empty store" in str(found.superseded_by.reason)


def test_only_the_version_current_for_that_basin_counts(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, "SYNTH-01")
        old = a_promoted_version(session)
        promotions.promote(session, old, ["SYNTH-01"], reason="first", by="someone", at=NOW)
        new = a_version(session).id
        both = issued(), issued("SYNTH-01")
        of_old, of_new = a_run(session, old, *both, t0=OLD), a_run(session, new, *both, t0=NEW)
        assert latest(session, BASIN, NOW).run == of_old
        promotions.promote(session, new, [BASIN], reason="better", by="someone", at=NOW)
        found = latest_many(session, [BASIN, "SYNTH-01", "SYNTH-02"], NOW)
        assert list(found) == [BASIN, "SYNTH-01", "SYNTH-02"]
        assert [one.run for one in found.values() if isinstance(one, Latest)] == [of_new, of_old]
        assert isinstance(found["SYNTH-02"], UnknownBasin)
        promotions.promote(session, old, [BASIN], reason="back", by="someone", at=NOW)
        assert latest(session, BASIN, NOW).run == of_old


def promote(session: Session, version: str, basin: str = BASIN) -> None:
    promotions.promote(session, version, [basin], reason="better", by="someone", at=NOW)


def test_until_a_promoted_version_has_issued_the_forecast_of_the_version_before_stays_the_latest(
    database: Database,
) -> None:
    with database.transaction() as session:
        a_basin(session)
        other = a_basin(session, "SYNTH-01")
        first = a_promoted_version(session)
        promote(session, first, other)
        old = a_run(session, first, issued(), issued(other), t0=OLD)
        second, third = a_version(session, label="second").id, a_version(session, label="third").id
        promote(session, second)
        promote(session, third)  # two promotions in a row: neither has issued
        for at in (NOW, LATER):
            found = latest(session, BASIN, at)
            assert (found.run, found.superseded_by, found.awaited) == (old, None, third)
            assert f"Version {third} was promoted for {BASIN}" in str(found.version_note)
            assert first in str(found.version_note)
        of_other = latest(session, other, NOW)  # promoted for the other basin only
        assert (of_other.run, of_other.awaited, of_other.version_note) == (old, None, None)
        assert newest_run_keys(session, [BASIN, other], NOW) == {other: (old.id, OLD)}
        assert updated_since(session, [BASIN, other], NOW - timedelta(minutes=1), LATER) == [BASIN, other]
        assert last_past_days(session, NOW) == {BASIN: OLD, other: OLD}
        assert newest_tried(session, [BASIN], NOW) == {}  # the promoted version has yet to be run
        tried = a_run(session, third, not_issued("rain is missing"), t0=NEW)
        found = latest(session, BASIN, NOW)
        assert (found.run, found.awaited) == (old, third)
        assert found.superseded_by == Superseded(tried.id, "withheld", a_reason("rain is missing"))
        assert newest_tried(session, [BASIN], NOW)[BASIN][0] == tried
        new = a_run(session, third, t0=OLD - 5, available_at=LATER)
        before, after = latest(session, BASIN, NOW), latest(session, BASIN, LATER)
        assert (before.run, before.awaited) == (old, third)  # it is not available yet
        assert (after.run, after.awaited) == (new, None)
        promote(session, first)  # a roll-back: that version has issued
        assert (latest(session, BASIN, LATER).run, latest(session, BASIN, LATER).awaited) == (old, None)


def test_a_run_without_rain_of_the_version_before_stays_the_newest_of_its_kind(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        first = a_promoted_version(session)
        dry = a_run(session, first, t0=OLD, forcing_kind="dry", purpose="what-if")
        second = a_version(session).id
        promote(session, second)
        a_run(session, second, t0=NEW)
        found = volumes_and_recessions.newest_recession(session, BASIN, NOW)
        assert (found.run, found.awaited) == (dry, second)
        newer = a_run(session, second, t0=OLD - 1, forcing_kind="dry", purpose="what-if")
        found = volumes_and_recessions.newest_recession(session, BASIN, NOW)
        assert (found.run, found.awaited) == (newer, None)


@pytest.mark.parametrize("status", ["withheld", "failed"])
def test_a_newer_run_that_was_not_issued_is_reported(database: Database, status: BasinStatus) -> None:
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, "SYNTH-01")
        version = a_promoted_version(session)
        promotions.promote(session, version, ["SYNTH-01"], reason="first", by="someone", at=NOW)
        old = a_run(session, version, issued(), issued("SYNTH-01"), t0=OLD)
        results = issued("SYNTH-01"), not_issued("member 1 does not close", status=status)
        new = a_run(session, version, *results, t0=NEW)
        found = latest(session, BASIN, NOW)
        assert (found.run, found.basin.status) == (old, "issued")
        assert found.superseded_by == Superseded(new.id, status, a_reason("member 1 does not close"))
        other = latest(session, "SYNTH-01", NOW)
        assert (other.run, other.superseded_by) == (new, None)
        newest = a_run(session, version, t0=NEW, issued_at=LATER, available_at=LATER)
        found = latest(session, BASIN, LATER)
        assert (found.run, found.superseded_by) == (newest, None)


def test_an_older_withheld_run_is_not_reported(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        a_run(session, version, not_issued("open"), t0=OLD)
        a_run(session, version, t0=NEW)
        assert latest(session, BASIN, NOW).superseded_by is None


def test_without_a_forecast_the_answer_gives_the_reason(database: Database) -> None:
    with database.transaction() as session:
        with pytest.raises(UnknownBasin):
            latest(session, BASIN, NOW)
        a_basin(session)
        with pytest.raises(NoModel, match="promote one"):
            latest(session, BASIN, NOW)
        version = a_promoted_version(session)
        with pytest.raises(NoForecast, match="run one"):
            latest(session, BASIN, NOW)
        a_run(session, version, not_issued("rain is missing"))
        with pytest.raises(NoForecast, match=r"was withheld \(rain is missing\)"):
            latest(session, BASIN, NOW)
        a_basin(session, "SYNTH-01")
        lacking = latest_many(session, ["SYNTH-01", BASIN, "USGS-1"], NOW)
        assert [type(one) for one in lacking.values()] == [NoModel, NoForecast, UnknownBasin]
        assert "rain is missing" in str(lacking[BASIN])
        assert latest_many(session, [], NOW) == {}


@pytest.mark.parametrize("seed", range(4))
def test_the_order_in_which_runs_are_stored_does_not_matter(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        stored = []
        for _ in range(12):
            issued_at = NOW + timedelta(hours=chance.randrange(6))
            run = a_run(
                session,
                version,
                issued() if chance.random() < 0.6 else not_issued("rain is missing"),
                t0=OLD + chance.randrange(3),
                filled_days=chance.randrange(3),
                issued_at=issued_at,
                available_at=issued_at + timedelta(hours=chance.randrange(6)),
                purpose="operational" if chance.random() < 0.8 else "on-request",
            )
            stored.append(run)
        for hours in range(13):
            at = NOW + timedelta(hours=hours)
            seen = [run for run in stored if run.purpose == "operational" and run.available_at <= at]
            seen.sort(key=lambda run: (run.t0, run.issued_at, run.id))
            whole = [run for run in seen if run.status == "issued"]
            if not whole:
                assert isinstance(latest_many(session, [BASIN], at)[BASIN], NoForecast)
                assert BASIN not in last_past_days(session, at)
                continue
            found = latest(session, BASIN, at)
            assert found.run == whole[-1]
            assert (found.superseded_by is None) == (whole[-1] == seen[-1])
            assert last_past_days(session, at) == {BASIN: whole[-1].weather_until}
            if at >= stored_until(stored):
                glanced = newest_run_keys(session, [BASIN], at)
                assert glanced == ({BASIN: (whole[-1].id, whole[-1].t0)} if whole[-1] == seen[-1] else {})


def stored_until(stored: list[run_types.Run]) -> datetime:
    return max(run.available_at for run in stored)
