"""The older daily values of USGS, as JSON and RDB."""

import numpy as np
import pytest

from hydrology.series import Flag
from ingestion.feeds.base import FeedProblem
from ingestion.feeds.http import Broken
from ingestion.feeds.nwis import Form, NwisFeed, _of_json, _of_rdb
from tests.ingestion.feeds.conftest import MAINE, Live, gauge, observed, site, why


def feed(live: Live, form: Form = "json") -> NwisFeed:
    return NwisFeed(live.service("/nwis/dv/"), form)


@pytest.mark.parametrize("form", ["json", "rdb"])
def test_discharge_with_its_flags(live: Live, form: Form) -> None:
    flow = observed(live.fetch(feed(live, form), "2026-05-17..2026-05-21")[MAINE]).variables["discharge"]
    np.testing.assert_allclose(flow.values, gauge(MAINE).flow.over(flow.period).values, rtol=1e-5)
    assert (flow.flags.tolist(), flow.unit) == ([1, 1, 0, 0, 0], "cfs")


def test_the_number_for_no_value_is_none(live: Live) -> None:
    live.today("nwis-no-data")
    flow = observed(live.fetch(feed(live))[MAINE]).variables["discharge"]
    assert np.isnan(flow.values[-1])
    assert flow.flags[-1] == Flag.MISSING


def test_an_empty_list_of_values_is_no_data(live: Live) -> None:
    live.today("nwis-empty-list")
    assert observed(live.fetch(feed(live))[MAINE]).variables == {}


def test_a_word_in_place_of_a_number_says_why_there_is_none(live: Live) -> None:
    live.today("nwis-ice")
    flow = observed(live.fetch(feed(live, "rdb"), "2026-11-01..2026-11-21")[MAINE]).variables["discharge"]
    assert np.isnan(flow.values[-1])
    assert flow.flags[-1] == Flag.MISSING | Flag.ICE


def test_a_gauge_that_is_not_known_looks_like_one_without_data(live: Live) -> None:
    answers = live.fetch(feed(live), sites=[site("USGS-99999999"), site("OWN-mill")])
    assert observed(answers["USGS-99999999"]).variables == {}
    assert "is no gauge of USGS" in why(answers["OWN-mill"])


RDB = """# comment
agency_cd\tsite_no\tdatetime\t1_00060_00003\t1_00060_00003_cd\t2_00060_00003\t2_00060_00003_cd
5s\t15s\t20d\t14n\t10s\t14n\t10s
USGS\t01031500\t2026-11-01\t-3.5\tA:e\t\t
USGS\t01031500\t2026-11-02\tEqp\tP:Eqp\t4\tP
"""


def test_several_columns_are_several_series_and_tides_are_negative() -> None:
    first, second = _of_rdb(RDB.encode())[MAINE]
    assert (first.method, second.method) == ("1", "2")
    assert [(row.value, row.flags) for row in first.rows] == [
        (-3.5, Flag.APPROVED | Flag.ESTIMATED),
        (None, Flag.MISSING),
    ]
    assert [row.value for row in second.rows] == [4]


@pytest.mark.parametrize(
    "body",
    [
        "<html>busy</html>",
        RDB[:-3].rstrip() + "\tmore\tand more",
        "USGS\t01031500",
        RDB.replace("site_no", "site"),
        RDB.replace("datetime", "date"),
    ],
)
def test_what_is_no_whole_rdb_is_broken(body: str) -> None:
    with pytest.raises(Broken):
        _of_rdb(body.encode())


def test_a_value_that_is_none_is_told() -> None:
    with pytest.raises(FeedProblem, match=f"A value of {MAINE} is no number"):
        _of_rdb(RDB.replace("-3.5", "-3.5x").encode())


def test_the_name_of_a_gauge_in_an_answer_is_not_repeated_as_it_came() -> None:
    with pytest.raises(FeedProblem, match="is no number") as refusal:
        _of_rdb(RDB.replace("-3.5", "-3.5x").replace("01031500", "\x1b[2J" + "1" * 5000).encode())
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("body", [b"{}", b'{"value": {"timeSeries": [{}]}}', b"[]", b'{"value": {"timeSeries": 3}}'])
def test_json_of_another_shape_is_broken(body: bytes) -> None:
    with pytest.raises(Broken):
        _of_json(body)
