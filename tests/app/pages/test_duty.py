"""What a duty forecaster sees: a preview of an adjustment, what waits, missing forecasts, several hydrographs."""

import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from hydrology.attribution import ErrorSplit
from hydrology.base.calendar import day
from records.database.engine import Database
from records.database.stored import add_all, as_values
from records.runs import runs
from records.verification.error_splits import ForecastError
from testing.records import BASIN, NOW
from tests.app import factories
from tests.app.conftest import bearer
from tests.app.forecasts.test_forecasts import fill_records

PAGE = f"/basins/{BASIN}"


@pytest.fixture(autouse=True)
def run(sqlite_database: Database) -> str:
    """The run of a calibrated forecast."""
    return fill_records(sqlite_database, factories.forecast())


def drawings(page: str) -> list[Any]:
    """Return what the figures of a page draw."""
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)]


def values(drawing: Any, label: str) -> list[float | None]:
    """Return the values of a curve."""
    (found,) = [curve["values"] for curve in drawing["curves"] if curve["label"] == label]
    return list(found)


def test_an_adjustment_is_previewed_by_its_address_without_a_key(sqlite_client: TestClient) -> None:
    page = sqlite_client.get(f"{PAGE}/adjust?factor=2&shift_days=1").text
    (drawing,) = drawings(page)
    issued, adjusted = values(drawing, "as issued"), values(drawing, "as adjusted")
    assert adjusted[0] is None
    assert adjusted[1:] == pytest.approx([2 * flow for flow in issued[:-1] if flow is not None], rel=1e-3)
    assert "--scope forecaster" in page
    assert 'name="words"' not in page
    assert sqlite_client.get(f"{PAGE}/adjust?factor=11").status_code == 422
    assert sqlite_client.get(f"{PAGE}/adjust?shift_days=6").status_code == 422


def test_the_form_of_a_draft_is_for_forecasters(sqlite_database: Database, sqlite_client: TestClient) -> None:
    path = f"{PAGE}/adjust?factor=1.5"
    form = sqlite_client.get(path, headers=bearer(sqlite_database, "forecaster")).text
    assert f'data-call="POST /v1/basins/{BASIN}/adjustments"' in form
    assert 'value="1.5"' in form
    assert "data-needs-key" not in form
    assert "data-needs-key" in sqlite_client.get(path, headers=bearer(sqlite_database)).text


def test_a_page_beyond_the_scope_of_a_key_asks_for_another(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    answer = sqlite_client.get("/held", headers=bearer(sqlite_database))
    assert answer.status_code == 403
    assert "has the scope operator, but this needs forecaster" in answer.text
    assert "data-needs-key" in answer.text


def test_a_basin_is_run_again_with_the_weather_and_days_of_its_forecast(sqlite_client: TestClient) -> None:
    (form,) = re.findall(r'<form [^>]*data-call="POST /v1/jobs".*?</form>', sqlite_client.get(PAGE).text, re.DOTALL)
    sent = dict(re.findall(r'name="([^"]+)"[^>]* value="([^"]*)"', form))
    assert sent == {
        "kind": "forecast",
        "params.basins": BASIN,
        "params.weather": "observed",
        "params.horizon": "3",
    }


def test_basins_without_a_forecast_of_the_day_are_named_to_forecasters(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    text = sqlite_client.get("/jobs", headers=bearer(sqlite_database, "forecaster")).text
    assert "Run the daily cycle" in text
    assert ("Run the missing ones" in text) == ("no forecast that is up to date" in text)
    assert "Run the daily cycle" not in sqlite_client.get("/jobs", headers=bearer(sqlite_database)).text


def test_basins_are_compared_with_observed_flow_and_range_in_the_chosen_units(sqlite_client: TestClient) -> None:
    for units, name in (("mm/day", "mm/day"), ("m3/s", "m³/s")):
        (drawing,) = drawings(sqlite_client.get("/compare", params={"basin": BASIN, "units": units}).text)
        assert drawing["unit"] == name
        assert {"observed", "median"} <= {curve["label"] for curve in drawing["curves"]}
        assert drawing["bands"]


def test_the_worst_forecasts_are_drawn_beside_what_came(
    sqlite_database: Database, sqlite_client: TestClient, run: str
) -> None:
    assert "verify issued forecasts" in sqlite_client.get(f"{PAGE}/worst").text
    split = ErrorSplit(observed=10.0, error=4.0, weather=3.0, initial_state=0.5, network=0.5)
    with sqlite_database.transaction() as session:
        version = runs.get(session, run).version_id
        error = ForecastError(
            run_id=run,
            basin_id=BASIN,
            version_id=version,
            t0=day("2008-09-30"),
            horizon_days=3,
            weather="observed",
            season="son",
            volume=split,
            peak=split,
            verified_at=NOW,
        )
        add_all(session, ForecastError, [as_values(error)])
    page = sqlite_client.get(f"{PAGE}/worst").text
    assert "The volume of 3 days was forecast as 14.0 mm, and 10.0 came" in page
    (drawing,) = drawings(page)
    assert drawing["t0"] == "2008-09-30"
    assert {"observed", "median"} <= {curve["label"] for curve in drawing["curves"]}
