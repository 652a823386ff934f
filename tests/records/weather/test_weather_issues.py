"""A weather forecast is stored once and never changes; the newest one depends on the instant asked for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydrology.base.calendar import Period, day
from records.database.checksums import Corrupt
from records.database.engine import Database
from records.weather import weather_issues
from records.weather.weather_issues import ISSUES, PARTS, UnknownWeather
from testing.records import BASIN, NOW, a_basin, a_weather_forecast, an_issue, contents, instant

OTHER = "USGS-01022500"
LATER = instant("2008-10-09")
DAYS = Period(day("2008-10-02"), day("2008-10-03"))


@pytest.fixture
def store(database: Database) -> Database:
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, OTHER)
    return database


def test_a_forecast_comes_back_as_it_was_stored(store: Database) -> None:
    forecast = a_weather_forecast(an_issue(licence="CC BY 4.0", credit="Weather data by a source"))
    forecast.values["precipitation"][1, 2] = 7.25
    with store.transaction() as session:
        storing = weather_issues.store(session, [forecast], NOW, operational=True)
    with store.reading() as session:
        back = weather_issues.read(session, storing.issue_id, BASIN, LATER)
    assert storing.new == (BASIN,)
    assert (back.issue, back.traces, back.period, back.units) == (
        forecast.issue,
        forecast.traces,
        forecast.period,
        forecast.units,
    )
    assert back.values.keys() == forecast.values.keys()
    for name, values in forecast.values.items():
        np.testing.assert_array_equal(back.values[name], values)


def test_asked_twice_it_stores_nothing_new(store: Database) -> None:
    forecast = a_weather_forecast()
    again = replace(forecast, issue=replace(forecast.issue, available_time=LATER))
    with store.transaction() as session:
        first = weather_issues.store(session, [forecast], NOW, operational=True)
        before = contents(session)
        second = weather_issues.store(session, [again], NOW, operational=True)
        assert contents(session) == before
    assert (second.issue_id, second.new, second.known) == (first.issue_id, (), (BASIN,))


@pytest.mark.parametrize("changed", [{"rain": 2.0}, {"traces": 3}, {"days": 4}])
def test_other_content_of_the_same_identity_is_refused_and_the_rest_is_stored(
    store: Database, changed: dict[str, float]
) -> None:
    with store.transaction() as session:
        weather_issues.store(session, [a_weather_forecast()], NOW, operational=True)
        other = a_weather_forecast(**changed)  # type: ignore[arg-type]
        storing = weather_issues.store(session, [other, a_weather_forecast(basin=OTHER)], NOW, operational=True)
        assert (
            weather_issues.read(session, storing.issue_id, BASIN, LATER).values["precipitation"].tolist()
            == [[1.0] * 3] * 2
        )
    assert storing.new == (OTHER,)
    assert "never change" in storing.refused[BASIN]


def test_a_basin_that_is_not_stored_is_refused_by_name(store: Database) -> None:
    with store.transaction() as session:
        forecasts = [a_weather_forecast(), a_weather_forecast(basin="USGS-99999999")]
        storing = weather_issues.store(session, forecasts, NOW, operational=True)
    assert storing.new == (BASIN,)
    assert list(storing.refused) == ["USGS-99999999"]


def test_the_newest_is_that_of_the_newest_reference_time_known_at_the_instant(store: Database) -> None:
    with store.transaction() as session:
        ids = [
            weather_issues.store(session, [a_weather_forecast(an_issue(at))], NOW, operational=True).issue_id
            for at in ("2008-10-02", "2008-10-01")
        ]
    with store.reading() as session:

        def newest(at: str, days: Period = DAYS) -> str | None:
            return weather_issues.newest(session, [BASIN, OTHER], instant(at), days).get(BASIN)

        assert newest("2008-10-01T05:59") is None
        assert newest("2008-10-01T06:00") == ids[1]
        assert newest("2008-10-02T05:59") == ids[1]
        assert newest("2008-10-02T06:00") == ids[0]
        assert newest("2008-10-09", Period(day("2008-10-01"), day("2008-10-03"))) == ids[1]
        assert newest("2008-10-09", Period(day("2008-10-03"), day("2008-10-05"))) is None


def test_one_that_ends_too_early_now_is_found_if_it_once_was_long_enough(store: Database) -> None:
    with store.transaction() as session:
        ids = [
            weather_issues.store(session, [a_weather_forecast(an_issue(at), days=days)], NOW, operational=True).issue_id
            for at, days in (("2008-10-01", 5), ("2008-10-02", 3))
        ]
    with store.reading() as session:

        def newest(days: str) -> str | None:
            return weather_issues.newest(session, [BASIN], LATER, Period.parse(days), whole=False).get(BASIN)

        assert newest("2008-10-02..2008-10-06") == ids[0]  # it reaches further than the newer one
        assert newest("2008-10-05..2008-10-09") == ids[0]
        assert newest("2008-10-05..2008-10-10") is None  # it never held as many days
        assert newest("2008-10-06..2008-10-07") is None


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.permutations(range(5)), st.lists(st.integers(1, 5), min_size=5, max_size=5))
def test_the_forecast_known_at_an_instant_does_not_depend_on_the_order_of_arrival(
    store: Database, order: list[int], hours: list[int]
) -> None:
    at = instant("2008-10-03T03:00")
    known = [day_of for day_of in range(5) if instant(f"2008-10-0{day_of + 1}T0{hours[day_of]}:00") <= at]
    with store.transaction() as session:
        session.execute(PARTS.delete())
        session.execute(ISSUES.delete())
        for day_of in (*order, *order):
            reference = f"2008-10-0{day_of + 1}"
            issue = an_issue(reference, available_time=instant(f"{reference}T0{hours[day_of]}:00"))
            weather_issues.store(session, [a_weather_forecast(issue, days=9)], NOW, operational=True)
        days = Period(day("2008-10-05"), day("2008-10-06"))
        found = weather_issues.newest(session, [BASIN], at, days)[BASIN]
        assert weather_issues.get(session, found).reference_time == instant(f"2008-10-0{max(known) + 1}")


def test_an_operators_weather_is_read_by_its_id_alone(store: Database) -> None:
    with store.transaction() as session:
        sent = weather_issues.store(session, [a_weather_forecast(rain=99)], NOW, operational=False)
        fetched = weather_issues.store(session, [a_weather_forecast()], NOW, operational=True)
    with store.reading() as session:
        assert weather_issues.newest(session, [BASIN], LATER, DAYS) == {BASIN: fetched.issue_id}
        assert weather_issues.read(session, sent.issue_id, BASIN, LATER).values["precipitation"][0, 0] == 99


def test_a_forecast_is_not_reported_before_it_was_available(store: Database) -> None:
    with store.transaction() as session:
        issue = weather_issues.store(session, [a_weather_forecast()], NOW, operational=True).issue_id
    early = instant("2008-10-01T05:00")
    with store.reading() as session:
        assert weather_issues.list_issues(session, early) == []
        assert weather_issues.parts_of(session, issue, early) == []
        with pytest.raises(UnknownWeather):
            weather_issues.read(session, issue, BASIN, early)
        assert [part.basin_id for part in weather_issues.parts_of(session, issue, LATER)] == [BASIN]


def test_issues_are_listed_a_page_at_a_time(store: Database) -> None:
    with store.transaction() as session:
        for at in ("2008-10-01", "2008-10-02", "2008-10-03"):
            weather_issues.store(session, [a_weather_forecast(an_issue(at))], instant(at), operational=True)
    with store.reading() as session:
        first = weather_issues.list_issues(session, LATER, limit=2)
        rest = weather_issues.list_issues(session, LATER, after=first[-1].id)
        assert [issue.reference_time.day for issue in (*first, *rest)] == [3, 2, 1]
        assert weather_issues.list_issues(session, LATER, basin=OTHER) == []
        assert weather_issues.list_issues(session, LATER, model="another") == []


def test_damaged_values_are_reported(store: Database) -> None:
    with store.transaction() as session:
        issue = weather_issues.store(session, [a_weather_forecast()], NOW, operational=True).issue_id
        session.execute(PARTS.update().values(content=b"\0" * (5 * 2 * 3 * 4)))
        with pytest.raises(Corrupt, match="damaged"):
            weather_issues.read(session, issue, BASIN, LATER)
