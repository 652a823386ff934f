"""Daily series as CoverageJSON: what JSON says, in the shape of the standard."""

import json
from typing import Any

import pytest
from covjson_pydantic.coverage import CoverageCollection
from starlette.testclient import TestClient

from tests.app.exports.conftest import BARE, FORECAST, FORECASTS, OBSERVATIONS, SECOND, STORAGE
from tests.records.factories import BASIN


def collection(client: TestClient, address: str) -> Any:
    answer = client.get(address, headers={"Accept": "application/prs.coverage+json"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/prs.coverage+json"
    return answer.json()


@pytest.mark.parametrize("address", [f"{FORECAST}?members=true", FORECASTS, OBSERVATIONS, STORAGE])
def test_it_has_the_shape_of_the_standard(exporting: TestClient, address: str) -> None:
    said = collection(exporting, address)
    read = CoverageCollection.model_validate_json(json.dumps(said))
    assert read.parameters is not None
    for coverage in read.coverages:
        assert set(coverage.ranges) == set(read.parameters)
    for group in said["parameterGroups"]:
        assert set(group["members"]) <= set(said["parameters"])


def test_a_forecast_says_what_json_says(exporting: TestClient) -> None:
    said = exporting.get(f"{FORECAST}?members=true").json()
    (coverage,) = collection(exporting, f"{FORECAST}?members=true")["coverages"]
    assert coverage["id"] == BASIN
    axes = coverage["domain"]["axes"]
    assert (axes["x"]["values"], axes["y"]["values"]) == ([-68.5], [47.25])
    assert axes["t"]["values"] == [f"{day}T00:00:00Z" for day in said["time"]]
    values = {name: told["values"] for name, told in coverage["ranges"].items()}
    for variable in ("calibrated", "discharge"):
        for name, told in said[variable].items():
            assert values[f"{variable}_{name}"] == told
    assert values["member_1"] == said["members"]["1"]
    assert values["storage_total"] == said["storage"]["total"]
    for name in ("run", "t0", "issued_at", "stale"):
        assert coverage["freshet:about"][name] == said[name]


def test_observations_say_what_json_says(exporting: TestClient) -> None:
    said, told = exporting.get(OBSERVATIONS).json(), collection(exporting, OBSERVATIONS)
    (coverage,) = told["coverages"]
    assert coverage["ranges"]["discharge"]["values"] == said["values"]["discharge"]
    assert told["parameters"]["discharge"]["unit"] == {"symbol": "m3/s"}
    assert told["parameters"]["discharge"]["observedProperty"]["id"].endswith(
        "/water_volume_transport_in_river_channel/"
    )


def test_a_basin_without_a_forecast_or_a_place_is_named(exporting: TestClient) -> None:
    said = collection(exporting, FORECASTS)
    assert [coverage["id"] for coverage in said["coverages"]] == [BASIN, SECOND]
    assert said["freshet:without"] == [
        {"basin": BARE, "reason": exporting.get(FORECASTS).json()["without"][0]["reason"]}
    ]
