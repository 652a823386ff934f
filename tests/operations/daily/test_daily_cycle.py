"""The daily cycle: what came is fetched, the states advance, and every basin gets its newest forecast."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hydrology.base.calendar import Period, day
from hydrology.weather.bridge import BRIDGED
from jobspec.jobs.data import BridgeFit
from operations.daily.daily_cycle import Cycle
from operations.states.advance_states import ADVANCING
from operations.weather.fit_bridges import fit
from records.basins import basins
from records.database.engine import Database
from records.forecasts.latest import Latest, latest
from records.runs import runs, states
from records.runs.filled_note import weather_note
from records.series import series
from testing.country import BASINS
from testing.feed_services import meteo
from testing.records import contents
from testing.work import work_of
from tests.operations.live import FORECAST, ISSUE_DAY, PRODUCT, Station, quiet, station

DRY, MIDDLE, WET = BASINS


@pytest.fixture
def here(live_file: Path, tmp_path: Path) -> Iterator[Station]:
    database = Database(f"sqlite:///{shutil.copy(live_file, tmp_path / 'live.sqlite')}")
    with station(database, tmp_path) as at:
        at.add("ahead", FORECAST)
        yield at
    database.close()


def reported(cycle: Cycle) -> dict[str, tuple[str, str]]:
    return {basin.basin: (basin.status, str(basin.t0)) for basin in cycle.basins}


def read_latest(at: Station, basin: str) -> Latest:
    with at.database.reading() as session:
        return latest(session, basin, at.clock.now())


def trained_store(at: Station) -> dict[str, Any]:
    """Return all stored rows but when feeds were last asked."""
    with at.database.reading() as session:
        return {name: rows for name, rows in contents(session).items() if name not in ("feeds", "feed_basins")}


def test_each_basin_gets_a_daily_forecast_from_the_day_before_with_a_weather_forecast(here: Station) -> None:
    first, second = here.cycle(), here.cycle(days=1)
    assert reported(first) == dict.fromkeys(BASINS, ("issued", "2005-05-31"))
    assert reported(second) == dict.fromkeys(BASINS, ("issued", "2005-06-01"))
    newest = read_latest(here, WET)
    assert newest.run.id == second.runs[0].id
    assert (newest.run.forcing_kind, newest.run.purpose) == ("supplied", "operational")
    assert newest.run.weather is not None
    assert (newest.run.weather.source, newest.run.weather.model) == ("open-meteo", "ecmwf_ifs")
    assert newest.basin.parent_day == day("2005-05-31")


def test_a_forecast_names_why_a_newer_weather_forecast_was_not_taken(
    here: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of the grid stayed at an older run: the basin goes on with its forecast of the day before, labelled."""
    here.cycle()
    right = meteo._place

    def place(*asked: Any) -> dict[str, Any]:
        answer = right(*asked)
        if asked[1].endswith("forecast") and asked[3] == 1:
            answer["daily"]["precipitation_sum"][-5:] = [None] * 5
        return answer

    monkeypatch.setattr(meteo, "_place", place)
    cycle = here.cycle(days=1)
    assert {status for status, _ in reported(cycle).values()} == {"issued"}
    held, other = read_latest(here, MIDDLE), read_latest(here, WET)
    note = weather_note(held.run, held.basin.summary)
    assert held.run.weather is not None
    assert other.run.weather is not None
    assert held.run.weather.reference_time < other.run.weather.reference_time
    assert note is not None
    assert (
        f"A newer weather forecast was not taken: ecmwf_ifs of {MIDDLE}: its days end 5 earlier than the others': "
        "an older run?"
    ) in note
    assert weather_note(other.run, other.basin.summary) is None


def test_a_second_cycle_of_the_day_stores_nothing(here: Station) -> None:
    first = here.cycle()
    before = trained_store(here)
    again = here.cycle()
    assert reported(again) == dict.fromkeys(BASINS, ("unchanged", "2005-05-31"))
    assert [basin.run for basin in again.basins] == [first.runs[0].id] * len(BASINS)
    assert trained_store(here) == before


@pytest.mark.extended
def test_a_basin_whose_data_stop_retains_its_forecast_and_is_reported_stale_while_the_others_go_on(
    here: Station,
) -> None:
    here.stop(DRY, day("2005-06-01"))
    here.cycle()
    statuses = [reported(here.cycle(days=1)) for _ in range(4)]
    assert [of_day[DRY] for of_day in statuses] == [
        ("issued", "2005-06-01"),
        ("unchanged", "2005-06-01"),
        ("unchanged", "2005-06-01"),
        ("stale", "2005-06-01"),
    ]
    assert [of_day[WET][0] for of_day in statuses] == ["issued"] * 4
    assert read_latest(here, DRY).run.t0 == day("2005-06-01")
    assert read_latest(here, WET).run.t0 == day("2005-06-04")


