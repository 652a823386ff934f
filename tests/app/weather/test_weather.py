"""Weather forecasts over REST: listed, read as of an instant, and sent for a job to store."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.http.limits.body_limit import LARGEST_UPLOAD
from ingestion import weather_files as files
from records.database.engine import Database
from records.jobs import jobs
from records.weather import weather_issues
from testing.files import weather as weather_files
from testing.records import BASIN, NOW, a_basin, a_weather_forecast, an_issue, instant
from tests.app.conftest import bearer, serving

OTHER = "USGS-01022500"


@pytest.fixture
def receiving(sqlite: str, tmp_path: Path) -> Iterator[TestClient]:
    """The service on SQLite, with a data folder of its own."""
    with serving(sqlite, data=tmp_path / "data") as started:
        yield started


def fill_records(database: Database, *references: str, operational: bool = True) -> list[str]:
    """Store a forecast of a basin for each reference time, and return their ids."""
    with database.transaction() as session:
        a_basin(session)
        return [
            weather_issues.store(
                session,
                [a_weather_forecast(an_issue(at, licence="CC BY 4.0", credit="By a source"))],
                NOW + timedelta(seconds=number),
                operational=operational,
            ).issue_id
            for number, at in enumerate(references)
        ]


def test_they_are_listed_a_page_at_a_time_the_last_stored_first(database: Database, client: TestClient) -> None:
    ids = fill_records(database, "2008-09-28", "2008-09-29", "2008-09-30")
    first = client.get("/v1/weather?limit=2").json()
    rest = client.get(first["next"]).json()
    assert [one["id"] for one in (*first["weather"], *rest["weather"])] == ids[::-1]
    assert rest["next"] is None
    assert (first["weather"][0]["licence"], first["weather"][0]["credit"]) == ("CC BY 4.0", "By a source")
    for query, count in (("basin=01013500", 3), ("source=a-source", 3), ("model=another", 0)):
        assert len(client.get(f"/v1/weather?{query}").json()["weather"]) == count
    assert client.get(f"/v1/weather?basin={OTHER}").status_code == 404


def test_a_weather_forecast_is_reported_with_its_content(database: Database, client: TestClient) -> None:
    (issue,) = fill_records(database, "2008-09-30")
    result = client.get(f"/v1/weather/{issue}").json()
    assert (result["source"], result["model"], result["operational"]) == ("a-source", "a-model", True)
    assert result["basins"] == [
        {
            "basin": BASIN,
            "available_time": "2008-09-30T06:00:00Z",
            "first_day": "2008-09-30",
            "last_day": "2008-10-02",
            "traces": 2,
            "variables": ["precipitation", "srad", "tmax", "tmin", "vp"],
        }
    ]
    of_basin = client.get(f"/v1/weather/{issue}/basins/01013500")
    shown = of_basin.json()
    assert shown["time"] == ["2008-09-30", "2008-10-01", "2008-10-02"]
    assert shown["traces"]["1"]["tmax"] == [9.0] * 3
    assert shown["units"]["vp"] == "Pa"
    assert shown["credit"] == "By a source"
    again = client.get(f"/v1/weather/{issue}/basins/01013500", headers={"If-None-Match": of_basin.headers["ETag"]})
    assert again.status_code == 304


def test_forecasts_after_the_clock_are_not_reported(database: Database, client: TestClient) -> None:
    (issue,) = fill_records(database, "2008-10-01T03:00")  # available at 9:00, and it is 6:00
    assert client.get("/v1/weather").json()["weather"] == []
    assert client.get(f"/v1/weather/{issue}").json()["basins"] == []
    for address in (f"/v1/weather/{issue}/basins/{BASIN}", "/v1/weather/nothing"):
        answer = client.get(address)
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-weather")


@pytest.mark.parametrize(
    ("media", "write"),
    [
        ("application/json", weather_files.written_json),
        ("text/csv; charset=utf-8", weather_files.written_csv),
        ("application/x-netcdf", weather_files.written_netcdf),
    ],
)
def test_a_posted_file_is_stored_for_the_job_that_reads_it(
    sqlite_database: Database, receiving: TestClient, tmp_path: Path, media: str, write: Callable[[Path], Path]
) -> None:
    sent = write(tmp_path).read_bytes()
    header = bearer(sqlite_database) | {"Content-Type": media, "Idempotency-Key": "today"}
    answer, again = (receiving.post("/v1/weather", content=sent, headers=header) for _ in range(2))
    assert (answer.status_code, again.status_code, again.json()) == (202, 200, answer.json())
    with sqlite_database.reading() as session:
        job = jobs.get(session, answer.json()["id"])
    path = tmp_path / "data" / "uploads" / job.params["weather_file"]
    assert (job.kind, job.queue) == ("weather", "ingest")
    assert path.read_bytes() == sent
    assert [forecast.basin for forecast in files.read(path, instant("2026-11-23")).forecasts] == list(
        weather_files.BASINS
    )


@pytest.mark.parametrize(
    ("content", "media", "status", "kind"),
    [
        (b" \n", "application/json", 422, "invalid-request"),
        (b"{}", "application/octet-stream", 415, "unsupported-media-type"),
        (b"x" * (LARGEST_UPLOAD + 1), "text/csv", 413, "too-large"),
    ],
)
def test_an_invalid_weather_forecast_is_refused(
    sqlite_database: Database, receiving: TestClient, content: bytes, media: str, status: int, kind: str
) -> None:
    answer = receiving.post("/v1/weather", content=content, headers=bearer(sqlite_database) | {"Content-Type": media})
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{kind}")
    with sqlite_database.reading() as session:
        assert jobs.list_jobs(session) == []
