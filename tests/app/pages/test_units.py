"""Every number of every page is in the chosen units, and the choice is remembered or in the address."""

import re
from collections.abc import Iterator, Mapping
from html import unescape

import pytest
from sqlalchemy import insert
from starlette.testclient import TestClient

from hydrology.base.basins import TIME_ZONE
from hydrology.base.unit_systems import CHOICES, UnitSystem
from hydrology.base.units import Units
from operations.alerts.decide_alerts import decide
from records.basins import basins
from records.basins.ownership import TEXTS, Basin
from records.database.engine import Database
from records.runs.run_weather import RunWhatIf
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_run
from testing.work import work_of
from tests.app import factories
from tests.app.adjustments.test_adjustments import draft, publish
from tests.app.conftest import bearer
from tests.app.forecasts.test_what_if import CHANGES, with_more_water
from tests.app.outlooks.readers import OF_PAGES, Shown
from tests.app.outlooks.test_outlooks import fill_records
from tests.app.pages.page_text import text_of

METRIC = r"million m³|km²|°C|(?<!\w)[\d.]+ m\b|\bmm\b"
CUSTOMARY = r"ft³/s|in/day|(?<!\w)[\d.]+ in[,.;)]|\bft\b|acre-feet|mi²|°F"
OTHERS: Mapping[Units, str] = {
    "m3/s": CUSTOMARY,
    "mm/day": rf"{CUSTOMARY}|m³/s",
    "cfs": rf"{METRIC}|m³/s|mm/day",
}
"""What no page names in each choice."""


@pytest.fixture
def paths(sqlite_database: Database, sqlite_client: TestClient) -> dict[str, dict[str, str]]:
    """Store a basin with an alert, an adjustment and a what-if run; return the pages, and the headers of their keys."""
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        basins.upsert(
            session, Basin(BASIN, areas={"maurer_extended": factories.AREA_M2}, latitude=47.2, longitude=-68.6)
        )
    decide(work_of(sqlite_database, Clock(NOW)), [BASIN])
    ann = bearer(sqlite_database, "forecaster", "Ann")
    run = Shown(sqlite_client, sqlite_database, BASIN).outlook["run"]
    adjustment = draft(sqlite_client, ann, run, factor=1.5)["id"]
    publish(sqlite_client, ann, adjustment)
    with sqlite_database.transaction() as session:
        asked = RunWhatIf(changes=CHANGES, note="more snow?", by="river office", base=run)
        kind = {"horizon_days": 3, "forcing_kind": "observed"}
        changed = a_run(session, version, with_more_water(), purpose="what-if", what_if=asked, **kind)
    here = f"/basins/{BASIN}"
    of_basin = (here, f"{here}?members=true", f"{here}/adjust", f"{here}/adjusted", f"{here}/what-if?run={changed.id}")
    keyed = (f"{here}/levels", f"/adjustments/{adjustment}", "/held", "/feeds", "/deliveries")
    for_all = ("/", f"/compare?basin={BASIN}", "/alerts", *of_basin)
    return {path: dict[str, str]() for path in for_all} | dict.fromkeys(keyed, ann)


def test_no_page_names_another_unit_than_those_chosen(
    sqlite_client: TestClient, paths: dict[str, dict[str, str]]
) -> None:
    for units, others in OTHERS.items():
        named = set()
        for path, key in paths.items():
            answer = sqlite_client.get(path, headers=key | {"Cookie": f"freshet-units={units}"})
            assert answer.status_code == 200, answer.text
            assert set(answer.headers["vary"].split(", ")) >= {"Authorization", "Cookie"}
            text = " ".join(_texts(answer.text))
            assert re.findall(rf".{{0,40}}(?:{others})", text) == [], f"{path} in {units}"
            named |= set(re.findall(r"m³/s|ft³/s|mm/day|\d mm\b|\d in\b", text))
        assert len(named) >= 2, units


