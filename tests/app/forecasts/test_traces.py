"""What is read from a run with traces of weather: labelled, bounded, with the weather's identity and credit."""

from datetime import timedelta

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.http.limits import costs
from hydrology.base.errors import InvalidInput
from records.database.engine import Database
from records.runs import run_arrays, run_types
from records.runs.run_weather import RunWeather, WeatherSkill
from records.versions import error_models
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run
from tests.app import factories

LATEST = f"/v1/basins/{BASIN}/forecasts/latest"
WEATHER = RunWeather(
    id="01a1f9952f438adb871a00",
    source="a-source",
    model="a-model",
    reference_time=NOW - timedelta(hours=6),
    available_time=NOW - timedelta(hours=1),
    licence="CC BY 4.0",
    credit="Weather data by a source",
    skill=WeatherSkill(issues=3, correlations={"precipitation": [0.9, 0.8]}),
    recalibration=error_models.ASSUMED,
)


@pytest.fixture
def run(database: Database) -> str:
    """A run of two members with three traces of a weather forecast."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        chosen = {"horizon_days": 3, "forcing_kind": "supplied", "weather": WEATHER}
        return a_run(session, version, factories.forecast_with_traces(), **chosen).id


def test_a_forecast_names_its_weather_and_its_credit(run: str, client: TestClient) -> None:
    answer = client.get(LATEST).json()
    assert (answer["run"], answer["forcing_kind"], answer["traces"]) == (run, "supplied", 3)
    assert answer["weather"]["credit"] == "Weather data by a source"
    assert answer["weather"]["reference_time"] == "2008-10-01T00:00:00Z"
    assert answer["quantiles_of"] == "members and traces"
    for address in (f"/v1/runs/{run}", f"/v1/basins/{BASIN}/storage", f"/v1/basins/{BASIN}/water-balance"):
        assert client.get(address).json()["weather"] == answer["weather"]
    assert client.get("/v1/runs").json()["runs"][0]["weather"] == answer["weather"]


def test_its_columns_are_those_of_the_members_with_all_traces(run: str, client: TestClient) -> None:
    answer = client.get(f"{LATEST}?units=mm/day&members=true").json()
    assert list(answer["members"]) == ["0/1999", "0/2000", "0/2001", "1/1999", "1/2000", "1/2001"]
    assert answer["members"]["1/2000"] == factories.DISCHARGE[1].tolist()
    assert answer["precipitation"] == factories.PRECIPITATION.tolist()
    np.testing.assert_allclose(answer["storage"]["total"], factories.STORAGE.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(answer["loss"], factories.LOSS.mean(axis=0), rtol=1e-6)
    storage = client.get(f"/v1/basins/{BASIN}/storage?run={run}").json()
    np.testing.assert_allclose(np.add(storage["snow"], storage["other"]), storage["total"], rtol=1e-6)


def test_its_water_balance_is_of_every_member_and_trace(run: str, client: TestClient) -> None:
    answer = client.get(f"/v1/basins/{BASIN}/water-balance?run={run}").json()
    balance = answer["water_balance"]
    assert {name: member["trace"] for name, member in balance["members"].items()} == {"0": "2000", "1": "2000"}
    ledgers = factories.ledgers()
    rain = np.mean([ledger.terms["precipitation"] for ledger in ledgers])
    assert balance["mean"]["precipitation"] == pytest.approx(rain, rel=1e-6)
    assert answer["residuals"]["1/1999"] == pytest.approx(ledgers[1].residual_mm, rel=1e-6)
    assert len(answer["residuals"]) == 6


def test_more_members_than_one_answer_holds_are_refused(
    run: str, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = f"/v1/forecasts?basins={BASIN}&members=true"
    assert client.get(query).json()["forecasts"][0]["run"] == run
    monkeypatch.setattr(costs, "MAX_VALUES", 2 * 3 * 3 - 1)
    refused = client.get(query)
    assert refused.status_code == 422
    assert "18 values" in refused.json()["errors"][0]["detail"]


@pytest.mark.parametrize("entry", ["residual", "tolerance"])
def test_a_run_is_not_stored_where_one_trace_does_not_close(database: Database, entry: str) -> None:
    result = factories.forecast_with_traces()
    (ledger,) = (series for series in result.series if series.variable == run_arrays.LEDGER)
    run_types.ledger_entry(ledger, entry)[1, 2] = 1 if entry == "residual" else 0
    run_types.ledger_entry(ledger, "residual")[1, 2] += 1e-3
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        with pytest.raises(InvalidInput, match="does not close for every trace"):
            a_run(session, version, result, horizon_days=3)


@pytest.mark.parametrize(("kind", "weather"), [("supplied", None), ("climatology", WEATHER)])
def test_a_run_names_a_weather_forecast_where_it_used_one(
    database: Database, kind: str, weather: RunWeather | None
) -> None:
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        with pytest.raises(InvalidInput, match="has to name its weather forecast"):
            a_run(session, version, forcing_kind=kind, weather=weather)
