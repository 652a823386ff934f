"""USGS's newest measured discharge: the outcome of each fault of the service, and the forecast that it updates."""

import re
from datetime import UTC, datetime

import pytest

from extensions.usgs.measured import MeasuredFlowFeed
from hydrology.base.units import converted
from ingestion.feeds.base import MeasuredFlow
from testing.feed_services.world import Fault
from tests.ingestion.feeds.conftest import MAINE, PLACES, Live, gauge, site, why

AT = datetime(2026, 11, 22, 14, tzinfo=UTC)


def feed(live: Live, **series: str) -> MeasuredFlowFeed:
    return MeasuredFlowFeed(live.service("/ogcapi/v0"), {f"USGS-{name[1:]}": value for name, value in series.items()})


def test_the_newest_flow_of_every_gauge_comes_with_its_instant_in_one_request(live: Live) -> None:
    given = live.fetch(feed(live))
    for basin in PLACES:
        flow = given[basin].content
        assert isinstance(flow, MeasuredFlow)
        assert flow.at == AT
        daily = live.world.flow(gauge(basin)).values[-1]
        assert flow.m3s == pytest.approx(1.5 * float(converted(daily, unit="cfs", into="m3/s", area=None)))
    assert len(live.world.requests) == 1


FAILS: dict[Fault, str] = {
    "usgs-empty": "no newest measured discharge",
    "usgs-ice-null": "cannot be used",
    "usgs-tide": "cannot be used",
    "usgs-two-series": "2 series of discharge.*Name one",
    "usgs-400": "400",
    "usgs-403": "403",
}


@pytest.mark.parametrize("fault", FAILS)
def test_what_cannot_be_used_is_refused_with_the_reason(live: Live, fault: Fault) -> None:
    live.today(fault)
    assert all(re.search(FAILS[fault], why(given)) for given in live.fetch(feed(live)).values())


def test_a_named_series_is_taken_of_several(live: Live) -> None:
    live.today("usgs-two-series")
    given = live.fetch(feed(live, U01031500=gauge(MAINE).series), sites=[site(MAINE)])[MAINE]
    assert isinstance(given.content, MeasuredFlow)
    assert "no newest" in why(live.fetch(feed(live, U01031500="another"), sites=[site(MAINE)])[MAINE])
