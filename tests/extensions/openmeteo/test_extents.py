"""A place whose days are not those of the others of an answer is of another run, and is not taken as the newest."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

import pytest

from extensions.openmeteo.forecast import OpenMeteoForecast
from testing.feed_services import meteo
from testing.feed_services.reply import Reply, as_json
from testing.feed_services.world import World
from tests.ingestion.feeds.conftest import COAST, DAKOTA, MAINE, Live, forecast, site, why

Change = Callable[[dict[str, Any]], None]


def null(days: slice, *names: str) -> Change:
    """Return a change that takes the values of days from the named columns, or from all."""

    def change(daily: dict[str, Any]) -> None:
        for name in names or daily.keys() - {"time"}:
            daily[name][days] = [None] * len(daily[name][days])

    return change


def cut(daily: dict[str, Any]) -> None:
    """List five days fewer."""
    for name in daily:
        daily[name] = daily[name][:-5]


def spoil(patch: pytest.MonkeyPatch, places: Collection[int], change: Change) -> None:
    right = meteo._place

    def place(*asked: Any) -> dict[str, Any]:
        answer = right(*asked)
        if asked[3] in places:
            change(answer["daily"])
        return answer

    patch.setattr(meteo, "_place", place)


def ensemble(live: Live, days: int = 10) -> OpenMeteoForecast:
    return OpenMeteoForecast(live.service(), "/v1/ensemble", "ncep_gefs025", days, 3)


def traced(live: Live, behind: int = 3) -> OpenMeteoForecast:
    return OpenMeteoForecast(live.service(), "/v1/forecast", "ecmwf_ifs", 10, behind=behind)


def test_a_place_of_an_older_run_is_held_against_the_others(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of open-meteo issue 2057: part of the grid stayed at the run of five days before."""
    last = slice(-5, None)
    cases: list[tuple[Collection[int], Change, str]] = [
        ([1], null(last), "its days end 5 earlier than the others': an older run?"),
        ([2], null(last), "its days end 5 earlier than the others'"),
        ([0, 2], null(last), "its days end 5 earlier than the others'"),
        ([1], null(last, "dew_point_2m_mean"), "its members have different days"),
        ([1], null(last, *(f"{name}_member02" for name in meteo._UNITS)), "its members have different days"),
        ([1], null(slice(None), "precipitation_sum_member01"), "its members have different days"),
        ([1], null(slice(None, 5)), "its days begin 5 later than the others'"),
        ([1], cut, "its days end 5 earlier than the others'"),
        ([0, 1, 2], null(last), "its days end 4 earlier than 2026-11-30, to which they were asked for"),
        ([0, 1, 2], null(last, "precipitation_sum_member01"), "its members have different days"),
    ]
    for places, change, reason in cases:
        with monkeypatch.context() as patch:
            spoil(patch, places, change)
            given = live.fetch(ensemble(live))
        for at, basin in enumerate((MAINE, DAKOTA, COAST)):
            if at in places:
                assert f"ncep_gefs025 of {basin}: {reason}" in why(given[basin])
            else:
                assert str(forecast(given[basin]).period) == "2026-11-22..2026-12-01"


def test_a_place_alone_is_held_against_the_days_asked_for(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    def early(daily: dict[str, Any]) -> None:
        daily["time"] = [f"2026-10-{day:02}" for day in range(1, 14)]

    cases: list[tuple[Change, str]] = [
        (null(slice(-5, None)), "its days end 4 earlier than 2026-11-30"),
        (null(slice(-2, None)), "its days end 1 earlier than 2026-11-30"),
        (cut, "its days end 4 earlier than 2026-11-30"),
        (early, "its days begin on 2026-10-01, where those from 2026-11-19 on were asked for"),
    ]
    for change, reason in cases:
        with monkeypatch.context() as patch:
            spoil(patch, [0], change)
            given = live.fetch(traced(live), sites=[site(COAST)])
        assert reason in why(given[COAST])
    for change in (
        null(slice(-1, None)),
        null(slice(None, 2)),
    ):  # its last day is not whole, and no run of then is there
        with monkeypatch.context() as patch:
            spoil(patch, [0], change)
            assert len(forecast(live.fetch(traced(live), sites=[site(COAST)])[COAST]).period) >= 11


def test_a_model_that_ends_before_the_days_asked_for_is_taken_to_its_end(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service states the end of a run's data: an instant, so that days of the west end earlier by the calendar."""

    def meta(_world: World) -> Reply:
        times = {"last_run_initialisation_time": datetime(2026, 11, 22, tzinfo=UTC).timestamp()}
        times |= {"last_run_availability_time": datetime(2026, 11, 22, 6, tzinfo=UTC).timestamp()}
        times |= {"update_interval_seconds": 86_400, "data_end_time": datetime(2026, 11, 27, 6, tzinfo=UTC).timestamp()}
        return as_json(times)

    monkeypatch.setattr(meteo, "meta", meta)
    right = meteo._place

    def ending(*asked: Any, coast: int = 0) -> dict[str, Any]:
        answer = right(*asked)
        null(slice(7 + (asked[6] != "America/Los_Angeles") - coast, None))(answer["daily"])
        return answer

    monkeypatch.setattr(meteo, "_place", ending)
    sites = [
        site(MAINE, time_zone="America/New_York"),
        site(DAKOTA, time_zone="America/Los_Angeles"),
        site(COAST, time_zone="America/Los_Angeles"),
    ]
    ends = {basin: str(forecast(one).period.last) for basin, one in live.fetch(traced(live), sites=sites).items()}
    assert ends == {MAINE: "2026-11-26", DAKOTA: "2026-11-25", COAST: "2026-11-25"}
    monkeypatch.setattr(meteo, "_place", lambda *asked: ending(*asked, coast=1))
    given = live.fetch(traced(live), sites=[site(COAST, time_zone="America/Los_Angeles")])
    assert "its days end 1 earlier than 2026-11-25" in why(given[COAST])


def test_hostile_days_are_refused(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    for first, last in (("9999-12-30", "9999-12-31"), ("0001-01-01", "0001-01-02")):
        with monkeypatch.context() as patch:
            spoil(patch, [0], lambda daily, days=(first, last): daily.update(time=[*days]))  # type: ignore[misc]
            assert f"The days of {COAST} are outside" in why(live.fetch(traced(live), sites=[site(COAST)])[COAST])
