"""The older daily values of USGS, as JSON and RDB."""

import json

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.series import Flag
from ingestion.feeds.base import FeedProblem, FetchWindow, Observations
from ingestion.feeds.flow import discharge
from ingestion.feeds.http import Broken, Service
from ingestion.feeds.nwis import Form, NwisFeed, _of_json, _of_rdb
from tests.ingestion.feeds.conftest import DAKOTA, MAINE, NOW, Live, gauge, observed, site, why
from tests.ingestion.servers import serving, whole


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


def test_an_empty_list_of_values_means_missing_data(live: Live) -> None:
    live.today("nwis-empty-list")
    assert observed(live.fetch(feed(live))[MAINE]).variables == {}


def test_a_word_in_place_of_a_number_becomes_a_flag(live: Live) -> None:
    live.today("nwis-ice")
    flow = observed(live.fetch(feed(live, "rdb"), "2026-11-01..2026-11-21")[MAINE]).variables["discharge"]
    assert np.isnan(flow.values[-1])
    assert flow.flags[-1] == Flag.MISSING | Flag.ICE


def test_a_gauge_that_is_not_known_looks_like_one_without_data(live: Live) -> None:
    answers = live.fetch(feed(live), sites=[site("USGS-99999999"), site("OWN-mill")])
    assert observed(answers["USGS-99999999"]).variables == {}
    assert "is not a gauge of USGS" in why(answers["OWN-mill"])


RDB = """# comment
agency_cd\tsite_no\tdatetime\t1_00060_00003\t1_00060_00003_cd\t2_00060_00003\t2_00060_00003_cd
5s\t15s\t20d\t14n\t10s\t14n\t10s
USGS\t01031500\t2026-11-01\t-3.5\tA:e\t\t
USGS\t01031500\t2026-11-02\tEqp\tP:Eqp\t4\tP
"""


def test_several_columns_are_several_series_and_a_negative_value_is_one_missing_day() -> None:
    first, second = _of_rdb(RDB.encode()).of(MAINE)
    assert (first.method, second.method) == ("1", "2")
    assert [row.value for row in second.rows] == [4]
    flow = discharge(first.rows, day("2026-11-21"))
    assert flow is not None
    assert np.isnan(flow.values).all()
    assert flow.flags.tolist() == [Flag.APPROVED | Flag.MISSING | Flag.SUSPECT, Flag.MISSING]


def test_an_unknown_code_is_one_missing_day_and_the_gauge_goes_on() -> None:
    first, _ = _of_rdb(RDB.replace("Eqp\tP:Eqp", "Whale\tP").replace("-3.5", "3.5").encode()).of(MAINE)
    flow = discharge(first.rows, day("2026-11-21"))
    assert flow is not None
    assert flow.values[0] == 3.5
    assert flow.flags.tolist() == [Flag.APPROVED | Flag.ESTIMATED, Flag.MISSING | Flag.SUSPECT]


def json_of(*rows: tuple[str, str | int, list[str]], no_data: float = -999999.0) -> bytes:
    """Return the service's answer with rows of a day, a value and its qualifiers."""
    values = [{"value": value, "qualifiers": codes, "dateTime": f"{at}T00:00:00.000"} for at, value, codes in rows]
    variable = {
        "variableCode": [{"value": "00060"}],
        "unit": {"unitCode": "ft3/s"},
        "noDataValue": no_data,
        "options": {"option": [{"optionCode": "00003"}]},
    }
    series = {
        "sourceInfo": {"siteCode": [{"value": MAINE[5:]}]},
        "variable": variable,
        "values": [{"value": values, "method": [{"methodID": 68077}]}],
    }
    return json.dumps({"value": {"timeSeries": [series]}}).encode()


@pytest.mark.parametrize(
    ("rows", "value", "flags"),
    [
        ([("-999999", ["P", "Ice"]), ("-999999", ["P", "Bkw"])], np.nan, Flag.MISSING | Flag.ICE),
        ([("-999999", ["P", "Bkw"]), ("-999999", ["P", "Ice"])], np.nan, Flag.MISSING | Flag.ICE),
        ([("-999999", ["A", "Ice"]), ("250", ["P", "e"])], 250, Flag.APPROVED | Flag.ICE | Flag.ESTIMATED),
        ([("250", ["P"]), ("250.0", ["P", "Ice"])], 250, Flag.ICE | Flag.ESTIMATED),
        ([("250", ["P"]), ("251", ["P", "Ice"])], np.nan, Flag.MISSING | Flag.SUSPECT | Flag.ICE),
        ([("-12.5", ["P"])], np.nan, Flag.MISSING | Flag.SUSPECT),
        ([("0.0", ["P"])], 0, 0),
        ([("240", ["P", "&"])], 240, 0),
        ([("240", ["P", "Whale"])], 240, Flag.SUSPECT),
        ([("-9999", ["A"])], np.nan, Flag.APPROVED | Flag.MISSING),
    ],
)
def test_rows_of_one_day_are_one_day_with_the_flags_of_all(
    rows: list[tuple[str, list[str]]], value: float, flags: int
) -> None:
    """Of DOI-USGS dataRetrieval issue 113: the service gives a day twice."""
    held = _of_json(json_of(*(("2026-11-11", text, codes) for text, codes in rows)))
    flow = discharge(held.of(MAINE)[0].rows, day("2026-11-21"))
    assert flow is not None
    np.testing.assert_array_equal(flow.values, [value])
    assert flow.flags.tolist() == [flags]


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
def test_an_incomplete_rdb_file_is_refused(body: str) -> None:
    with pytest.raises(Broken):
        _of_rdb(body.encode())


