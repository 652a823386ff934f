"""USGS daily discharge: the outcome of each fault of the service."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from extensions.usgs.feed import UsgsFeed
from extensions.usgs.gauges import DailySeriesInfo, chosen, in_lists, locations
from hydrology.base.calendar import Period, day
from hydrology.base.series import Flag
from ingestion.feeds.base import FeedProblem, FetchWindow
from ingestion.feeds.http import ATTEMPTS
from testing.feed_services.world import Fault, Revision
from tests.ingestion.feeds.conftest import COAST, DAKOTA, MAINE, PLACES, Live, gauge, observed, site, why

YESTERDAY = day("2026-11-21")


def feed(live: Live, version: str = "v0", **series: str) -> UsgsFeed:
    return UsgsFeed(live.service(f"/ogcapi/{version}"), {f"USGS-{name[1:]}": value for name, value in series.items()})


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_discharge_of_every_gauge_in_order_from_unsorted_pages(live: Live, version: str) -> None:
    live.world.page_size = 7
    for basin, given in live.fetch(feed(live, version)).items():
        flow = observed(given).variables["discharge"]
        assert (str(flow.period), flow.unit) == ("2026-11-01..2026-11-21", "cfs")
        np.testing.assert_allclose(flow.values, gauge(basin).flow.over(flow.period).values, rtol=1e-8)
        assert not flow.flags.any()
    pages = [query for _, path, query, _ in live.world.requests if path.endswith("/daily/items")]
    assert len(pages) == 9


def test_approved_and_provisional_days_are_distinguished(live: Live) -> None:
    flow = observed(live.fetch(feed(live), "2026-05-17..2026-05-21")[MAINE]).variables["discharge"]
    assert flow.flags.tolist() == [1, 1, 0, 0, 0]


def test_the_time_zone_of_a_gauge_comes_with_it_and_is_asked_for_once(live: Live) -> None:
    zones = {basin: observed(given).time_zone for basin, given in live.fetch(feed(live)).items()}
    assert zones == {MAINE: "America/New_York", DAKOTA: "America/Denver", COAST: "America/Los_Angeles"}
    live.world.requests.clear()
    live.fetch(feed(live), sites=[site(basin, time_zone=zone) for basin, zone in zones.items()])
    assert not [path for _, path, _, _ in live.world.requests if "monitoring-locations" in path]


def test_a_day_that_has_not_ended_at_the_gauge_is_not_taken(live: Live) -> None:
    live.world.now = datetime(2026, 11, 22, 6, tzinfo=UTC)  # 01:00 in Maine, 22:00 of the 21st on the coast
    ends = {
        basin: observed(given).variables["discharge"].period.last for basin, given in live.fetch(feed(live)).items()
    }
    assert ends == {MAINE: YESTERDAY, DAKOTA: day("2026-11-20"), COAST: day("2026-11-20")}


def test_the_clock_hides_what_is_later_even_where_the_service_has_it(live: Live) -> None:
    wanted = FetchWindow(Period.parse("2026-11-01..2026-11-22"), datetime(2026, 11, 10, 14, tzinfo=UTC))
    (given,) = feed(live).fetch([site(MAINE)], wanted)
    assert observed(given).variables["discharge"].period.last == day("2026-11-09")


FAILS: dict[Fault, str] = {
    "usgs-repeated-cursor": "leads back to one before",
    "usgs-next-elsewhere": "leads to another host",
    "usgs-400": "400",
    "usgs-403": "403",
    "usgs-500-page-2": rf"500 \(the database is away\) in {ATTEMPTS} attempts",
}


@pytest.mark.parametrize("fault", FAILS)
def test_a_page_that_fails_leaves_nothing_of_its_basins(live: Live, fault: Fault) -> None:
    live.world.page_size = 7
    live.today(fault)
    answers = live.fetch(feed(live), sites=[site(basin, time_zone="UTC") for basin in PLACES])
    assert set(answers) == set(PLACES)
    assert all(re.search(FAILS[fault], why(given)) for given in answers.values())


@pytest.mark.parametrize("fault", ["usgs-429", "usgs-truncated"])
def test_a_temporary_failure_is_retried(live: Live, fault: Fault) -> None:
    undisturbed = live.fetch(feed(live))
    live.today(fault)
    disturbed = live.fetch(feed(live))
    assert live.pauses == [7 if fault == "usgs-429" else 1]
    for basin in PLACES:
        before, after = (observed(given[basin]).variables["discharge"] for given in (undisturbed, disturbed))
        np.testing.assert_array_equal(before.values, after.values)


def test_ice_without_a_number_is_a_day_without_a_value(live: Live) -> None:
    live.today("usgs-ice-null")
    flow = observed(live.fetch(feed(live))[MAINE]).variables["discharge"]
    assert np.isnan(flow.values[-1])
    assert flow.flags[-1] == Flag.MISSING | Flag.ICE
    assert not np.isnan(flow.values[:-1]).any()


def test_ice_with_a_number_is_an_estimate(live: Live) -> None:
    live.today("usgs-estimated-ice")
    flow = observed(live.fetch(feed(live))[MAINE]).variables["discharge"]
    assert flow.flags[-1] == Flag.ESTIMATED | Flag.ICE
    assert flow.values[-1] == pytest.approx(gauge(MAINE).flow.over(flow.period).values[-1])


def test_a_qualifier_may_be_a_text(live: Live) -> None:
    live.today("usgs-qualifier-text")
    assert observed(live.fetch(feed(live))[MAINE]).variables["discharge"].flags[-1] == Flag.ESTIMATED


def test_the_last_modified_of_two_rows_of_a_day_counts(live: Live) -> None:
    live.today("usgs-revised-row")
    flow = observed(live.fetch(feed(live))[MAINE]).variables["discharge"]
    assert flow.values[-1] == pytest.approx(gauge(MAINE).flow.over(flow.period).values[-1])


def test_one_of_two_series_must_be_named(live: Live) -> None:
    live.today("usgs-two-series")
    sentence = why(live.fetch(feed(live))[MAINE])
    series = gauge(MAINE).series
    assert series in sentence
    assert "several are primary" in sentence
    other = observed(live.fetch(feed(live, _01031500=series[::-1]))[MAINE]).variables["discharge"]
    assert set(other.values) == {2.0}
    assert "has no series another" in why(live.fetch(feed(live, _01031500="another"))[MAINE])


def test_missing_data_are_not_an_error(live: Live) -> None:
    live.today("usgs-empty")
    assert observed(live.fetch(feed(live))[MAINE]).variables == {}


def test_a_gauge_that_is_not_known_is_reported_although_it_looks_like_one_without_data(live: Live) -> None:
    answers = live.fetch(feed(live), sites=[site(MAINE), site("USGS-99999999"), site("OWN-mill")])
    assert "knows no daily mean discharge of USGS-99999999" in why(answers["USGS-99999999"])
    assert "is not a gauge of USGS" in why(answers["OWN-mill"])
    assert observed(answers[MAINE]).variables


def test_days_revised_since_the_last_fetch_are_fetched_however_old_they_are(live: Live) -> None:
    live.world.revisions = [
        Revision(MAINE, day("2026-03-05"), datetime(2026, 11, 20, tzinfo=UTC), 7.0),
        Revision(MAINE, day("2026-02-05"), datetime(2026, 9, 1, tzinfo=UTC), 8.0),
    ]
    fetched = site(MAINE, fetched_at=datetime(2026, 11, 21, 14, tzinfo=UTC))
    flow = observed(live.fetch(feed(live), sites=[fetched])[MAINE]).variables["discharge"]
    assert (flow.start, flow.values[0]) == (day("2026-03-05"), 7.0)
    assert set(flow.flags[1 : int((day("2026-11-01") - flow.start).astype(int))]) == {Flag.ABSENT}
    assert len(observed(live.fetch(feed(live))[MAINE]).variables["discharge"]) == 21


def test_a_key_is_sent_with_every_request_and_a_wrong_one_is_reported_without_it(live: Live) -> None:
    live.world.key = "right-key"
    right = UsgsFeed(live.service("/ogcapi/v0", key="right-key"))
    assert observed(live.fetch(right)[MAINE]).variables
    wrong = UsgsFeed(live.service("/ogcapi/v0", key="wrong-key", key_setting="FRESHET_USGS_KEY"))
    sentence = why(live.fetch(wrong)[MAINE])
    assert "FRESHET_USGS_KEY" in sentence
    assert "wrong-key" not in sentence
    assert not [query for _, _, query, _ in live.world.requests if "key" in query]


def test_the_same_days_are_one_source_whatever_the_order_they_came_in(live: Live) -> None:
    files = []
    for size in (7, 10_000):
        live.world.page_size = size
        (file,) = observed(live.fetch(feed(live))[MAINE]).as_data(MAINE, None).files
        files.append(file)
    assert files[0] == files[1]
    assert gauge(MAINE).series in files[0].name


def test_places_names_and_areas_of_gauges(live: Live) -> None:
    found = locations(live.service("/ogcapi/v1"), [MAINE, "USGS-99999999"])
    assert set(found) == {MAINE}
    place = found[MAINE]
    assert (place.latitude, place.longitude) == PLACES[MAINE]
    assert (place.name, place.texts["time_zone"]) == ("RIVER AT GAUGE 01031500", "America/New_York")
    assert place.areas["usgs"] == pytest.approx(7.69e8)


def test_hundreds_of_gauges_are_asked_for_in_a_few_requests() -> None:
    ids = [f"USGS-{number:08}" for number in range(671)]
    parts = list(in_lists(ids))
    assert [basin for part in parts for basin in part] == ids
    assert len(parts) == 2
    assert all(len("%2C".join(part)) < 7_000 for part in parts)


OLD = DailySeriesInfo("aaaa", True, None, day("1950-10-01"), day("2003-09-30"))
NEW = DailySeriesInfo("bbbb", True, None, day("1990-10-01"), day("2026-11-21"))


def test_several_primary_series_are_refused_with_begin_and_end_and_how_to_choose() -> None:
    """Of USGS EGRET issue 84: one of a gauge's two series ended in 2003."""
    with pytest.raises(FeedProblem) as refusal:
        chosen(MAINE, [OLD, NEW], {})
    sentence = str(refusal.value)
    assert "several are primary" in sentence
    assert "aaaa (1950-10-01 to 2003-09-30), bbbb (1990-10-01 to 2026-11-21)" in sentence
    assert f"--series {MAINE}=bbbb" in sentence
    assert chosen(MAINE, [OLD, NEW], {MAINE: "aaaa"}) == "aaaa"
    assert chosen(MAINE, [OLD, replace(NEW, primary=False)], {}) == "aaaa"


