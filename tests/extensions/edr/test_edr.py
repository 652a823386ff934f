"""OGC API - Environmental Data Retrieval: what a client of the standard reads, from the landing page to the numbers."""

from collections.abc import Iterator
from typing import Any

import pytest
from covjson_pydantic.coverage import CoverageCollection
from edr_pydantic.capabilities import ConformanceModel, LandingPageModel
from edr_pydantic.collections import Collection, Collections
from starlette.testclient import TestClient

from app.exports.formats import CRS
from extensions.edr.answers import describe
from extensions.edr.collections import Collection as Described
from records.basins.basins import Site
from testing.records import BASIN
from tests.app.conftest import serving
from tests.app.exports.conftest import BARE, FORECAST, OBSERVATIONS, SECOND

ROOT = "/v1/edr"
OBSERVED = f"{ROOT}/collections/discharge-usgs"
FORECASTS = f"{ROOT}/collections/forecasts"


def read(client: TestClient, address: str, **query: str) -> Any:
    answer = client.get(address, params=query or None)
    assert answer.status_code == 200, answer.text
    return answer.json()


def coverage(client: TestClient, address: str, **query: str) -> Any:
    answer = client.get(address, params=query)
    assert answer.headers["Content-Type"] == "application/prs.coverage+json"
    CoverageCollection.model_validate_json(answer.text)
    (only,) = answer.json()["coverages"]
    return only


def test_every_address_is_reached_by_links_from_the_first(exporting: TestClient) -> None:
    landing = read(exporting, ROOT, f="json")
    LandingPageModel.model_validate(landing)
    links = {link["rel"]: link["href"] for link in landing["links"]}
    assert {exporting.get(href).status_code for href in links.values()} == {200}
    ConformanceModel.model_validate(read(exporting, links["conformance"]))
    for collection in read(exporting, links["data"], f="json")["collections"]:
        of_collection = {link["rel"]: link["href"] for link in collection["links"]}
        assert read(exporting, of_collection["self"]) == collection
        features = read(exporting, of_collection["data"])["features"]
        template = collection["data_queries"]["locations"]["link"]["href"]
        for feature in features:
            address = feature["properties"]["edrqueryendpoint"]
            assert address == f"{template}/{feature['id']}"
            assert coverage(exporting, address)["id"] == feature["id"]


def walked(client: TestClient, address: str) -> dict[str, int]:
    """Follow every link below an address as a client of the standard does, and return the status of each."""
    queries = {"position": "?coords=POINT(-68.5 47.25)", "cube": "?bbox=-70,46,-67,48"}
    queries["area"] = "?coords=POLYGON((-70 46,-67 46,-67 48,-70 48,-70 46))"
    found: dict[str, int] = {}
    to_read = [address]
    while to_read:
        url = to_read.pop()
        if url in found:
            continue
        answer = client.get(url)
        found[url] = answer.status_code
        if url.startswith(address) and "json" in answer.headers["Content-Type"]:
            for name, holder in links_within(answer.json()):
                to_read.append(holder + queries.get(name, ""))
    return found


