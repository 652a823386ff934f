"""EDR's queries by place and its instances, as we understand the standard: not derived from its abstract tests."""

from typing import Any

import numpy as np
import pytest
from covjson_pydantic.coverage import CoverageCollection
from edr_pydantic.collections import Instance, Instances
from hypothesis import assume, given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.exports.formats import CRS
from extensions.edr import places
from extensions.edr.places import MAX_POSITIONS
from hydrology.base.series import Flag
from records.basins import basins
from records.basins.basins import Site
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import series_writer
from testing.records import BASIN, NOW, a_source, daily
from tests.app.exports.conftest import SECOND
from tests.extensions.edr.test_edr import FORECASTS, OBSERVED, read

AROUND = "POLYGON((-70 46, -67 46, -67 48, -70 48, -70 46))"
EUROPE = "POLYGON((0 50,30 50,30 70,0 70,0 50))"
NEAR, BOX = "POINT(-68.45 47.2)", "-70,46,-67,48"
QUERIES = [("position", "coords", NEAR), ("area", "coords", AROUND), ("cube", "bbox", BOX)]


def coverages(client: TestClient, address: str, **query: str) -> list[Any]:
    answer = client.get(address, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/prs.coverage+json"
    CoverageCollection.model_validate_json(answer.text)
    return list(answer.json()["coverages"])


def instance(client: TestClient) -> str:
    (only,) = read(client, f"{FORECASTS}/instances")["instances"]
    return f"{FORECASTS}/instances/{only['id']}"


def test_the_class_of_queries_is_claimed_and_every_query_is_described(exporting: TestClient) -> None:
    claimed = read(exporting, "/v1/edr/conformance")["conformsTo"]
    assert "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/queries" in claimed
    for collection in (FORECASTS, OBSERVED):
        described = read(exporting, collection)["data_queries"]
        for kind, field, value in QUERIES:
            link = described[kind]["link"]
            assert link["variables"]["query_type"] == kind
            assert coverages(exporting, link["href"], **{field: value})
        assert ("instances" in described) == (collection == FORECASTS)


@pytest.mark.parametrize(("kind", "field", "value"), QUERIES)
def test_a_query_by_place_answers_as_the_location_does(
    exporting: TestClient, kind: str, field: str, value: str
) -> None:
    for collection in (FORECASTS, OBSERVED, instance(exporting)):
        (one,) = coverages(exporting, f"{collection}/locations/{BASIN}")
        query = {field: value, "f": "CoverageJSON", "crs": CRS}
        (found,) = coverages(exporting, f"{collection}/{kind}", **query)
        assert found == one
        day = one["domain"]["axes"]["t"]["values"][1]
        name = next(iter(one["ranges"]))
        (part,) = coverages(exporting, f"{collection}/{kind}", **query, **{"datetime": day, "parameter-name": name})
        assert part["domain"]["axes"]["t"]["values"] == [day]
        assert list(part["ranges"]) == [name]
        tag = exporting.get(f"{collection}/{kind}", params=query).headers["ETag"]
        held = exporting.get(f"{collection}/{kind}", params=query, headers={"If-None-Match": tag})
        assert held.status_code == 304


def test_every_gauge_of_a_place_has_a_coverage(exporting: TestClient) -> None:
    everywhere = coverages(exporting, f"{FORECASTS}/cube", bbox="-180,-90,180,90")
    assert [one["id"] for one in everywhere] == [SECOND, BASIN]
    (only,) = coverages(exporting, f"{FORECASTS}/area", coords=EUROPE)
    assert only["id"] == SECOND
    for kind, field, value in (("area", "coords", "POLYGON((1 1,2 1,2 2,1 1))"), ("cube", "bbox", "1,1,2,2")):
        for collection in (FORECASTS, OBSERVED):
            assert coverages(exporting, f"{collection}/{kind}", **{field: value}) == []


@pytest.fixture
def two_gauges(sqlite_database: Database) -> None:
    """Two gauges: one with the flow of twelve years to 2000, one with that of 2008."""
    with sqlite_database.transaction() as session:
        source = a_source(session)
        for basin, first, count, longitude in ((BASIN, "1989-01-01", 4383, -68.5), (SECOND, "2008-01-01", 366, -69.0)):
            basins.upsert(session, Basin(basin, basin, 47.25, longitude))
            flow = daily(first, *np.ones(count).tolist(), flag=Flag.APPROVED, unit="cfs")
            series_writer.write(session, basin, "usgs", "discharge", flow, source, NOW)


@pytest.mark.usefixtures("two_gauges")
def test_gauges_of_a_place_without_data_in_the_interval_have_no_coverage(sqlite_client: TestClient) -> None:
    for days, found in (("1995-01-01/1995-12-31", [BASIN]), ("2008-02-01/..", [SECOND]), ("2003-01-01", [])):
        for kind, field, value in QUERIES[1:]:
            there = coverages(sqlite_client, f"{OBSERVED}/{kind}", **{field: value, "datetime": days})
            assert [one["id"] for one in there] == found
    alone = sqlite_client.get(f"{OBSERVED}/locations/{SECOND}", params={"datetime": "1995-01-01"})
    assert alone.status_code == 404


@pytest.mark.usefixtures("two_gauges")
def test_an_interval_that_is_open_reaches_to_the_ends_of_the_record(sqlite_client: TestClient) -> None:
    (whole,) = coverages(sqlite_client, f"{OBSERVED}/locations/{BASIN}", datetime="../1991-06-30")
    days = whole["domain"]["axes"]["t"]["values"]
    assert (days[0][:10], days[-1][:10]) == ("1989-01-01", "1991-06-30")
    refused = sqlite_client.get(f"{OBSERVED}/locations/{BASIN}", params={"datetime": "../.."})
    assert refused.status_code == 422
    assert [error["field"] for error in refused.json()["errors"]] == ["datetime"]


def test_a_polygon_of_as_many_positions_as_is_promised_is_read(exporting: TestClient) -> None:
    angles = np.linspace(0, 2 * np.pi, MAX_POSITIONS - 1)
    ring = [f"{-68.5 - np.cos(angle):.9f} {47.25 + np.sin(angle):.9f}" for angle in angles]
    (only,) = coverages(exporting, f"{FORECASTS}/area", coords=f"POLYGON(({', '.join([*ring, ring[0]])}))")
    assert only["id"] == BASIN


def test_a_position_without_a_gauge_nearby_is_not_found(exporting: TestClient) -> None:
    answer = exporting.get(f"{FORECASTS}/position", params={"coords": "POINT(-68.0 47.25)"})
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-location")
    assert f"{BASIN}, is 38 km away" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("position", {}),
        ("position", {"coords": "-68.5,47.25"}),
        ("position", {"coords": "POINT Z(-68.5 47.25 1)"}),
        ("position", {"coords": "POINT(-68.5 47.25 1)"}),
        ("position", {"coords": "POINT(47.25 -168.5)"}),
        ("position", {"coords": "POINT(nan 1)"}),
        ("position", {"coords": NEAR, "z": "0"}),
        ("position", {"coords": NEAR, "crs": "EPSG:3857"}),
        ("position", {"coords": NEAR, "f": "GeoJSON"}),
        ("area", {}),
        ("area", {"coords": NEAR}),
        ("area", {"coords": "POLYGON((0 0,1 0,1 1))"}),
        ("area", {"coords": "POLYGON((0 0,1 0,1 1,0 0)"}),
        ("area", {"coords": "POLYGON((0 0,1 0,(1 1),0 0))"}),
        ("area", {"coords": f"POLYGON(({'0 0,' * 1000}0 0))"}),
        ("area", {"coords": AROUND, "z": "0/10"}),
        ("cube", {}),
        ("cube", {"bbox": "1,2,3"}),
        ("cube", {"bbox": "0,48,1,46"}),
        ("cube", {"bbox": "-70,46,0,-67,48,10"}),
        ("cube", {"bbox": BOX, "datetime": "yesterday"}),
        ("cube", {"bbox": BOX, "parameter-name": "nothing"}),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(exporting: TestClient, kind: str, query: dict[str, str]) -> None:
    answer = exporting.get(f"{FORECASTS}/{kind}", params=query)
    assert answer.status_code == 422, answer.text
    fields = {error["field"] for error in answer.json()["errors"]}
    assert fields <= (set(query) or {"coords", "bbox"})


def test_days_outside_the_forecast_of_a_gauge_are_not_found(exporting: TestClient) -> None:
    for collection in (FORECASTS, instance(exporting)):
        (one,) = coverages(exporting, f"{collection}/locations/{BASIN}")
        days = [at[:10] for at in one["domain"]["axes"]["t"]["values"]]
        for kind, query in ((f"locations/{BASIN}", {}), ("position", {"coords": "POINT(-68.5 47.25)"})):
            answer = exporting.get(f"{collection}/{kind}", params={**query, "datetime": "1990-01-01/1990-12-31"})
            assert (answer.status_code, answer.json()["type"]) == (404, "/problems/outside-forecast")
            assert f"{days[0]} to {days[-1]}" in answer.json()["detail"]
        assert coverages(exporting, f"{collection}/cube", bbox="-180,-90,180,90", datetime="1990-01-01") == []


def test_instances_are_the_issued_runs_and_are_described_as_collections(exporting: TestClient) -> None:
    answer = exporting.get(f"{FORECASTS}/instances")
    Instances.model_validate_json(answer.text)
    latest = read(exporting, f"/v1/basins/{BASIN}/forecasts/latest")
    (one,) = answer.json()["instances"]
    assert one["id"] == latest["run"]
    address = instance(exporting)
    assert read(exporting, address) == one
    Instance.model_validate_json(exporting.get(address).text)
    assert one["extent"]["temporal"]["interval"][0][0] == f"{latest['time'][0]}T00:00:00Z"
    assert [feature["id"] for feature in read(exporting, f"{address}/locations")["features"]] == [SECOND, BASIN]
    links = {link["href"].removeprefix("http://localhost") for link in one["links"]}
    assert links == {address, f"{address}/locations"}


def test_what_is_not_an_instance_is_not_found(exporting: TestClient) -> None:
    on_request = read(exporting, "/v1/runs?purpose=on-request")["runs"][0]["id"]
    for address, kind in {
        f"{FORECASTS}/instances/{on_request}": "unknown-instance",
        f"{FORECASTS}/instances/{'0' * 22}/cube?bbox={BOX}": "unknown-instance",
        f"{OBSERVED}/instances": "unknown-instance",
        "/v1/edr/collections/nothing/instances": "unknown-collection",
        f"{instance(exporting)}/locations/SYNTH-03": "unknown-location",
    }.items():
        answer = exporting.get(address)
        assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}"), address