def test_no_primary_series_and_unknown_ends_are_named_as_such() -> None:
    third = DailySeriesInfo("c" * 500, False, "x")
    with pytest.raises(FeedProblem, match="none is primary") as refusal:
        chosen(MAINE, [replace(OLD, primary=False, end=None), replace(NEW, primary=False), third], {})
    assert "aaaa (1950-10-01 to end unknown)" in str(refusal.value)
    assert len(str(refusal.value)) < 600


def test_digits_that_are_not_a_number_name_their_day(live: Live) -> None:
    live.today("usgs-thousands")
    assert re.search(rf"{MAINE} on 2026-11-21 is not a number \(1,250\)", why(live.fetch(feed(live))[MAINE]))


def test_a_tide_is_one_missing_day(live: Live) -> None:
    live.today("usgs-tide")
    flow = observed(live.fetch(feed(live))[MAINE]).variables["discharge"]
    assert np.isnan(flow.values[-1])
    assert flow.flags[-1] == Flag.MISSING | Flag.SUSPECT
    assert not np.isnan(flow.values[:-1]).any()


def test_the_begin_that_the_series_states_comes_with_the_days_that_did(live: Live) -> None:
    live.today("usgs-no-head")
    given = observed(live.fetch(UsgsFeed(live.service("/ogcapi/v0")), "1941-01-01..2026-11-21")[MAINE])
    assert (str(given.since), str(given.variables["discharge"].period)) == ("2023-12-01", "2026-10-18..2026-11-21")
