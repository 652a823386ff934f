"""Daily series as CoverageJSON: the content of JSON, in the shape of the standard."""

import json
from typing import Any

import pytest
from covjson_pydantic.coverage import CoverageCollection
from starlette.testclient import TestClient

from testing.records import BASIN
from tests.app.exports.conftest import BARE, FORECAST, FORECASTS, OBSERVATIONS, SECOND, STORAGE


def collection(client: TestClient, address: str) -> Any:
    answer = client.get(address, headers={"Accept": "application/prs.coverage+json"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/prs.coverage+json"
    return answer.json()


@pytest.mark.parametrize("address", [f"{FORECAST}?members=true", FORECASTS, OBSERVATIONS, STORAGE])
def test_it_has_the_shape_of_the_standard(exporting: TestClient, address: str) -> None:
    result = collection(exporting, address)
    read = CoverageCollection.model_validate_json(json.dumps(result))
    assert read.parameters is not None
    for coverage in read.coverages:
        assert set(coverage.ranges) == set(read.parameters)
    for group in result["parameterGroups"]:
        assert set(group["members"]) <= set(result["parameters"])


def test_a_forecast_has_the_content_of_json(exporting: TestClient) -> None:
    result = exporting.get(f"{FORECAST}?members=true").json()
    (coverage,) = collection(exporting, f"{FORECAST}?members=true")["coverages"]
    assert coverage["id"] == BASIN
    axes = coverage["domain"]["axes"]
    assert (axes["x"]["values"], axes["y"]["values"]) == ([-68.5], [47.25])
    assert axes["t"]["values"] == [f"{day}T00:00:00Z" for day in result["time"]]
    values = {name: shown["values"] for name, shown in coverage["ranges"].items()}
    for variable in ("calibrated", "discharge"):
        for name, shown in result[variable].items():
            assert values[f"{variable}_{name}"] == shown
    assert values["member_1"] == result["members"]["1"]
    assert values["storage_total"] == result["storage"]["total"]
    for name in ("run", "t0", "issued_at", "stale"):
        assert coverage["freshet:about"][name] == result[name]


def test_observations_have_the_content_of_json(exporting: TestClient) -> None:
    result, shown = exporting.get(OBSERVATIONS).json(), collection(exporting, OBSERVATIONS)
    (coverage,) = shown["coverages"]
    assert coverage["ranges"]["discharge"]["values"] == result["values"]["discharge"]
    assert shown["parameters"]["discharge"]["unit"] == {"symbol": "m3/s"}
    assert shown["parameters"]["discharge"]["observedProperty"]["id"].endswith(
        "/water_volume_transport_in_river_channel/"
    )


def test_a_basin_without_a_forecast_or_a_place_is_named(exporting: TestClient) -> None:
    result = collection(exporting, FORECASTS)
    assert [coverage["id"] for coverage in result["coverages"]] == [BASIN, SECOND]
    assert result["freshet:without"] == [
        {"basin": BARE, "reason": exporting.get(FORECASTS).json()["without"][0]["reason"]}
    ]
