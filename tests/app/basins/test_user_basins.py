"""Own basins and their observations, and the promotion of a version."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.http.limits.body_limit import LARGEST_UPLOAD
from hydrology.base.calendar import day
from ingestion.sources.tables import TablesSource
from records.database.engine import Database
from records.jobs import jobs
from records.runs import states
from records.series import series_writer
from records.versions import promotions
from testing.records import BASIN, NOW, a_basin, a_source, a_state, a_version, daily, withdraw
from tests.app.conftest import bearer, serving

MILL: dict[str, Any] = {
    "name": "Mill Creek",
    "latitude": 44.085,
    "longitude": -115.622,
    "area_km2": 118.4,
    "attributes": {"elev_mean": 2012.5},
}
TABLE = b"basin,date,precipitation_mm_per_day,discharge_m3_per_s\nOWN-mill,2008-04-01,3.2,1.71\n"


@pytest.fixture
def receiving(sqlite: str, tmp_path: Path) -> Iterator[TestClient]:
    """A service with a data folder."""
    with serving(sqlite, data=tmp_path / "data") as started:
        yield started


def test_an_own_basin_is_registered_and_changed(database: Database, client: TestClient) -> None:
    header = bearer(database)
    created = client.put("/v1/basins/OWN-mill", json=MILL, headers=header)
    assert created.status_code == 201
    result = client.get("/v1/basins/OWN-mill").json()
    assert result == created.json()
    assert (result["kind"], result["name"], result["areas_km2"]) == ("unofficial", "Mill Creek", {"own": 118.4})
    assert result["attributes"] == {"elev_mean": 2012.5, "area_km2": 118.4}
    changed = client.put("/v1/basins/OWN-mill", json=MILL | {"huc": "1705"}, headers=header)
    assert (changed.status_code, changed.json()["huc"]) == (200, "1705")


def test_a_revised_attribute_makes_the_states_invalid(sqlite_database: Database, sqlite_client: TestClient) -> None:
    header = bearer(sqlite_database)
    sqlite_client.put("/v1/basins/OWN-mill", json=MILL, headers=header)
    with sqlite_database.transaction() as session:
        series_writer.write(
            session, "OWN-mill", "own", "precipitation", daily("2008-04-01", 1, 2), a_source(session), NOW
        )
        version = a_version(session).id
        states.put(session, [a_state(version, "2008-04-02", basin_id="OWN-mill", product="own")], NOW)

    def valid() -> bool:
        with sqlite_database.reading() as session:
            return states.newest_valid(session, version, "OWN-mill", day("2008-04-02")) is not None

    sqlite_client.put("/v1/basins/OWN-mill", json=MILL | {"name": "Mill"}, headers=header)
    assert valid()
    revised = MILL | {"attributes": {"elev_mean": 1999.0}}
    assert sqlite_client.put("/v1/basins/OWN-mill", json=revised, headers=header).status_code == 200
    assert not valid()


@pytest.mark.parametrize("basin", ["01013500", "USGS-01013500", "SYNTH-01", "CARAVAN-camels_01"])
def test_a_basin_of_another_source_is_not_written(
    sqlite_database: Database, sqlite_client: TestClient, basin: str
) -> None:
    answer = sqlite_client.put(f"/v1/basins/{basin}", json=MILL, headers=bearer(sqlite_database))
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/taken-namespace")
    assert sqlite_client.get("/v1/basins").json()["basins"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"latitude": 91}, "latitude"),
        ({"area_km2": 0}, "area_km2"),
        ({"name": " \t"}, "name"),
        ({"huc": "x"}, "huc"),
        ({"product": "Own!"}, "product"),
        ({"attributes": {"area_km2": 1}}, "attributes"),
        ({"attributes": {"a b": 1}}, "attributes"),
        ({"attributes": {"elev_mean": 10**400}}, "attributes"),
        ({"attributes": {"elev_mean": None}}, "attributes"),
        ({"area": 1}, "area"),
    ],
)
def test_a_field_that_no_basin_has_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, change: dict[str, Any], field: str
) -> None:
    answer = sqlite_client.put("/v1/basins/OWN-mill", json=MILL | change, headers=bearer(sqlite_database))
    assert answer.status_code == 422
    assert all(fault["field"].startswith(field) for fault in answer.json()["errors"])


def test_observations_are_stored_for_the_job_that_reads_them(
    sqlite_database: Database, receiving: TestClient, tmp_path: Path
) -> None:
    header = bearer(sqlite_database) | {"Content-Type": "text/csv; charset=utf-8", "Idempotency-Key": "april"}
    answer, again = (
        receiving.post("/v1/basins/observations?product=mill", content=TABLE, headers=header) for _ in range(2)
    )
    assert (answer.status_code, again.status_code, again.json()) == (202, 200, answer.json())
    assert answer.headers["Location"] == f"/v1/jobs/{answer.json()['id']}"
    with sqlite_database.reading() as session:
        job = jobs.get(session, answer.json()["id"])
    stored = tmp_path / "data" / "uploads" / job.params["observations_file"]
    assert (job.kind, job.queue) == ("upload", "ingest")
    assert job.params == {"observations_file": stored.name, "product": "mill", "name": "upload.csv"}
    assert stored.parent == tmp_path / "data" / "uploads"
    assert stored.read_bytes() == TABLE
    assert stored.stat().st_mode & 0o777 == 0o600
    assert list(stored.parent.iterdir()) == [stored]
    read = TablesSource(None, stored, "mill", ["OWN-mill"]).read("OWN-mill")
    assert {one.variable for one in read.series} == {"precipitation", "discharge"}


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('attachment; filename="mill april.csv"', "mill april.csv"),
        ("attachment; filename*=UTF-8''m%C3%BChle.csv", "mühle.csv"),
        ('attachment; filename="../../etc/C:\\\\data\\\\mill.csv"', "mill.csv"),
        (f'attachment; filename="{"x" * 300}"', "x" * 200),
        ("attachment; filename=", "upload.csv"),
        ("nonsense", "upload.csv"),
    ],
)
def test_a_file_is_called_as_its_sender_names_it(
    sqlite_database: Database, receiving: TestClient, header: str, name: str
) -> None:
    headers = bearer(sqlite_database) | {"Content-Type": "text/csv", "Content-Disposition": header}
    answer = receiving.post("/v1/basins/observations", content=TABLE, headers=headers)
    assert (answer.status_code, answer.json()["params"]["name"]) == (202, name)


def test_each_job_has_a_file_of_its_own(sqlite_database: Database, receiving: TestClient) -> None:
    header = bearer(sqlite_database) | {"Content-Type": "text/csv"}
    answers = [
        receiving.post(f"/v1/basins/observations?product={product}", content=TABLE, headers=header | key)
        for product, key in [("own", {}), ("own", {}), ("own", {"Idempotency-Key": "may"}), ("mill", {})]
    ]
    assert len({answer.json()["params"]["observations_file"] for answer in answers}) == 4


def test_observations_may_come_as_json(sqlite_database: Database, receiving: TestClient, tmp_path: Path) -> None:
    table = [{"basin": "OWN-mill", "date": "2008-04-01", "tmax_degC": 3.5}]
    answer = receiving.post("/v1/basins/observations", json=table, headers=bearer(sqlite_database))
    stored = tmp_path / "data" / "uploads" / answer.json()["params"]["observations_file"]
    assert stored.suffix == ".json"
    assert TablesSource(None, stored, "own", ["OWN-mill"]).basins() == ["OWN-mill"]


@pytest.mark.parametrize(
    ("content", "media", "status", "kind"),
    [
        (b" \n", "text/csv", 422, "invalid-request"),
        (TABLE, "application/octet-stream", 415, "unsupported-media-type"),
        (TABLE, None, 415, "unsupported-media-type"),
        (b"x" * (LARGEST_UPLOAD + 1), "text/csv", 413, "too-large"),
    ],
)
def test_an_upload_that_cannot_be_used_is_refused(
    *, sqlite_database: Database, receiving: TestClient, tmp_path: Path, content: bytes, media: str | None,
    status: int, kind: str,
) -> None:  # fmt: skip
    header = bearer(sqlite_database) | ({"Content-Type": media} if media else {})
    answer = receiving.post("/v1/basins/observations", content=content, headers=header)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{kind}")
    assert not (tmp_path / "data").exists()
    with sqlite_database.reading() as session:
        assert jobs.list_jobs(session) == []


def test_a_version_is_put_in_use_by_an_admin(database: Database, client: TestClient) -> None:
    header = bearer(database, "admin", "chief")
    with database.transaction() as session:
        basins = [a_basin(session), a_basin(session, "SYNTH-01")]
        version = a_version(session, basins=tuple(basins)).id
    address = f"/v1/models/{version}/promotion"
    first = client.put(address, json={"reason": "better", "basins": ["01013500"]}, headers=header).json()
    assert (first["current_basins"], first["promotions"][0]["promoted_by"]) == ([BASIN], "chief")
    rest, again = (client.put(address, json={"reason": "all of them"}, headers=header) for _ in range(2))
    assert rest.json()["current_basins"] == sorted(basins)
    assert again.json() == rest.json() == client.get(f"{address}s").json()
    with database.reading() as session:
        assert promotions.current(session, basins) == dict.fromkeys(basins, version)


def test_a_promotion_that_cannot_be_is_refused(sqlite_database: Database, sqlite_client: TestClient) -> None:
    header = bearer(sqlite_database, "admin")
    with sqlite_database.transaction() as session:
        version, withdrawn = a_version(session).id, a_version(session).id
        withdraw(session, withdrawn)
    for id_, body, status, kind in (
        ("nothing", {"reason": "better"}, 404, "unknown-version"),
        (withdrawn, {"reason": "better"}, 422, "withdrawn-version"),
        (version, {"reason": "better", "basins": [BASIN]}, 404, "unknown-basin"),
        (version, {"reason": " "}, 422, "invalid-request"),
        (version, {}, 422, "invalid-request"),
    ):
        answer = sqlite_client.put(f"/v1/models/{id_}/promotion", json=body, headers=header)
        assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{kind}")


SQUARE = {"type": "Polygon", "coordinates": [[[-69, 45], [-68, 45], [-68, 46], [-69, 46], [-69, 45]]]}


def test_a_gauge_is_added_by_a_job(database: Database, client: TestClient) -> None:
    result = {"basin": "01031500", "outline": SQUARE, "assume_attributes": True}
    assert client.post("/v1/basins", json=result).status_code == 401
    posted = client.post("/v1/basins", json=result, headers=bearer(database, "admin"))
    assert posted.status_code == 202
    assert posted.json()["kind"] == "basin"
    with database.reading() as session:
        job = jobs.get(session, posted.json()["id"])
    assert (job.queue, job.params) == ("service", result | {"basin": "USGS-01031500"})


def test_only_the_polygon_of_an_outline_is_stored(database: Database, client: TestClient) -> None:
    feature = {"type": "Feature", "properties": {"\0": math.nan}, "geometry": SQUARE | {"bbox": "\ud800"}}
    body = json.dumps({"basin": "01031500", "outline": feature})  # httpx writes no NaN, others do
    posted = client.post(
        "/v1/basins", content=body, headers=bearer(database, "admin") | {"Content-Type": "application/json"}
    )
    assert posted.status_code == 202
    with database.reading() as session:
        assert jobs.get(session, posted.json()["id"]).params == {"basin": "USGS-01031500", "outline": SQUARE}


@pytest.mark.parametrize(
    ("result", "field"),
    [
        ({"basin": "SYNTH-01"}, "the basins of SYNTH are ingested from their source"),
        ({"basin": "OWN-mill", "latitude": 44.0}, "latitude and longitude go together"),
        ({"basin": "OWN-mill", "outline": {"type": "Point", "coordinates": [0, 0]}}, "not a GeoJSON Polygon"),
        ({"basin": "OWN-mill", "attributes": {"latitude": 5.0}}, "not attributes: latitude"),
        ({"basin": "OWN-mill", "area_km2": 0.0}, "area_km2"),
    ],
)
def test_a_basin_that_cannot_be_is_refused_by_name(
    sqlite_database: Database, sqlite_client: TestClient, result: dict[str, Any], field: str
) -> None:
    refused = sqlite_client.post("/v1/basins", json=result, headers=bearer(sqlite_database))
    assert refused.status_code == 422
    assert field in refused.text


def test_only_the_owner_of_a_basin_or_an_admin_changes_it(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    result = {"basin": BASIN, "assume_attributes": True}
    refused = sqlite_client.post("/v1/basins", json=result, headers=bearer(sqlite_database))
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-your-basin")
    admin = bearer(sqlite_database, "admin", "chief")
    assert sqlite_client.post("/v1/basins", json=result, headers=admin).status_code == 202
