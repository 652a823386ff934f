"""Days without a value inside a feed's record: reported at once, asked for until they come, however old."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Period, day
from operations.feeds import holes
from records.series import revisions, series, series_writer
from testing.records import a_source, daily
from tests.ingestion.feeds.conftest import COAST, MAINE, gauge
from tests.operations.feeds.test_feeds import ARCHIVE, FORECAST, USGS, Office, office

__all__ = ["office"]

VARIABLES = ["precipitation", "srad", "tmax", "tmin", "vp"]


def nulls(office: Office, days: Sequence[str], basin: str = MAINE) -> None:
    """Let the archive have no weather of some days of a gauge."""
    one = gauge(basin)
    weather = {}
    for name, series_of in one.weather.items():
        values = series_of.values.copy()
        values[np.isin(series_of.days, np.array(days, dtype="datetime64[D]"))] = np.nan
        weather[name] = replace(series_of, values=values)
    office.world.gauges = {**office.world.gauges, basin: replace(one, weather=weather)}


def asked(office: Office) -> int:
    """Return how often the archive was asked, and forget it."""
    count = sum(path.endswith("archive") for _, path, _, _ in office.world.requests)
    office.world.requests.clear()
    return count


def rain(office: Office, at: str) -> float:
    with office.database.reading() as session:
        stored = series.read(session, MAINE, "open_meteo_era5", "precipitation", Period(day(at), day(at)))
    assert stored is not None
    return float(stored.values[0])


def test_a_weather_forecast_is_asked_once_whatever_is_missing_in_the_record_of_its_gauge(office: Office) -> None:
    values = gauge(MAINE).flow.values.copy()
    values[np.isin(gauge(MAINE).flow.days, np.array(["2026-03-03", "2026-06-03"], dtype="datetime64[D]"))] = np.nan
    flow = replace(gauge(MAINE).flow, values=values)
    office.world.gauges = {**office.world.gauges, MAINE: replace(gauge(MAINE), flow=flow)}
    office.add("flow", USGS)
    assert len(office.fetch("flow", period="2026-01-01..2026-11-21")[MAINE].holes) == 2
    office.add("ahead", FORECAST)
    office.world.requests.clear()
    done = office.fetch("ahead")
    assert sum(path.endswith("forecast") for _, path, _, _ in office.world.requests) == 1
    assert done[MAINE].holes == []


def test_a_null_day_of_a_long_first_fetch_is_reported_and_asked_for_until_it_comes(office: Office) -> None:
    """Of open-meteo issues 2122 and 914: a whole past day is null for days, and is filled later."""
    office.add("past", ARCHIVE)
    nulls(office, ["2026-05-03"])
    first = office.fetch("past", period="2025-11-01..2026-11-21")
    assert first[MAINE].holes == [{"first": "2026-05-03", "last": "2026-05-03", "variables": VARIABLES}]
    assert first[COAST].holes == []
    (remark,) = holes.remarks("past", first.values())
    assert remark.startswith(f"{MAINE} has no {', '.join(VARIABLES)} on 2026-05-03 to 2026-05-03, inside its record.")
    assert remark.endswith(f"freshet feeds fetch past --basin {MAINE} --period 2026-05-03..2026-05-03")
    with office.database.reading() as session:
        found = revisions.findings_of(session, MAINE)["open_meteo_era5"]
    gaps = [finding for finding in found if finding["code"] == "gaps"]
    assert [finding["detail"]["ranges"] for finding in gaps] == [[["2026-05-03", "2026-05-03"]]] * 5

    asked(office)
    office.world.now += timedelta(days=1)
    assert office.fetch("past")[MAINE].holes == first[MAINE].holes
    assert asked(office) == 2

    nulls(office, [])
    office.world.now += timedelta(days=1)
    filled = office.fetch("past")[MAINE]
    assert (filled.holes, filled.status) == ([], "revised")
    may = Period.parse("2026-05-03..2026-05-03")
    assert rain(office, "2026-05-03") == gauge(MAINE).weather["precipitation"].over(may).values[0]
    with office.database.reading() as session:
        assert not [one for one in revisions.findings_of(session, MAINE)["open_meteo_era5"] if one["code"] == "gaps"]
    asked(office)
    office.fetch("past")
    assert asked(office) == 1


def test_months_without_a_fetch_are_caught_up_with(office: Office) -> None:
    office.add("past", ARCHIVE)
    office.world.now -= timedelta(days=100)
    office.fetch("past")
    office.world.now += timedelta(days=100)
    office.fetch("past")
    with office.database.reading() as session:
        stored = series.read(session, MAINE, "open_meteo_era5", "vp")
    assert stored is not None
    assert not np.isnan(stored.values).any()
    assert len(stored) == 130


def test_a_service_that_fails_for_the_holes_alone_still_delivers_the_usual_days(office: Office) -> None:
    office.add("flow", USGS)
    one = gauge(MAINE)
    values = one.flow.values.copy()
    values[int((day("2026-03-05") - one.flow.start).astype(int))] = np.nan
    office.world.gauges = {**office.world.gauges, MAINE: replace(one, flow=replace(one.flow, values=values))}
    shown = office.fetch("flow", period="2026-01-01..2026-11-20")[MAINE]
    assert shown.holes == [{"first": "2026-03-05", "last": "2026-03-05", "variables": ["discharge"]}]
    office.world.gauges = {**office.world.gauges, MAINE: one}
    done = office.fetch("flow")[MAINE]
    assert (done.status, done.new_days, done.revised_days, done.holes) == ("revised", 1, 1, [])


NOW = datetime(2026, 11, 22, 14, tzinfo=UTC)


@given(
    days=st.lists(st.integers(0, 12_000), min_size=1, max_size=60, unique=True),
    start=st.integers(0, 400),
)
def test_a_fetch_asks_for_few_spans_and_in_time_for_every_hole(days: list[int], start: int) -> None:
    missing = np.sort(np.array([day("1990-01-01") + at for at in days]))
    found = {MAINE: {"vp": missing}}
    seen = set[str]()
    for fetch in range(40):
        spans = holes.spans_to_ask(found, NOW + timedelta(days=start + fetch))
        assert 1 <= len(spans) <= holes.MAX_SPANS
        assert all(len(span) <= holes.MAX_SPAN_DAYS and names == [MAINE] for span, names in spans)
        of_fetch = {str(at) for span, _ in spans for at in span.days}
        assert str(missing[-1]) in of_fetch, "the newest hole is asked for each time"
        seen |= of_fetch
    assert {str(at) for at in missing} <= seen


def test_each_basin_is_asked_for_its_own_holes_and_near_ones_go_together() -> None:
    def of(*texts: str) -> dict[str, np.ndarray[tuple[int], np.dtype[np.datetime64]]]:
        return {"vp": np.array(texts, dtype="datetime64[D]")}

    found = {MAINE: of("2026-03-01", "2026-03-04", "2026-06-01"), COAST: of("2026-03-02")}
    spans = [(str(span), names) for span, names in holes.spans_to_ask(found, NOW)]
    assert spans == [("2026-06-01..2026-06-01", [MAINE]), ("2026-03-01..2026-03-04", [MAINE, COAST])]
    assert holes.spans_to_ask({}, NOW) == []


@pytest.mark.parametrize(("count", "shown"), [(1, 1), (50, holes.MAX_REPORTED)])
def test_the_newest_spans_are_reported(count: int, shown: int) -> None:
    missing = np.array([day("2020-01-01") + 10 * at for at in range(count)])
    spans = holes.reported({"vp": missing, "tmax": missing[-1:]})
    assert len(spans) == shown
    assert spans[0] == {"first": str(missing[-1]), "last": str(missing[-1]), "variables": ["tmax", "vp"]}


def asked_flow(office: Office) -> list[str]:
    """Return the spans of daily flow that were asked for, and forget them."""
    queries = [dict(parse_qsl(query)) for _, path, query, _ in office.world.requests if path.endswith("daily/items")]
    office.world.requests.clear()
    return [query["time"] for query in queries if "last_modified" not in query]


def test_the_head_of_a_record_that_did_not_come_is_a_hole_until_it_comes(office: Office) -> None:
    """Of dataRetrieval issue 898: 35 days of a record that begins earlier by its own metadata."""
    office.add("flow", USGS)
    office.world.faults = {office.world.today: ["usgs-no-head"], office.world.today + 1: ["usgs-no-head"]}
    (first,) = office.fetch("flow", MAINE, period="1941-01-01..2026-11-21").values()
    assert (first.status, first.new_days) == ("new", 35)
    hole = {"first": "2023-12-01", "last": "2026-10-17", "variables": ["discharge"]}  # since the begin that is stated
    assert first.holes == [hole]
    (remark,) = holes.remarks("flow", [first])
    assert remark.endswith(f"freshet feeds fetch flow --basin {MAINE} --period 2023-12-01..2026-10-17")

    asked_flow(office)
    (again,) = office.fetch("flow", MAINE).values()
    assert (again.status, again.new_days, again.holes) == ("unchanged", 0, [hole])
    assert asked_flow(office) == ["2026-10-23/2026-11-22", "2023-12-01/2026-10-17"]
    before = office.content()
    assert office.fetch("flow", MAINE)[MAINE].holes == [hole]
    assert office.content() == before
    with office.database.reading() as session:
        found = revisions.findings_of(session, MAINE)
    assert found is not None

    office.world.now += timedelta(days=2)
    asked_flow(office)
    (late,) = office.fetch("flow", MAINE).values()
    assert (late.status, late.holes) == ("new", [])
    assert len(asked_flow(office)) == 2
    assert str(office.flow(MAINE).period.first) == "2023-12-01"
    office.fetch("flow", MAINE)
    assert len(asked_flow(office)) == 1


def test_a_head_is_a_hole_only_as_far_back_as_was_asked_for(office: Office) -> None:
    office.add("flow", USGS)
    office.world.faults = {office.world.today: ["usgs-no-head"]}
    assert office.fetch("flow", MAINE)[MAINE].holes == []  # 30 days were asked for, and came
    (done,) = office.fetch("flow", MAINE, period="2026-10-01..2026-11-21").values()
    assert [(hole["first"], hole["last"]) for hole in done.holes] == [("2026-10-01", "2026-10-17")]
    office.world.faults = {office.world.today: ["usgs-empty"]}
    assert [(hole["first"], hole["last"]) for hole in office.fetch("flow", MAINE)[MAINE].holes] == [
        ("2026-10-01", "2026-10-17")
    ]
    assert office.fetch("flow", COAST, period="2026-01-01..2026-11-21")[COAST].holes == []
    (nothing,) = office.fetch("flow", COAST).values()  # no day of it has ever come
    assert [(hole["first"], hole["last"]) for hole in nothing.holes] == [("2026-01-01", "2026-10-22")]
    office.world.faults = {}
    assert office.fetch("flow")[COAST].holes == []
    assert office.flow(COAST).values[0] > 0


def test_heads_are_few_requests_and_each_has_its_turn() -> None:
    since = {f"USGS-{number}": day("1941-01-01") + number for number in range(5)}
    found = {name: {"discharge": Period(first, day("2026-01-01")).days} for name, first in since.items()}
    found["USGS-0"] = {"discharge": np.append(found["USGS-0"]["discharge"][:3], day("2020-01-01"))}
    seen = set[str]()
    for at in range(5):
        others, heads = holes.without_heads(found, since, NOW + timedelta(days=at))
        assert [str(one) for one in others["USGS-0"]["discharge"]] == ["2020-01-01"]
        assert len(heads) <= holes.MAX_HEADS
        seen |= {name for _, names in heads for name in names}
        assert all(len(others[name]["discharge"]) == 0 for name in since if name != "USGS-0")
    assert seen == {*since}
    assert holes.spans_to_ask(others, NOW) == [(Period(day("2020-01-01"), day("2020-01-01")), ["USGS-0"])]


def test_a_stored_day_of_the_future_makes_no_hole(office: Office) -> None:
    office.add("past", ARCHIVE)
    office.fetch("past")
    with office.database.transaction() as session:
        later = daily("2099-01-02", 1.0, unit="mm/day")
        series_writer.write(session, MAINE, "open_meteo_era5", "precipitation", later, a_source(session), NOW)
    assert office.fetch("past")[MAINE].holes == []


def test_an_old_day_that_is_withdrawn_is_a_hole_until_it_comes_again(office: Office) -> None:
    office.add("past", ARCHIVE)
    assert office.fetch("past", period="2023-12-01..2026-11-21")[MAINE].holes == []
    assert office.fetch("past")[MAINE].holes == []  # of whole years, nothing is read
    with office.database.transaction() as session:
        withdrawn = daily("2025-07-01", np.nan, unit="mm/day")
        series_writer.write(session, MAINE, "open_meteo_era5", "precipitation", withdrawn, a_source(session), NOW)
    nulls(office, ["2025-07-01"])
    hole = {"first": "2025-07-01", "last": "2025-07-01", "variables": ["precipitation"]}
    assert office.fetch("past")[MAINE].holes == [hole]
    nulls(office, [])
    assert office.fetch("past")[MAINE].holes == []
    assert rain(office, "2025-07-01") == gauge(MAINE).weather["precipitation"].values[578]