@pytest.mark.extended
def test_a_feed_that_fails_stops_nothing_and_its_missing_days_are_bridged(here: Station) -> None:
    here.cycle()
    here.world.faults = {day("2005-06-02"): ["meteo-400"]}
    failing = here.cycle(days=1)
    assert reported(failing) == dict.fromkeys(BASINS, ("issued", "2005-05-31"))
    assert set(failing.problems) == {"ahead", "past"}
    assert all("past: " in str(basin.reason) or "ahead: " in str(basin.reason) for basin in failing.basins)
    assert reported(here.cycle(days=1)) == dict.fromkeys(BASINS, ("issued", "2005-06-02"))


def test_an_archive_that_is_late_leads_on_to_the_weather_forecast_of_the_issue_day(here: Station) -> None:
    here.world.weather_latency = 2
    first, second = here.cycle(), here.cycle(days=1)
    for cycle, t0, issue_day in ((first, "2005-05-29", 1), (second, "2005-05-30", 2)):
        assert reported(cycle) == dict.fromkeys(BASINS, ("issued", t0))
        (run,) = cycle.runs
        assert run.weather is not None
        assert run.weather.reference_time == datetime(2005, 6, issue_day, tzinfo=UTC)


def test_without_a_weather_forecast_the_weather_of_other_years_drives_it_until_there_is_one(here: Station) -> None:
    (without,) = here.cycle("past").runs
    (later,) = here.cycle().runs
    assert (without.forcing_kind, later.forcing_kind, later.t0 == without.t0) == ("climatology", "supplied", True)
    assert reported(here.cycle()) == dict.fromkeys(BASINS, ("unchanged", "2005-05-31"))


def test_a_day_that_has_not_ended_everywhere_gives_a_run_of_its_own_to_those_where_it_has(here: Station) -> None:
    with here.database.transaction() as session:
        zone = {"time_zone": "America/Los_Angeles"}
        basins.upsert(session, replace(basins.get(session, WET), texts=zone))
    here.world.now = ISSUE_DAY.replace(hour=6, minute=30)  # past midnight in Denver, not yet in Los Angeles
    cycle = here.cycle()
    assert reported(cycle) == {
        DRY: ("issued", "2005-05-31"),
        MIDDLE: ("issued", "2005-05-31"),
        WET: ("issued", "2005-05-30"),
    }
    assert len(cycle.runs) == 2


def test_a_revised_day_leads_to_a_new_forecast_of_its_basin_alone(here: Station) -> None:
    before = here.cycle()
    here.change(MIDDLE, day("2005-05-29"), 90.0)
    cycle = here.cycle()
    assert reported(cycle) == {basin: ("issued" if basin == MIDDLE else "unchanged", "2005-05-31") for basin in BASINS}
    (run,) = cycle.runs
    with here.database.reading() as session:
        old, new = (runs.basin_of(session, issued.id, MIDDLE) for issued in (before.runs[0], run))
        assert states.valid_hashes(session, run.version_id, run.t0, [MIDDLE]) == {MIDDLE: new.state_hash}
    assert old.state_hash != new.state_hash


def test_bridges_that_lead_on_from_what_a_feed_brought_are_applied(here: Station) -> None:
    fit(work_of(here.database, here.clock), "bridged", BridgeFit.model_validate({"from": PRODUCT, "to": "synthetic"}))
    assert here.cycle().problems == {}
    days = Period(day("2005-05-28"), day("2005-05-30"))
    with here.database.reading() as session:
        values = series.read_many(session, BASINS, "bridged", BRIDGED, days)
    assert (values == values).all()


def test_an_archive_is_not_known_before_its_latency_has_passed(here: Station) -> None:
    here.fetch("past", Period(day("2005-05-28"), day("2005-06-10")))
    assert {basin.t0 for basin in here.cycle("past", latency_days=1).basins} == {day("2005-05-30")}


def test_two_cycles_at_once_issue_each_forecast_once(here: Station) -> None:
    beside: list[Cycle] = []

    def cycle_beside(_done: int, _total: int, what: str) -> None:
        if what == ADVANCING and not beside:
            here.show = quiet
            beside.append(here.cycle())

    here.show = cycle_beside
    reported_here = reported(here.cycle())
    assert [reported(cycle) for cycle in beside] == [dict.fromkeys(BASINS, ("issued", "2005-05-31"))]
    assert reported_here == dict.fromkeys(BASINS, ("unchanged", "2005-05-31"))
    with here.database.reading() as session:
        assert [run.id for run in runs.list_runs(session)] == [run.id for run in beside[0].runs]


def test_a_cycle_that_is_broken_off_goes_on_where_it_was(here: Station) -> None:
    class Stopped(Exception):  # noqa: N818 - not a fault
        pass

    totals: list[int] = []

    def stop_once(done: int, total: int, what: str) -> None:
        if what == ADVANCING:
            totals.append(total - done)
            if len(totals) == 1:
                raise Stopped

    here.show = stop_once
    with pytest.raises(Stopped):
        here.cycle()
    assert reported(here.cycle()) == dict.fromkeys(BASINS, ("issued", "2005-05-31"))
    left, first_of_the_second, *_ = totals
    assert first_of_the_second < left
