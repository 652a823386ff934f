"""A posted weather forecast is checked and stored by a job; an operator's never replaces a feed's."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import Period, day
from records.access.keys import Scope
from records.jobs import jobs
from records.weather import weather_issues
from testing.files import weather as weather_files
from testing.records import a_basin
from tests.app.conftest import bearer, sqlite, sqlite_database
from tests.workers.tasks.test_posted_observations import run, service, tools
from workers.queue import uploads
from workers.queue.enqueue import WorkerContext

__all__ = ["service", "sqlite", "sqlite_database", "tools"]

DOCUMENT = weather_files.document() | {
    "reference_time": "2008-10-01T00:00:00Z",
    "available_time": "2008-10-01T05:00:00Z",
}
for _weather in DOCUMENT["basins"].values():
    _weather["time"] = ["2008-10-01", "2008-10-02", "2008-10-03"]


def send(service: TestClient, tools: WorkerContext, scope: Scope, document: dict[str, Any]) -> jobs.Job:
    """Post a weather forecast, let a worker store it, and return the job that has ended."""
    header = bearer(tools.database, scope) | {"Content-Type": "application/json"}
    posted = service.post("/v1/weather", content=json.dumps(document), headers=header)
    assert posted.status_code == 202
    run(tools, posted.json()["id"])
    with tools.database.reading() as session:
        return jobs.get(session, posted.json()["id"])


@pytest.fixture(autouse=True)
def _basins(tools: WorkerContext) -> None:
    with tools.database.transaction() as session:
        a_basin(session, weather_files.BASINS[0])


@pytest.mark.parametrize(("scope", "operational"), [("admin", True), ("operator", False)])
def test_usable_basins_are_stored_and_the_others_refused_by_name(
    service: TestClient, tools: WorkerContext, scope: Scope, operational: bool
) -> None:
    job = send(service, tools, scope, DOCUMENT)
    assert job.status == "succeeded"
    assert job.result is not None
    assert (job.result["new"], job.result["known"], job.result["refused_basins"]) == (1, 0, 1)
    assert "is stored here" in job.result["refused"][weather_files.BASINS[1]]
    now = tools.clock.now()
    with tools.database.reading() as session:
        assert weather_issues.get(session, job.result["weather"]).operational is operational
        days = Period(day("2008-10-02"), day("2008-10-03"))
        newest = weather_issues.newest(session, [weather_files.BASINS[0]], now, days)
    assert newest == ({weather_files.BASINS[0]: job.result["weather"]} if operational else {})
    assert list(uploads.folder(tools.settings.data).iterdir()) == []
    again = send(service, tools, scope, DOCUMENT).result
    assert again is not None
    assert (again["weather"], again["new"], again["known"]) == (job.result["weather"], 0, 1)


def test_another_content_under_the_same_identity_is_refused(service: TestClient, tools: WorkerContext) -> None:
    send(service, tools, "admin", DOCUMENT)
    changed = json.loads(json.dumps(DOCUMENT))
    del changed["basins"][weather_files.BASINS[1]]
    changed["basins"][weather_files.BASINS[0]]["traces"]["0"]["precipitation"][0] = 99.0
    job = send(service, tools, "admin", changed)
    assert job.problem is not None
    assert (job.status, job.problem["kind"]) == ("failed", "no-weather")
    assert "never change" in job.problem["detail"]


def test_a_job_reads_no_file_but_what_was_sent(tools: WorkerContext, tmp_path: Path) -> None:
    outside = weather_files.written_json(tmp_path, DOCUMENT)
    with tools.database.transaction() as session:
        new = jobs.NewJob(kind="weather", params={"weather_file": str(outside)}, queue="ingest")
        job, _ = jobs.create(session, new, tools.clock.wall())
    run(tools, job.id)
    with tools.database.reading() as session:
        ended = jobs.get(session, job.id)
        assert weather_issues.list_issues(session, tools.clock.now()) == []
    assert ended.problem is not None
    assert (ended.status, ended.problem["kind"]) == ("failed", "bad-source")
    assert outside.exists()


def document(**values: list[float]) -> dict[str, Any]:
    """Return a weather forecast of one basin and trace."""
    base = {"precipitation": [0.0, 3, 5, 0, 1], "tmax": [15.0] * 5, "tmin": [4.0] * 5, "vp": [700.0] * 5} | values
    days = [f"2008-10-0{number}" for number in range(1, 6)]
    units = {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC", "vp": "Pa"}
    return {**DOCUMENT, "units": units, "basins": {weather_files.BASINS[0]: {"time": days, "traces": {"0": base}}}}


def test_weather_in_another_unit_than_declared_is_refused(service: TestClient, tools: WorkerContext) -> None:
    job = send(service, tools, "operator", document(vp=[7.0] * 5))
    assert job.problem is not None
    assert (job.status, job.problem["kind"]) == ("failed", "no-weather")
    assert "vp of the weather forecast of USGS-01013500 has a median of 7 Pa" in job.problem["detail"]
    assert "these look like hPa. Convert them to Pa (first on 2008-10-01: 7 Pa)" in job.problem["detail"]


def test_odd_weather_is_stored_and_named_in_the_result(service: TestClient, tools: WorkerContext) -> None:
    job = send(service, tools, "operator", document(precipitation=[3, 5, 9, 9, 11]))
    assert job.result is not None
    assert (job.result["new"], job.result["warned_basins"]) == (1, 1)
    assert "it looks accumulated" in job.result["warnings"][weather_files.BASINS[0]][0]
