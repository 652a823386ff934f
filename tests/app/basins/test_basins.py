"""The list of basins and what is known of one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import revisions, series_writer
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_source, daily
from tests.app.factories import forecast

FISH_RIVER = Basin(
    BASIN,
    name="Fish River near Fort Kent, Maine",
    latitude=47.23739,
    longitude=-68.58264,
    huc="01",
    areas={"maurer_extended": 2_303_988_000.0, "area_gages2": 2_252_700_000.0},
    attributes={"elev_mean": 250.31},
    texts={"dom_land_cover": "Mixed Forests"},
)


def fill_records(database: Database, *stored: Basin) -> None:
    with database.transaction() as session:
        for basin in stored:
            basins.upsert(session, basin)


def test_pages_hold_every_basin_once_in_order(database: Database, client: TestClient) -> None:
    ids = [f"USGS-{number:08}" for number in range(1, 8)]
    fill_records(database, *(Basin(basin, name="River", huc="01") for basin in ids), Basin("SYNTH-01"))
    address: str | None = "/v1/basins?q=river&huc=01&limit=3"
    seen, pages = [], 0
    while address is not None:
        answer = client.get(address)
        page = answer.json()
        seen += [basin["id"] for basin in page["basins"]]
        address, pages = page["next"], pages + 1
        assert answer.links.get("next", {}).get("url") == address
    assert (seen, pages) == (ids, 3)


def test_a_page_that_ends_with_the_last_basin_has_no_next(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, Basin("USGS-00000001"), Basin("USGS-00000002"))
    answer = sqlite_client.get("/v1/basins?limit=2")
    assert len(answer.json()["basins"]) == 2
    assert answer.json()["next"] is None
    assert "Link" not in answer.headers


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", ["SYNTH-01", BASIN, "USGS-12345678"]),
        ("?q=FISH", [BASIN]),
        ("?q=0135", [BASIN]),
        ("?huc=01", [BASIN]),
        ("?huc=1", ["USGS-12345678"]),
        ("?q=100%25", []),
        ("?after=01013500", ["USGS-12345678"]),
        ("?bbox=-69,47,-68,48", [BASIN]),
        ("?bbox=-69,47,-68,48&huc=17", []),
        ("?bbox=170,-90,-68,90", [BASIN]),
    ],
)
def test_basins_are_found_by_text_and_unit(
    database: Database, client: TestClient, asked: str, found: list[str]
) -> None:
    fill_records(database, FISH_RIVER, Basin("USGS-12345678", huc="17"), Basin("SYNTH-01"))
    result = client.get(f"/v1/basins{asked}").json()
    assert [basin["id"] for basin in result["basins"]] == found


def test_a_basin_is_described(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, FISH_RIVER, Basin("SYNTH-01"), Basin("OWN-7"))
    result = {basin["id"]: basin["kind"] for basin in sqlite_client.get("/v1/basins").json()["basins"]}
    assert result == {BASIN: "usgs", "SYNTH-01": "synthetic", "OWN-7": "other"}
    assert sqlite_client.get("/v1/basins/SYNTH-01").json()["kind"] == "synthetic"


@pytest.mark.parametrize("asked", ["01013500", BASIN])
def test_a_basin_reports_all_that_is_stored(database: Database, client: TestClient, asked: str) -> None:
    fill_records(database, FISH_RIVER)
    finding = {"code": "gaps", "severity": "warning", "sentence": "Two days are missing.", "detail": {"days": 2}}
    with database.transaction() as session:
        version = a_promoted_version(session, BASIN)
        rain = daily("1999-12-31", 1.0, np.nan, 3.0)
        series_writer.write(session, BASIN, "daymet", "precipitation", rain, source_id=a_source(session), at=NOW)
        revisions.replace_findings(session, BASIN, "daymet", [finding], NOW)
    result = client.get(f"/v1/basins/{asked}").json()
    assert result == {
        "id": BASIN,
        "kind": "usgs",
        "name": "Fish River near Fort Kent, Maine",
        "latitude": 47.23739,
        "longitude": -68.58264,
        "huc": "01",
        "area": {"name": "maurer_extended", "km2": 2303.988},
        "areas_km2": {"area_gages2": 2252.7, "maurer_extended": 2303.988},
        "attributes": {"elev_mean": 250.31},
        "texts": {"dom_land_cover": "Mixed Forests"},
        "weather_points": [],
        "assume_attributes": False,
        "series": [
            {
                "product": "daymet",
                "variable": "precipitation",
                "unit": "mm/day",
                "first_day": "1999-12-31",
                "last_day": "2000-01-02",
                "updated_at": "2008-10-01T06:00:00Z",
            }
        ],
        "current_version": version,
        "quality": {"daymet": [finding]},
        "missing": {},
    }


def test_an_unknown_value_is_null_with_a_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    result = sqlite_client.get(f"/v1/basins/{BASIN}").json()
    assert {name for name, value in result.items() if value is None} == set(result["missing"])
    assert set(result["missing"]) == {"name", "latitude", "longitude", "huc", "area", "current_version"}
    assert "promoted" in result["missing"]["current_version"]


def test_an_unknown_basin_names_those_like_it(database: Database, client: TestClient) -> None:
    fill_records(database, FISH_RIVER)
    answer = client.get("/v1/basins/01013501")
    assert answer.status_code == 404
    assert answer.json()["type"] == "/problems/unknown-basin"
    assert BASIN in answer.json()["detail"]


@pytest.mark.parametrize(
    ("asked", "location", "field"),
    [
        ("/v1/basins?limit=0", "query", "limit"),
        ("/v1/basins?limit=1001", "query", "limit"),
        ("/v1/basins?q=", "query", "q"),
        ("/v1/basins?q=a%00b", "query", "q"),
        ("/v1/basins?huc=one", "query", "huc"),
        ("/v1/basins?after=here", "query", "after"),
        ("/v1/basins?bbox=1,2,3", "query", "bbox"),
        ("/v1/basins?bbox=1,2,3,north", "query", "bbox"),
        ("/v1/basins?bbox=1,3,2,2", "query", "bbox"),
        ("/v1/basins?bbox=-181,2,2,3", "query", "bbox"),
        ("/v1/basins?bbox=nan,2,2,3", "query", "bbox"),
        ("/v1/basins?bbox=1,2,2,inf", "query", "bbox"),
        ("/v1/basins/fish", "path", "basin"),
        ("/v1/basins/USGS-%7B%7D", "path", "basin"),
    ],
)
def test_an_unusable_parameter_is_named(client: TestClient, asked: str, location: str, field: str) -> None:
    answer = client.get(asked)
    assert answer.status_code == 422
    result = answer.json()
    assert result["type"] == "/problems/invalid-request"
    assert [(fault["location"], fault["field"]) for fault in result["errors"]] == [(location, field)]
    assert field in result["detail"]


def test_the_next_page_has_the_same_box(sqlite_database: Database, sqlite_client: TestClient) -> None:
    places = [Basin(f"USGS-0000000{one}", latitude=40.0, longitude=-70.0 + one) for one in range(1, 6)]
    fill_records(sqlite_database, *places)
    first = sqlite_client.get("/v1/basins?bbox=-69,39,-67,41&limit=2").json()
    second = sqlite_client.get(first["next"]).json()
    assert [one["id"][-1] for page in (first, second) for one in page["basins"]] == ["1", "2", "3"]
    assert second["next"] is None


def test_a_basin_that_is_still_the_same_is_not_sent_again(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, FISH_RIVER)
    address = f"/v1/basins/{BASIN}"
    held = {"If-None-Match": sqlite_client.get(address).headers["ETag"]}
    assert sqlite_client.get(address, headers=held).status_code == 304
    with sqlite_database.transaction() as session:
        a_promoted_version(session)
    assert sqlite_client.get(address, headers=held).status_code == 200


def test_the_area_of_a_basin_is_the_one_that_converts_its_flow_everywhere(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    areas = {"area_gages2": 404e6, "daymet": 450e6, "maurer_extended": 437e6, "given": 1e6}
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas=areas))
        series_writer.write(session, BASIN, "usgs", "discharge", daily("2008-09-29", 1.0), a_source(session), NOW)
        result = forecast()
        row = replace(result.basin, area_m2=437e6, area_name="maurer_extended")
        output: dict[str, Any] = {"forcing_kind": "observed", "horizon_days": 3, "t0_age_days": 1, "t0_stale": False}
        a_run(session, a_promoted_version(session), replace(result, basin=row), **output)
    used = {"name": "maurer_extended", "km2": 437.0}
    detail = sqlite_client.get(f"/v1/basins/{BASIN}").json()
    assert (detail["area"], detail["areas_km2"]["area_gages2"]) == (used, 404.0)
    (listed,) = sqlite_client.get("/v1/basins").json()["basins"]
    assert (listed["area"], "areas_km2" in listed) == (used, False)
    (place,) = sqlite_client.get("/v1/basins?format=geojson").json()["features"]
    assert (place["properties"]["area"], place["properties"]["area_source"]) == (437.0, "maurer_extended")
    assert sqlite_client.get(f"/v1/basins/{BASIN}/forecasts/latest").json()["area"] == used
    assert sqlite_client.get(f"/v1/basins/{BASIN}/observations?product=usgs&units=m3/s").json()["area"] == used
    assert "437 km² (maurer_extended)" in sqlite_client.get(f"/basins/{BASIN}").text


def test_without_a_version_no_area_is_chosen_among_those_of_several_products(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    areas = {"area_gages2": 404e6, "daymet": 450e6, "maurer_extended": 437e6}
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas=areas))
        series_writer.write(session, BASIN, "usgs", "discharge", daily("2008-09-29", 1.0), a_source(session), NOW)
    address = f"/v1/basins/{BASIN}"
    detail = sqlite_client.get(address).json()
    assert detail["area"] is None
    assert detail["missing"]["area"].startswith("No current model version chooses among the areas")
    refused = sqlite_client.get(f"{address}/observations?product=usgs&units=m3/s")
    assert refused.status_code == 422
    assert "name one (area_gages2, daymet, maurer_extended)" in refused.json()["detail"]
    named = sqlite_client.get(f"{address}/observations?product=usgs&units=m3/s&area=daymet")
    assert named.json()["area"] == {"name": "daymet", "km2": 450.0}
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"given": 440e6}))
    assert sqlite_client.get(address).json()["area"] == {"name": "given", "km2": 440.0}
