"""Open-Meteo: archive, forecast and ensemble, and the outcome of each fault of the service."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from extensions.openmeteo.archive import OpenMeteoArchive
from extensions.openmeteo.asking import in_requests, weight_of_place
from extensions.openmeteo.forecast import OpenMeteoForecast
from hydrology.base.calendar import Period, day
from ingestion.feeds.base import FeedProblem, FetchWindow, Site
from ingestion.feeds.http import ATTEMPTS
from testing.feed_services import meteo
from testing.feed_services.reply import as_json
from testing.feed_services.world import Fault
from tests.ingestion.feeds.conftest import COAST, MAINE, PLACES, Live, forecast, gauge, observed, site, why

VARIABLES = {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC", "srad": "W/m2", "vp": "Pa"}


def archive(live: Live, shown: list[str] | None = None) -> OpenMeteoArchive:
    return OpenMeteoArchive(live.service(), "era5", ([] if shown is None else shown).append)


def forecasts(live: Live, days: int = 10, shown: list[str] | None = None, behind: int = 0) -> OpenMeteoForecast:
    report = ([] if shown is None else shown).append
    return OpenMeteoForecast(live.service(), "/v1/forecast", "ecmwf_ifs", days, report=report, behind=behind)


def ensemble(live: Live, members: int) -> OpenMeteoForecast:
    return OpenMeteoForecast(live.service(), "/v1/ensemble", "ncep_gefs025", 10, members)


def test_past_weather_comes_in_the_quantities_of_networks(live: Live) -> None:
    for basin, given in live.fetch(archive(live)).items():
        weather = observed(given).variables
        assert {name: series.unit for name, series in weather.items()} == VARIABLES
        for name, series in weather.items():
            assert str(series.period) == "2026-11-01..2026-11-21"
            np.testing.assert_allclose(series.values, gauge(basin).weather[name].over(series.period).values, rtol=1e-9)
            assert not series.flags.any()


def test_one_place_comes_as_an_object_and_several_as_a_list(live: Live) -> None:
    alone = live.fetch(archive(live), sites=[site(COAST)])[COAST]
    together = live.fetch(archive(live))[COAST]
    for name in VARIABLES:
        series = observed(alone).variables[name], observed(together).variables[name]
        np.testing.assert_array_equal(series[0].values, series[1].values)


def test_days_are_those_of_the_gauge_and_its_zone_is_learnt(live: Live) -> None:
    assert observed(live.fetch(archive(live))[COAST]).time_zone == "America/Los_Angeles"
    live.fetch(archive(live), sites=[site(COAST, time_zone="America/Los_Angeles"), site(MAINE)])
    live.world.now = datetime(2026, 11, 22, 6, tzinfo=UTC)  # 22:00 of the 21st on the coast
    ends = {basin: observed(given).variables["vp"].period.last for basin, given in live.fetch(archive(live)).items()}
    assert (ends[MAINE], ends[COAST]) == (day("2026-11-21"), day("2026-11-20"))


@pytest.mark.parametrize(("changing", "now"), [("2026-03-08", "2026-03-09T05:00"), ("2026-11-01", "2026-11-02T05:00")])
def test_a_day_of_23_or_25_hours_is_one_day(live: Live, changing: str, now: str) -> None:
    live.world.now = datetime.fromisoformat(now).replace(tzinfo=UTC)  # 24:00 or 01:00 of the day after in Maine
    days = str(Period(day(changing) - np.timedelta64(2, "D"), day(changing) + np.timedelta64(1, "D")))
    series = observed(live.fetch(archive(live), days, [site(MAINE)])[MAINE]).variables["precipitation"]
    assert (series.period.last, len(series)) == (day(changing), 3)
    np.testing.assert_allclose(series.values, gauge(MAINE).weather["precipitation"].over(series.period).values)


def test_a_tail_that_is_not_there_yet_is_left_for_later_with_all_variables(live: Live) -> None:
    live.today("meteo-null-tail")
    weather = observed(live.fetch(archive(live), "2026-11-01..2026-11-20")[MAINE]).variables
    assert {str(series.period.last) for series in weather.values()} == {"2026-11-19"}


PASSES: dict[Fault, list[float]] = {
    "meteo-no-location-id": [],
    "meteo-shifted-grid": [],
    "meteo-429-minutely": [60],
    "meteo-stream-break": [1],
}


@pytest.mark.parametrize("fault", PASSES)
def test_harmless_or_temporary_faults_change_nothing(live: Live, fault: Fault) -> None:
    undisturbed = live.fetch(archive(live))
    live.today(fault)
    disturbed = live.fetch(archive(live))
    assert live.pauses == PASSES[fault]
    for basin in PLACES:
        for name in VARIABLES:
            before, after = (observed(given[basin]).variables[name] for given in (undisturbed, disturbed))
            np.testing.assert_array_equal(before.values, after.values)


def test_the_cell_that_a_value_is_of_is_stored_with_it(live: Live) -> None:
    live.today("meteo-shifted-grid")
    assert observed(live.fetch(archive(live))[MAINE]).origin.endswith("era5 USGS-01031500 cell 45.45,-69.3")


FAILS: dict[Fault, str] = {
    "meteo-unequal-lengths": "precipitation_sum of USGS-01031500 has not a value a day",
    "meteo-400": "400 (Parameter 'models' has an invalid value.)",
}


@pytest.mark.parametrize("fault", FAILS)
def test_incomplete_answers_are_refused(live: Live, fault: Fault) -> None:
    live.today(fault)
    assert FAILS[fault] in why(live.fetch(archive(live))[MAINE])


def test_a_basin_without_a_place_fails_alone(live: Live) -> None:
    answers = live.fetch(archive(live), sites=[Site("OWN-mill"), site(MAINE)])
    assert "The location of OWN-mill is not known" in why(answers["OWN-mill"])
    assert observed(answers[MAINE]).variables


def test_a_forecast_has_its_run_and_the_days_from_today_at_the_gauge(live: Live) -> None:
    created = forecast(live.fetch(forecasts(live))[MAINE])
    assert (created.traces, str(created.period)) == (("control",), "2026-11-22..2026-12-01")
    assert created.issue.reference_time == datetime(2026, 11, 22, tzinfo=UTC)
    assert created.issue.available_time == datetime(2026, 11, 22, 6, tzinfo=UTC)
    assert (created.issue.source, created.issue.model, created.issue.licence) == (
        "open-meteo",
        "ecmwf_ifs",
        "CC BY 4.0",
    )
    assert created.issue.credit is not None
    assert "Open-Meteo.com" in created.issue.credit
    assert "ECMWF" in created.issue.credit
    assert dict(created.units) == VARIABLES


def test_a_forecast_begins_as_many_days_behind_as_the_model_has(live: Live) -> None:
    created = forecast(live.fetch(forecasts(live, behind=3))[MAINE])
    assert (str(created.period), created.issue.reference_time.day) == ("2026-11-19..2026-12-01", 22)
    live.world.now = datetime(2023, 12, 3, 14, tzinfo=UTC)  # two days after the first that the model has
    assert str(forecast(live.fetch(forecasts(live, behind=3))[MAINE]).period) == "2023-12-01..2023-12-12"


def test_an_ensemble_has_31_members_that_differ(live: Live) -> None:
    live.world.members = 31
    created = forecast(live.fetch(ensemble(live, 31))[MAINE])
    assert created.traces == ("control", *(f"member{number:02}" for number in range(1, 31)))
    assert created.values["precipitation"].shape == (31, 10)
    assert len(np.unique(created.values["tmax"][:, 0])) == 31
    assert "has 31 members for USGS-01031500, not 51" in why(live.fetch(ensemble(live, 51))[MAINE])


def test_the_days_that_a_model_does_not_reach_are_left_out(live: Live) -> None:
    live.today("meteo-null-tail")
    assert str(forecast(live.fetch(forecasts(live))[MAINE]).period) == "2026-11-22..2026-11-30"


def test_a_model_that_is_late_is_reported_and_its_old_forecast_is_not_of_today(live: Live) -> None:
    shown: list[str] = []
    live.today("meteo-stale")
    sentence = why(live.fetch(forecasts(live, shown=shown))[MAINE])
    assert shown[-1] == "ecmwf_ifs is late: its newest run is of 2026-11-18T00:00Z."
    assert "its first day is 2026-11-22" in sentence


def test_a_forecast_from_the_future_is_not_taken(live: Live) -> None:
    wanted = FetchWindow(Period.parse("2026-11-01..2026-11-22"), live.world.now - timedelta(days=30))
    with pytest.raises(FeedProblem, match="a forecast from the future is not taken"):
        list(forecasts(live).fetch([site(MAINE)], wanted))


def test_the_weight_of_a_fetch_is_reported_beforehand(live: Live) -> None:
    shown: list[str] = []
    live.fetch(archive(live, shown), "2025-11-21..2026-11-20")
    assert shown == ["The fetch weighs 39 calls by Open-Meteo's count."]


@pytest.mark.parametrize(
    ("variables", "days", "places", "weight"),
    [(5, 28, 531, 531), (5, 108, 531, 2048), (5, 365, 531, 6922), (155, 10, 531, 8230), (155, 16, 531, 9406)],
)
def test_a_place_weighs_what_the_service_counts(variables: int, days: int, places: int, weight: int) -> None:
    assert round(weight_of_place(variables, days) * places) == pytest.approx(weight, abs=1)


def test_a_fetch_beyond_the_free_hour_is_refused_before_it_is_sent(live: Live) -> None:
    sites = [Site(f"OWN-{number}", 45.0, -69.0) for number in range(400)]
    with pytest.raises(FeedProblem, match=r"weighs 6200 calls .* at most 322 basins"):
        live.fetch(ensemble(live, 31), sites=sites)
    assert [path for _, path, _, _ in live.world.requests] == []


def test_a_fetch_is_cut_into_requests_of_a_minutes_weight() -> None:
    assert [len(part) for part in in_requests(range(100), 15.5, keyless=True)] == [38, 38, 24]
    assert [len(part) for part in in_requests(range(531), 1.0, keyless=True)] == [531]
    assert [len(part) for part in in_requests(range(2500), 1.0, keyless=False)] == [1000, 1000, 500]


ANSWER = {
    "latitude": 45.2,
    "longitude": -69.3,
    "timezone": "America/New_York",
    "daily_units": dict.fromkeys(("temperature_2m_max", "temperature_2m_min", "dew_point_2m_mean"), "°C")
    | {"time": "iso8601", "precipitation_sum": "mm", "shortwave_radiation_sum": "MJ/m²"},
    "daily": {
        "time": ["2026-11-20", "2026-11-21"],
        "precipitation_sum": [1, 2],
        "temperature_2m_max": [3, 4],
        "temperature_2m_min": [1, 2],
        "shortwave_radiation_sum": [5, 6],
        "dew_point_2m_mean": [0, 1],
    },
}


@pytest.mark.parametrize(
    ("part", "change", "reason"),
    [
        ("daily_units", {"temperature_2m_max": "°F"}, "temperature_2m_max of USGS-01031500 is not in °C"),
        ("daily_units", {"precipitation_sum": "inch"}, "precipitation_sum of USGS-01031500 is not in mm"),
        ("daily", {"time": ["2026-11-20", "2026-11-22"]}, "do not follow each other"),
        ("daily", {"time": [20777, 20778]}, "is not of Open-Meteo's shape"),
        ("daily", {"time": ["2026-11-20", 10**40]}, "is not of Open-Meteo's shape"),
        ("daily", {"precipitation_sum": [-5, 2]}, "precipitation of USGS-01031500 on 2026-11-20 is outside 0 to 2000"),
        ("daily", {"precipitation_sum": ["wet", 2]}, "is not of Open-Meteo's shape"),
        ("daily", {"precipitation_sum": [10**400, 2]}, "is not of Open-Meteo's shape"),
        ("", {"latitude": 10**400}, "is not of Open-Meteo's shape"),
        ("", {"latitude": 12.0}, "of a place far from its gauge"),
        ("", {"location_id": 4}, "is of another place"),
        ("", {"timezone": "Maine"}, "'Maine' is not a time zone"),
        ("", {"daily": None}, "is not of Open-Meteo's shape"),
    ],
)
def test_an_answer_that_cannot_be_right_is_refused(
    live: Live, monkeypatch: pytest.MonkeyPatch, part: str, change: dict[str, object], reason: str
) -> None:
    answer: dict[str, Any] = json.loads(json.dumps(ANSWER))
    (answer[part] if part else answer).update(change)
    monkeypatch.setattr(meteo, "answer", lambda *_: as_json(answer))
    assert reason in why(live.fetch(archive(live), sites=[site(MAINE)])[MAINE])


@pytest.mark.parametrize(
    ("gauge_longitude", "cell_longitude"), [(179.99, -179.98), (-179.95, 179.9), (180.0, -180.0), (-69.31, 290.7)]
)
def test_a_cell_on_the_other_side_of_the_180th_meridian_is_near(
    live: Live, monkeypatch: pytest.MonkeyPatch, gauge_longitude: float, cell_longitude: float
) -> None:
    here = Site("OWN-vunda", -16.8, gauge_longitude, "Pacific/Fiji")
    cell = {"latitude": -16.8, "longitude": cell_longitude, "timezone": "Pacific/Fiji"}
    monkeypatch.setattr(meteo, "answer", lambda *_: as_json(ANSWER | cell))
    weather = observed(live.fetch(archive(live), sites=[here])["OWN-vunda"]).variables
    assert weather["precipitation"].values.tolist() == [1, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"update_interval_seconds": -99999986400},
        {"update_interval_seconds": 0},
        {"update_interval_seconds": 1e9},
        {"last_run_initialisation_time": 1795327200, "last_run_availability_time": 1795305600},
    ],
)
def test_a_run_that_cannot_be_is_refused(live: Live, monkeypatch: pytest.MonkeyPatch, change: dict[str, float]) -> None:
    run = {
        "last_run_initialisation_time": 1795305600,
        "last_run_availability_time": 1795327200,
        "update_interval_seconds": 86_400,
    }
    monkeypatch.setattr(meteo, "meta", lambda _: as_json(run | change))
    with pytest.raises(FeedProblem, match="states an impossible run"):
        live.fetch(forecasts(live))


def test_fewer_places_than_asked_for_are_none(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meteo, "answer", lambda *_: as_json([ANSWER]))
    sentence = why(live.fetch(archive(live))[MAINE])
    assert f"is not of the 3 places asked for in {ATTEMPTS} attempts" in sentence