GAUGES = st.lists(st.tuples(st.floats(-179, 179), st.floats(-89, 89)), min_size=1, max_size=5)


@given(GAUGES, st.floats(-179, 178), st.floats(-89, 88), st.floats(0.25, 1))
def test_a_rectangle_holds_the_gauges_that_its_box_holds(
    gauges: list[tuple[float, float]], west: float, south: float, size: float
) -> None:
    west, south = round(west, 6), round(south, 6)
    edges = [west, west + size, south, south + size]
    assume(all(abs(edge - place) > 1e-5 for edge in edges for gauge in gauges for place in gauge))
    sites = {str(number): Site(None, north, east) for number, (east, north) in enumerate(gauges)}
    east, north = round(west + size, 6), round(south + size, 6)
    ring = f"{west} {south},{east} {south},{east} {north},{west} {north},{west} {south}"
    if "e" not in ring:
        assert places.within(sites, places.polygon(f"POLYGON(({ring}))")) == places.in_box(
            sites, f"{west},{south},{east},{north}"
        )
    hole = f"POLYGON(({ring}),({ring}))"
    assert "e" in ring or places.within(sites, places.polygon(hole)) == []
    at, distance = places.nearest(sites, *gauges[-1]) or ("", 1.0)
    assert distance < 1e-6
    assert (sites[at].longitude, sites[at].latitude) == pytest.approx(gauges[-1])