@pytest.mark.parametrize("written", ["-3.5x", "1,250", "1_000"])
def test_digits_that_are_not_a_number_are_refused_with_their_day(written: str) -> None:
    with pytest.raises(FeedProblem, match=rf"{MAINE} on 2026-11-01 is not a number \({written}\)"):
        _of_rdb(RDB.replace("-3.5", written).encode()).of(MAINE)


def faulty(form: Form) -> bytes:
    """Return an answer about two gauges, of which the first has a value that cannot be read."""
    if form == "rdb":
        return f"{RDB}USGS\t{DAKOTA[5:]}\t2026-11-02\t4\tP\t\t\n".replace("-3.5", "-3.5x").encode()
    answers = [json.loads(json_of(("2026-11-02", value, ["P"]))) for value in ("-3.5x", "4")]
    first, second = (answer["value"]["timeSeries"][0] for answer in answers)
    second["sourceInfo"]["siteCode"][0]["value"] = DAKOTA[5:]
    return json.dumps({"value": {"timeSeries": [first, second]}}).encode()


@pytest.mark.parametrize("form", ["json", "rdb"])
def test_an_unreadable_value_refuses_its_gauge_alone(live: Live, form: Form) -> None:
    with serving() as server:
        server.answers = [whole(faulty(form))]
        service = Service(server.url(), allowed=[server.host])
        answers = live.fetch(NwisFeed(service, form), sites=[site(MAINE), site(DAKOTA)])
    assert f"{MAINE} on 2026-11-0" in why(answers[MAINE])
    assert observed(answers[DAKOTA]).variables["discharge"].values.tolist() == [4]


def test_the_name_of_a_gauge_in_an_answer_is_not_repeated_as_it_came() -> None:
    (refusal,) = _of_rdb(
        RDB.replace("-3.5", "-3.5x").replace("01031500", "\x1b[2J" + "1" * 5000).encode()
    ).refused.values()
    assert "is not a number" in str(refusal)
    assert str(refusal).isprintable()
    assert len(str(refusal)) < 400


def test_a_whole_number_beyond_all_floats_is_refused_like_another_invalid_number() -> None:
    with pytest.raises(FeedProblem, match=rf"{MAINE} on 2026-11-11 is not a number"):
        _of_json(json_of(("2026-11-11", 10**400, ["P"]))).of(MAINE)
    with pytest.raises(Broken):
        _of_json(json_of(("2026-11-11", "250", ["P"]), no_data=10**400))


@pytest.mark.parametrize("method", ["\ud800", "\0", "\x1b[2J"])
def test_a_method_that_no_database_stores_is_stored_without_those_characters(live: Live, method: str) -> None:
    answer = json.loads(json_of(("2026-11-11", "250", ["P"])))
    answer["value"]["timeSeries"][0]["values"][0]["method"] = [{"methodID": method}]
    with serving() as server:
        server.answers = [whole(json.dumps(answer).encode())]
        given = live.fetch(NwisFeed(Service(server.url(), allowed=[server.host])), sites=[site(MAINE)])[MAINE]
    assert given.file is not None
    assert given.file.name.isprintable()


@pytest.mark.parametrize("body", [b"{}", b'{"value": {"timeSeries": [{}]}}', b"[]", b'{"value": {"timeSeries": 3}}'])
def test_json_of_another_shape_is_broken(body: bytes) -> None:
    with pytest.raises(Broken):
        _of_json(body)


def test_several_series_are_refused_with_their_days(live: Live) -> None:
    def content(**named: str) -> object:
        one = NwisFeed(live.service("/nwis/dv/"), "rdb", named and {MAINE: named["series"]})
        held = _of_rdb(RDB.encode()).of(MAINE)
        try:
            return one._content(site(MAINE), FetchWindow(Period.parse("2026-11-01..2026-11-22"), NOW), held)
        except FeedProblem as problem:
            return problem

    assert "1 (2026-11-01 to 2026-11-02), 2 (2026-11-02 to 2026-11-02)" in str(content())
    assert f"--series {MAINE}=2" in str(content())
    assert "no series 3" in str(content(series="3"))
    assert isinstance(content(series="2"), Observations)
