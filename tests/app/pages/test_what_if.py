"""The page that asks what if, and shows what would be."""

import re

import pytest
from starlette.testclient import TestClient

from app.pages.what_if import SLIDERS
from hydrology.base.unit_systems import CHOICES, UnitSystem
from hydrology.base.units import Units
from jobspec.kinds import read
from records.database.engine import Database
from testing.records import BASIN, a_basin
from tests.app import factories
from tests.app.conftest import bearer
from tests.app.forecasts.test_what_if import fill_records, with_more_water

PAGE = f"/basins/{BASIN}/what-if"


def test_the_form_begins_with_the_days_and_the_weather_of_the_latest_forecast(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast(), with_more_water())
    page = sqlite_client.get(PAGE, headers=bearer(sqlite_database)).text
    assert 'data-call="POST /v1/jobs"' in page
    assert 'name="params.t0" data-entry="text" data-default="" value="2008-09-30"' in page
    assert '<option value="observed" selected>' in page


def test_without_a_key_it_is_asked_for_before_the_form(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast(), with_more_water())
    page = sqlite_client.get(PAGE).text
    assert "freshet keys make NAME --scope operator" in page
    assert "data-needs-key" in page
    assert "data-call" not in page


def test_without_a_forecast_there_is_the_form_all_the_same(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    answer = sqlite_client.get(PAGE, headers=bearer(sqlite_database))
    assert answer.status_code == 200
    assert 'name="params.t0" data-entry="text" data-default="" value=""' in answer.text


def test_a_run_is_shown_beside_the_one_without_its_changes(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    _, changed = fill_records(sqlite_database, factories.forecast(), with_more_water())
    page = " ".join(re.sub("<[^>]+>", " ", sqlite_client.get(f"{PAGE}?run={changed}").text).split())
    assert "2 °C warmer, with the same relative humidity and sun; 10 mm more water as snow at T0." in page
    assert "Over 3 days 5.75 mm more flows out, 13.2 million m³." in page
    assert "increment +10.000" in page
    assert "Reason: more snow?" in page


def test_a_run_that_is_not_a_what_if_is_reported_on_a_page(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    base, _ = fill_records(sqlite_database, factories.forecast(), with_more_water())
    answer = sqlite_client.get(f"{PAGE}?run={base}")
    assert answer.status_code == 422
    assert "is not a what-if run but operational" in answer.text


@pytest.mark.parametrize("units", CHOICES)
@pytest.mark.parametrize("end", ["lowest", "highest"])
def test_the_ends_of_every_slider_can_be_asked_for(end: str, units: Units) -> None:
    changes: dict[str, object] = {}
    for slider in SLIDERS:
        shown = slider.shown_in(UnitSystem(units))
        name, _, part = slider.name.partition(".")
        value = getattr(shown, end) * shown.size
        assert value == pytest.approx(getattr(slider, end), abs=1.2 * slider.step)
        changes[name] = {part: value} if part else value
    assert read("what-if", {"changes": changes}).kind == "what-if"


def test_the_form_and_the_document_state_that_the_note_is_public(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    public = "It is public: everybody who can read forecasts can read it."
    assert public in sqlite_client.get(PAGE, headers=bearer(sqlite_database)).text
    schemas = sqlite_client.get("/openapi.json").json()["components"]["schemas"]
    assert public in schemas["WhatIfParams"]["properties"]["note"]["description"]
    assert "public" in schemas["WhatIf"]["properties"]["note"]["description"]
