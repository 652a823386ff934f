"""The head of a basin's page: whether the forecast is current, one sentence, and what the hydrograph shows."""

import json
import re
from datetime import timedelta
from typing import Any

from starlette.testclient import TestClient

from app.forecasts.words import number
from hydrology.base.calendar import day
from records.database.engine import Database
from testing.records import BASIN, NOW, a_run
from tests.app import factories
from tests.app.alerts.test_alerts import fill_records
from tests.app.conftest import bearer, serving
from tests.app.pages.page_text import text_of

PAGE = f"/basins/{BASIN}"
TABLE = "stage_ft,discharge_cfs\n1,0.1\n5,400\n9,90000"


def drawn(page: str, name: str = "discharge") -> dict[str, Any]:
    """Return what a figure of the page draws."""
    (found,) = re.findall(rf'data-figure="{BASIN}-{name}".*?<script type="application/json">(.*?)</script>', page, re.S)
    drawing: dict[str, Any] = json.loads(found)
    return drawing


def test_the_hydrograph_has_now_official_categories_the_peak_and_the_issue_before(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        a_run(session, version, factories.forecast(), horizon_days=3, filled_days=1, t0=day("2008-09-29"))
        a_run(session, version, factories.forecast(), horizon_days=3)
    outlook = sqlite_client.get(f"/v1/basins/{BASIN}/outlook").json()
    page = sqlite_client.get(PAGE).text
    drawing = drawn(page)
    assert drawing["now"] == NOW.isoformat().replace("+00:00", "Z")
    assert drawing["t0"] == "2008-09-30"
    assert (drawing["peak"]["p05"], drawing["peak"]["p95"]) == (outlook["peak"]["p05"], outlook["peak"]["p95"])
    rising = [level for level in outlook["threat"]["levels"] if level["direction"] == "rising"]
    assert {level["value"] for level in drawing["levels"]} <= {level["discharge"] for level in rising}
    assert [level["value"] for level in drawing["levels"]] == sorted(level["value"] for level in drawing["levels"])
    assert drawing["levels"][0]["ground"] is None
    assert outlook["change"]["t0"] == "2008-09-29"
    changes = text_of(page.split('<h2 id="changes">')[1].split("</section>")[0])
    before, after = outlook["change"]["peak"], outlook["peak"]
    assert "Forecast of 29 September Of 30 September Peak" in changes
    assert f"{number(after['discharge'])} m³/s on 2 October {number(after['p05'])} to {number(after['p95'])}" in changes
    assert f"Peak {number(before['discharge'])} m³/s on 1 October" in changes
    assert "Highest likely level" in changes
    assert "forecast of 29 September" in [curve["label"] for curve in drawing["curves"]]  # of another horizon


def test_stages_stand_at_the_flows_that_the_rating_gives(sqlite_database: Database, sqlite_client: TestClient) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        a_run(session, version, factories.forecast(), horizon_days=3)
    assert drawn(sqlite_client.get(PAGE).text)["stages"] is None
    rated = {"table": TABLE, "source": "a.rdb"}
    written = sqlite_client.put(f"/v1/basins/{BASIN}/rating", json=rated, headers=bearer(sqlite_database, "admin"))
    assert written.status_code < 300, written.text
    for units, unit in (("cfs", "ft"), ("m3/s", "m"), ("mm/day", "m")):
        drawing = drawn(sqlite_client.get(PAGE, params={"units": units}).text)
        stages = drawing["stages"]
        assert stages["unit"] == f"Stage, {unit}"
        assert 2 <= len(stages["labels"]) == len(stages["values"])
        assert stages["values"] == sorted(stages["values"])
        if units == "cfs":
            assert round(stages["values"][stages["labels"].index("5")], 3) == 400


def test_official_categories_differ_from_levels_of_their_name(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    version = fill_records(sqlite_database)
    per_mm = factories.AREA_M2 / 1000 / 86_400
    sqlite_client.headers.update(bearer(sqlite_database, "admin"))
    named = {"moderate": {"stage": -9999, "flow": 3 * per_mm}, "major": {"stage": -9999, "flow": 4 * per_mm}}
    file = {"flood": {"stageUnits": "m", "flowUnits": "cms", "categories": named, "impacts": []}}
    official = {"document": file, "source": "NOAA/NWS"}
    assert sqlite_client.put(f"/v1/basins/{BASIN}/flood-categories", json=official).status_code < 300
    own = {"discharge": 2 * per_mm, "direction": "rising"}
    assert sqlite_client.put(f"/v1/basins/{BASIN}/thresholds/minor", json=own).status_code < 300
    with sqlite_database.transaction() as session:
        a_run(session, version, factories.forecast(), horizon_days=3)
    levels = drawn(sqlite_client.get(PAGE).text)["levels"]
    shown = {level["label"].partition(",")[0]: level["ground"] for level in levels}
    assert (shown["minor flood"], shown["moderate flood"], shown["major flood"]) == (None, "warning-3", "before")


def test_a_forecast_that_is_not_current_is_labelled_above_its_numbers(sqlite: str, sqlite_database: Database) -> None:
    version = fill_records(sqlite_database)
    with serving(sqlite) as client:
        assert "No current forecast." in text_of(client.get(PAGE).text)
    with sqlite_database.transaction() as session:
        a_run(session, version, factories.forecast(), horizon_days=3)
    with serving(sqlite) as client:
        assert "No current forecast" not in client.get(PAGE).text
    with serving(sqlite, NOW + timedelta(days=9)) as client:
        page = text_of(client.get(PAGE).text)
        since = client.get(f"/v1/basins/{BASIN}/outlook").json()["freshness"]["since"]
    assert since.startswith("2008-10-04")
    assert page.index("No current forecast since 4 October 2008.") < page.index("Threat")