def links_within(part: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the addresses within an answer, each with the name of the query it belongs to."""
    if isinstance(part, list):
        for one in part:
            yield from links_within(one, name)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key in ("href", "edrqueryendpoint"):
                yield name, value
            else:
                yield from links_within(value, name if key == "link" else key)


def test_every_link_is_absolute_and_leads_to_an_answer(exporting: TestClient) -> None:
    for first in (f"http://localhost{ROOT}", f"http://localhost{ROOT}/"):
        found = walked(exporting, first)
        assert set(found.values()) == {200}
        assert all(address.startswith("http://localhost/") and "{" not in address for address in found)
        for part in ("/collections/forecasts/instances/", "/area?", "/cube?", "/position?", "/locations/", "/docs"):
            assert any(part in address for address in found), part


def test_links_have_the_address_that_the_service_is_reached_at(sqlite: str) -> None:
    with serving(sqlite, public_url="https://rivers.example.org/flow/") as client:
        for address in (ROOT, f"{ROOT}/collections", FORECASTS, f"{FORECASTS}/instances"):
            hrefs = [href for _, href in links_within(client.get(address).json())]
            assert hrefs
            assert all(href.startswith("https://rivers.example.org/flow/") for href in hrefs)


def test_collections_have_the_shape_of_the_standard(exporting: TestClient) -> None:
    answer = exporting.get(f"{ROOT}/collections")
    collections = Collections.model_validate_json(answer.text).collections
    assert [collection.id for collection in collections] == ["forecasts", "discharge-usgs"]
    Collection.model_validate_json(exporting.get(FORECASTS).text)
    for collection in answer.json()["collections"]:
        (feature, *_) = read(exporting, f"{ROOT}/collections/{collection['id']}/locations")["features"]
        address = feature["properties"]["edrqueryendpoint"]
        parameters = read(exporting, address)["parameters"]
        assert {name: one["observedProperty"].get("id") for name, one in parameters.items()} == {
            name: describe["observedProperty"].get("id") for name, describe in collection["parameter_names"].items()
        }
        assert {name: describe.get("unit") for name, describe in parameters.items()} == {
            name: describe.get("unit") for name, describe in collection["parameter_names"].items()
        }


def test_a_collection_describes_its_extent_in_space_and_time(exporting: TestClient) -> None:
    time = read(exporting, FORECAST)["time"]
    extent = read(exporting, FORECASTS)["extent"]
    assert extent["spatial"] == {"bbox": [[-68.5, 47.25, 15.0, 60.0]], "crs": CRS}
    assert extent["temporal"]["interval"] == [[f"{time[0]}T00:00:00Z", f"{time[-1]}T00:00:00Z"]]
    assert [feature["id"] for feature in read(exporting, f"{FORECASTS}/locations")["features"]] == [SECOND, BASIN]
    (feature,) = read(exporting, f"{OBSERVED}/locations")["features"]
    assert feature["geometry"] == {"type": "Point", "coordinates": [-68.5, 47.25]}


def test_a_forecast_has_the_numbers_of_json(exporting: TestClient) -> None:
    result = read(exporting, FORECAST)
    describe = coverage(exporting, f"{FORECASTS}/locations/{BASIN}")
    assert describe["domain"]["axes"]["t"]["values"] == [f"{day}T00:00:00Z" for day in result["time"]]
    for variable in ("calibrated", "discharge"):
        for name, values in result[variable].items():
            assert describe["ranges"][f"{variable}_{name}"]["values"] == values
    assert describe["ranges"]["storage_snow"]["values"] == result["storage"]["snow"]


def test_observations_have_the_numbers_of_json(exporting: TestClient) -> None:
    result = read(exporting, OBSERVATIONS)
    describe = coverage(exporting, f"{OBSERVED}/locations/{BASIN}")["ranges"]
    assert describe["discharge"]["values"] == result["values"]["discharge"]
    assert describe["discharge_flags"]["values"] == result["flags"]["discharge"]


@pytest.mark.parametrize(
    ("datetime", "stored"),
    [
        ("{1}", [1]),
        ("{1}T12:00:00Z", [1]),
        ("{1}T23:00:00-05:00", [2]),
        ("{1}/{2}", [1, 2]),
        ("../{1}", [0, 1]),
        ("{1}T00:00:00Z/..", [1, 2]),
    ],
)
@pytest.mark.parametrize(("collection", "name"), [(FORECASTS, "discharge_median"), (OBSERVED, "discharge")])
def test_a_part_is_chosen_by_parameter_and_time(
    exporting: TestClient, collection: str, name: str, datetime: str, stored: list[int]
) -> None:
    address = f"{collection}/locations/{BASIN}"
    whole = coverage(exporting, address)
    days = [instant[:10] for instant in whole["domain"]["axes"]["t"]["values"]]
    used = [days[:3], days[-3:]][collection == OBSERVED and datetime.endswith("..")]
    part = coverage(exporting, address, **{"parameter-name": name, "datetime": datetime.format(*used)})
    times = part["domain"]["axes"]["t"]["values"]
    assert [instant[:10] for instant in times] == [used[place] for place in stored]
    assert list(part["ranges"]) == [name]
    at = whole["domain"]["axes"]["t"]["values"].index(times[0])
    values = whole["ranges"][name]["values"]
    assert part["ranges"][name]["values"] == values[at : at + len(stored)]


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        (f"{ROOT}/collections/nothing", "unknown-collection"),
        (f"{ROOT}/collections/discharge-nothing/locations", "unknown-collection"),
        (f"{FORECASTS}/locations/{BARE}", "unknown-location"),
        (f"{FORECASTS}/locations/NOWHERE-1", "unknown-location"),
    ],
)
def test_a_missing_resource_is_a_problem(exporting: TestClient, address: str, kind: str) -> None:
    answer = exporting.get(address)
    assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")


@pytest.mark.parametrize(
    "query",
    [
        {"datetime": "yesterday"},
        {"datetime": ".."},
        {"datetime": "2008-02-30"},
        {"datetime": "2008-04-21/2008-04-22/2008-04-23"},
        {"datetime": "2008-04-22/2008-04-21"},
        {"parameter-name": "discharge_median,nothing"},
        {"f": "GRIB"},
    ],
)
def test_a_query_that_cannot_be_used_is_refused_by_name(exporting: TestClient, query: dict[str, str]) -> None:
    answer = exporting.get(f"{FORECASTS}/locations/{BASIN}", params=query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] in query


def test_a_copy_that_is_still_the_same_is_not_sent_again(exporting: TestClient) -> None:
    address = f"{FORECASTS}/locations/{BASIN}"
    tag = exporting.get(address).headers["ETag"]
    assert exporting.get(address, headers={"If-None-Match": tag}).status_code == 304
    narrower = exporting.get(address, params={"parameter-name": "lead_days"}, headers={"If-None-Match": tag})
    assert narrower.status_code == 200


def test_the_extent_of_gauges_on_both_sides_of_the_180th_meridian_crosses_it() -> None:
    sites = {"OWN-fiji": Site("Fiji", -17.8, 177.97), "OWN-atka": Site("Atka", 52.2, -174.2)}
    described = describe(Described("forecasts", "", "", [], sites, None), "http://localhost")
    assert described.extent.spatial.bbox == [(177.97, -17.8, -174.2, 52.2)]
    nowhere = describe(Described("forecasts", "", "", [], {}, None), "http://localhost")
    assert nowhere.extent.spatial.bbox == [(-180.0, -90.0, 180.0, 90.0)]