def _texts(page: str) -> Iterator[str]:
    """Yield the text of a page without the chooser and API calls, and what it names for screen readers."""
    hidden = "|".join(rf"<{tag}\b.*?</{tag}>" for tag in ("header", "script", "code", "option"))
    page = re.sub(hidden, "", page, flags=re.DOTALL)
    yield text_of(page)
    yield from map(unescape, re.findall(r'(?:aria-label|aria-valuetext|data-unit)="([^"]*)"', page))


def test_pages_show_the_numbers_of_the_outlook_in_each_choice(
    sqlite_database: Database, sqlite_client: TestClient, paths: dict[str, dict[str, str]]
) -> None:
    assert paths
    for units in CHOICES:
        shown = Shown(sqlite_client, sqlite_database, BASIN, units)
        assert [fault for reader in OF_PAGES for fault in reader.faults(shown)] == []


def test_the_choice_is_remembered_and_an_address_goes_before_it(
    sqlite_client: TestClient, paths: dict[str, dict[str, str]]
) -> None:
    assert paths
    links = re.findall(r'href="([^"]*units=cfs)"', sqlite_client.get("/?search=a&units=mm/day").text)
    assert [unescape(one) for one in links] == ["/?search=a&units=cfs"]
    cookie = sqlite_client.get("/?search=a&units=cfs").headers["set-cookie"]
    assert "HttpOnly; Max-Age=31536000; Path=/; SameSite=lax" in cookie
    assert "Highest, ft³/s" in sqlite_client.get("/").text
    assert "set-cookie" not in sqlite_client.get("/").headers
    assert "Highest, m³/s" in sqlite_client.get("/?units=m3/s").text
    assert sqlite_client.get("/?units=furlongs").status_code == 422
    assert sqlite_client.get("/alerts", headers={"Cookie": "freshet-units=furlongs"}).status_code == 200


@pytest.mark.usefixtures("paths")
def test_times_are_in_the_zone_of_the_gauge_or_that_which_a_reader_has_chosen(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    page = f"/basins/{BASIN}"
    assert "UTC" in _issued(sqlite_client, page)
    with sqlite_database.transaction() as session:
        session.execute(insert(TEXTS).values(basin_id=BASIN, name=TIME_ZONE, value="America/Phoenix"))
    assert "MST" in _issued(sqlite_client, page)
    assert "UTC" in text_of(sqlite_client.get("/").text)
    chosen = sqlite_client.get("/?zone=Asia/Kolkata&search=a")
    assert "Path=/; SameSite=lax" in chosen.headers["set-cookie"]
    assert '<input type="hidden" name="search" value="a">' in chosen.text
    assert all(" IST" in sqlite_client.get(path).text for path in ("/", page, "/status"))
    refused = sqlite_client.get("/?zone=Mars/Olympus")
    assert refused.status_code == 422
    assert "write one such as America/Denver" in refused.text


def _issued(client: TestClient, page: str) -> str:
    found = re.search(r"issued [0-9][^<]*", client.get(page).text)
    assert found is not None
    return found[0]


def test_an_amount_has_no_more_decimal_places_than_its_unit_is_measured_with() -> None:
    metric, customary = UnitSystem("m3/s"), UnitSystem("cfs")
    assert [metric.amount(value, "mm") for value in (0.00138, 0.0, -0.001, 0.0149, 72.6)] == [
        *("0.00 mm", "0 mm", "0.00 mm", "0.01 mm", "72.6 mm")
    ]
    assert [customary.amount(value, "mm") for value in (0.00138, 72.6)] == ["0.00 in", "2.86 in"]
    assert customary.sentence("members 0.02 to 72.6 mm") == "members 0.00 to 2.86 in"
    assert (metric.amount(0.00432, "m³/s"), metric.amount(0.0000432, "m³/s")) == ("0.0043 m³/s", "0.0000 m³/s")
