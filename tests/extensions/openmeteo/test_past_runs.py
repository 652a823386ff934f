"""Past runs of Open-Meteo: as issued, at a stated cost, no faster than the service allows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from extensions.openmeteo.past_runs import OpenMeteoPastRuns, first_whole_day
from hydrology.base.calendar import Period
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, RunUnavailable, Site
from testing.feed_services import meteo
from testing.feed_services.reply import Reply, as_json
from tests.ingestion.feeds.conftest import COAST, MAINE, NOW, PLACES, Live, forecast, gauge, site, why

RUN = datetime(2026, 9, 1, tzinfo=UTC)


def past(live: Live, shown: list[str] | None = None, **chosen: Any) -> OpenMeteoPastRuns:
    return OpenMeteoPastRuns(live.service(**chosen), "ecmwf_ifs", ([] if shown is None else shown).append)


def fetched(runs: OpenMeteoPastRuns, sites: Sequence[Site] = (), began: datetime = RUN) -> dict[str, FetchedBasinData]:
    wanted = FetchWindow(Period.parse("2026-09-01..2026-09-01"), NOW)
    asked = sites or [site(basin) for basin in PLACES]
    return {given.basin: given for given in runs.run(began).fetch(asked, wanted)}


def test_a_past_run_has_its_own_times_and_whole_days(live: Live) -> None:
    for basin, given in fetched(past(live)).items():
        created = forecast(given)
        assert created.issue.reference_time == RUN
        assert created.issue.available_time == RUN + timedelta(hours=6)
        assert (created.issue.source, created.issue.model, created.traces) == ("open-meteo", "ecmwf_ifs", ("control",))
        assert str(created.period) == "2026-09-01..2026-09-15"  # it begins on the evening of the day before
        warmth = created.values["tmax"] - gauge(basin).weather["tmax"].over(created.period).values
        np.testing.assert_allclose(warmth, warmth[0, 0], atol=1e-4)


@pytest.mark.parametrize(
    ("zone", "first"),
    [
        ("America/Denver", "2026-09-01"),
        ("Etc/UTC", "2026-09-01"),
        ("Australia/Sydney", "2026-09-02"),
        ("Europe/Paris", "2026-09-02"),
    ],
)
def test_the_first_day_is_one_that_the_run_has_whole(zone: str, first: str) -> None:
    assert str(first_whole_day(RUN, zone)) == first


def test_hours_are_added_up_where_the_service_gives_no_days_of_a_run(live: Live) -> None:
    """Of open-meteo pull request 1936: a run that does not begin at midnight of the zone has no daily values."""
    days = {basin: forecast(given) for basin, given in fetched(past(live)).items()}
    requests = len(live.world.requests)
    live.today("meteo-run-days-refused")
    runs = past(live)
    for basin, given in fetched(runs).items():
        of_hours = forecast(given)
        assert (of_hours.issue, of_hours.period) == (days[basin].issue, days[basin].period)
        for name, values in of_hours.values.items():
            np.testing.assert_allclose(values, days[basin].values[name], rtol=1e-5)
    assert len(live.world.requests) - requests == 2
    fetched(runs)
    assert len(live.world.requests) - requests == 3  # the refusal is remembered
    in_utc = [site(MAINE, time_zone="Etc/UTC")]
    assert str(forecast(fetched(past(live), in_utc)[MAINE]).period) == "2026-09-01..2026-09-16"
    assert len(live.world.requests) - requests == 4  # it begins at midnight there
    east = [site(MAINE, time_zone="Asia/Tokyo")]
    assert str(forecast(fetched(past(live), east)[MAINE]).period) == "2026-09-02..2026-09-16"


def test_hours_with_a_fault_are_refused(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    live.today("meteo-run-days-refused")
    right = meteo._place
    faults: list[tuple[dict[str, Any], str]] = [
        ({"hourly_units": {"precipitation": "inch"}}, f"precipitation of {COAST} is not in mm"),
        ({"hourly": {"precipitation": [1.0]}}, "has not a value an hour"),
        ({"hourly": {"precipitation": [float("nan")] * 384}}, "is not a number (NaN)"),
        ({"hourly": {"time": ["2026-09-01T00:00", "2026-09-01T02:00"]}}, "hours of USGS-12010000 do not follow"),
        ({"hourly": {"dew_point_2m": None}}, "is not of Open-Meteo's shape"),
    ]
    for changes, reason in faults:

        def place(*asked: Any, changes: dict[str, Any] = changes) -> dict[str, Any]:
            answer = right(*asked)
            for part, fields in changes.items() if asked[3] == 1 and "hourly" in asked[2] else ():
                answer[part] |= fields
            return answer

        monkeypatch.setattr(meteo, "_place", place)
        given = fetched(past(live), [site(MAINE), site(COAST)])
        assert reason in why(given[COAST])
        assert len(forecast(given[MAINE]).period) == 15


def test_days_that_are_listed_too_early_are_refused(live: Live) -> None:
    """Of open-meteo issue 1917: west of UTC, the days of a run were listed one too early."""
    live.today("meteo-run-days-early")
    for given in fetched(past(live)).values():
        assert "its first day, 2026-08-30, had ended when the run of 2026-09-01T00:00Z began" in why(given)
    in_utc, east = [site(MAINE, time_zone="Etc/UTC")], [site(MAINE, time_zone="Asia/Tokyo")]
    assert all(forecast(fetched(past(live), sites)[MAINE]) for sites in (in_utc, east))


def test_a_place_of_a_shorter_or_later_run_is_refused(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    right = meteo._place
    for nulled, reason in ((slice(-5, None), "end 5 earlier than the others'"), (slice(0, 4), "begin 3 later than")):

        def place(*asked: Any, nulled: slice = nulled) -> dict[str, Any]:
            answer = right(*asked)
            values = answer["daily"]["temperature_2m_max"]
            if asked[3] == 1:
                values[nulled] = [None] * len(values[nulled])
            return answer

        monkeypatch.setattr(meteo, "_place", place)
        given = fetched(past(live), [site(MAINE), site(COAST)])
        assert f"ecmwf_ifs of {COAST}: its days {reason}" in why(given[COAST])
        assert len(forecast(given[MAINE]).period) == 15


def test_one_run_is_one_request_for_all_places(live: Live) -> None:
    fetched(past(live))
    assert [path for _, path, _, _ in live.world.requests] == ["/v1/forecast"]


@pytest.mark.parametrize("sites", [[site(MAINE)], [site(MAINE), site(COAST)]])
def test_a_run_that_the_service_does_not_have_is_not_asked_for_again(live: Live, sites: list[Site]) -> None:
    live.world.missing_runs = {"2026-09-01T00:00"}
    assert all(isinstance(given.content, RunUnavailable) for given in fetched(past(live), sites).values())
    assert (len(live.world.requests), live.pauses) == (1, [])


def test_the_cost_of_all_runs_is_reported_and_limited_before_the_first_request(live: Live) -> None:
    shown: list[str] = []
    points = replace(site(MAINE), points=((45.1, -69.3), (45.2, -69.3), (45.3, -69.3)))
    past(live, shown).announce([[site(MAINE), site(COAST)]] * 100 + [[points]])
    assert shown == ["The fetch weighs 203 calls by Open-Meteo's count."]
    with pytest.raises(FeedProblem, match=r"weighs 6000 calls .* 5000 an hour .*: ask for fewer days"):
        past(live).announce([[site(MAINE)] * 50] * 120)
    past(live, key="paid").announce([[site(MAINE)] * 50] * 120)
    assert live.world.requests == []


def test_requests_are_paced_without_a_key(live: Live) -> None:
    runs, paid = past(live), past(live, key="paid")
    for began in (RUN, RUN + timedelta(days=1), RUN + timedelta(days=2)):
        fetched(runs, began=began)
    assert live.pauses == pytest.approx([0.3, 0.3])  # 600 places a minute
    for began in (RUN, RUN + timedelta(days=1)):
        fetched(paid, began=began)
    assert len(live.pauses) == 2


def test_a_limit_that_was_reached_is_waited_for(live: Live) -> None:
    live.today("meteo-429-minutely")
    assert forecast(fetched(past(live))[MAINE]).period
    assert live.pauses == [60]


def test_a_run_that_is_not_past_is_not_asked_for(live: Live) -> None:
    with pytest.raises(FeedProblem, match="is not past yet"):
        fetched(past(live), began=datetime(2026, 11, 22, 12, tzinfo=UTC))
    assert live.world.requests == []


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        (lambda _: as_json({"error": True, "reason": "Parameter 'models' is invalid."}, 400), "'models' is invalid"),
        (lambda _: as_json([{"daily": None}] * 3), "is not of Open-Meteo's shape"),
        (lambda reply: Reply(200, reply.body.replace(b"mm", b"inch"), reply.headers), "is not in mm"),
    ],
)
def test_an_answer_of_another_shape_is_refused(
    live: Live, monkeypatch: pytest.MonkeyPatch, spoilt: Callable[[Reply], Reply], reason: str
) -> None:
    right = meteo.answer
    monkeypatch.setattr(meteo, "answer", lambda *asked: spoilt(right(*asked)))
    given = fetched(past(live))[MAINE]
    assert reason in why(given)
    assert not isinstance(given.content, RunUnavailable)
