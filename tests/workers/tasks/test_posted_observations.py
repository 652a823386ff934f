"""Posted observations change the basins that their key registered, and no gauge that has a source of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from extensions.openmeteo.feed_kinds import OpenMeteoArchiveSettings
from jobspec.feed_kinds import NewFeed
from jobspec.feeds import FilesSettings
from records.access import keys
from records.access.audit import AUDIT
from records.access.keys import Scope
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.feeds import feeds
from records.jobs import jobs
from records.series import series, series_writer
from records.series.revisions import SOURCES
from runtime.clock import Clock
from runtime.settings import Settings
from testing.jobs.in_process import InProcessChildren
from testing.records import BASIN, NOW, a_basin, a_source, daily
from tests.app.conftest import bearer, serving, sqlite, sqlite_database
from workers.job_processes.worker import Worker
from workers.queue.enqueue import Sender, WorkerContext

__all__ = ["sqlite", "sqlite_database"]

MILL: dict[str, Any] = {"name": "Mill Creek", "latitude": 44.085, "longitude": -115.622, "area_km2": 118.4}


@pytest.fixture
def tools(sqlite: str, sqlite_database: Database, tmp_path: Path) -> Iterator[WorkerContext]:
    """What a worker works with, on the database of the service."""
    settings = Settings(data=tmp_path, database_url=sqlite, broker_url="memory://", as_of=NOW)
    sender = Sender(settings, sqlite_database, Clock(NOW))
    yield WorkerContext(settings, sqlite_database, Clock(NOW), sender=sender)
    sender.close()


@pytest.fixture
def service(sqlite: str, tmp_path: Path) -> Iterator[TestClient]:
    """The service, over the same data folder."""
    with serving(sqlite, data=tmp_path) as started:
        yield started


def run(tools: WorkerContext, job: str) -> None:
    """Run a job as a worker does."""
    Worker("worker", tools, InProcessChildren(tools)).run(job)


def send(service: TestClient, tools: WorkerContext, header: dict[str, str], basin: str, flow: float) -> jobs.Job:
    """Post a day's flow of a basin, let a worker take it in, and return the job that has ended."""
    table = f"basin,date,discharge_cfs\n{basin},2008-04-01,{flow}\n"
    posted = service.post("/v1/basins/observations", content=table, headers=header | {"Content-Type": "text/csv"})
    assert posted.status_code == 202
    run(tools, posted.json()["id"])
    with tools.database.reading() as session:
        return jobs.get(session, posted.json()["id"])


def flow_of(database: Database, basin: str, product: str) -> list[float] | None:
    with database.reading() as session:
        stored = series.read(session, basin, product, "discharge")
    return None if stored is None else np.asarray(stored.values).tolist()


@pytest.mark.parametrize("scope", ["operator", "admin"])
def test_a_gauge_with_a_source_retains_its_flow(service: TestClient, tools: WorkerContext, scope: Scope) -> None:
    with tools.database.transaction() as session:
        gauge = a_basin(session, BASIN)
        series_writer.write(
            session, gauge, "usgs", "discharge", daily("2008-04-01", 1287, unit="cfs"), a_source(session), NOW
        )
    job = send(service, tools, bearer(tools.database, scope), BASIN, 99999)
    assert job.problem is not None
    assert (job.status, job.problem["kind"]) == ("failed", "bad-source")
    assert flow_of(tools.database, BASIN, "usgs") == [1287]


def test_a_basin_is_changed_by_the_key_that_registered_it_or_an_admin(
    service: TestClient, tools: WorkerContext
) -> None:
    owner, other = bearer(tools.database, name="mill"), bearer(tools.database, name="another mill")
    admin = bearer(tools.database, "admin")
    assert service.put("/v1/basins/OWN-mill", json=MILL, headers=owner).status_code == 201
    assert send(service, tools, owner, "OWN-mill", 10).status == "succeeded"
    assert send(service, tools, other, "OWN-mill", 99999).status == "failed"
    assert flow_of(tools.database, "OWN-mill", "own") == [10]
    assert send(service, tools, admin, "OWN-mill", 20).status == "succeeded"
    assert flow_of(tools.database, "OWN-mill", "own") == [20]

    moved = MILL | {"latitude": 0}
    refused = service.put("/v1/basins/OWN-mill", json=moved, headers=other)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-your-basin")
    assert service.get("/v1/basins/OWN-mill").json()["latitude"] == MILL["latitude"]
    assert service.put("/v1/basins/OWN-mill", json=moved, headers=admin).status_code == 200
    # An admin's change does not take the basin from its owner.
    assert service.put("/v1/basins/OWN-mill", json=MILL, headers=owner).status_code == 200


def test_a_basin_of_before_keys_were_stored_is_an_admins(service: TestClient, tools: WorkerContext) -> None:
    with tools.database.transaction() as session:
        basins.upsert(session, Basin("OWN-old", areas={"own": 1e6}))
    operator, admin = bearer(tools.database), bearer(tools.database, "admin")
    assert service.put("/v1/basins/OWN-old", json=MILL, headers=operator).status_code == 403
    assert send(service, tools, operator, "OWN-old", 1).status == "failed"
    assert send(service, tools, admin, "OWN-old", 1).status == "succeeded"


def test_a_table_is_refused_whole_if_another_key_owns_one_of_its_basins(
    service: TestClient, tools: WorkerContext
) -> None:
    owner, other = bearer(tools.database), bearer(tools.database)
    service.put("/v1/basins/OWN-mill", json=MILL, headers=owner)
    service.put("/v1/basins/OWN-other", json=MILL, headers=other)
    assert send(service, tools, owner, "OWN-mill,2008-03-31,1\nOWN-other", 1).status == "failed"
    assert flow_of(tools.database, "OWN-mill", "own") is None


def test_a_job_that_no_key_posted_writes_every_users_basin(
    service: TestClient, tools: WorkerContext, tmp_path: Path
) -> None:
    service.put("/v1/basins/OWN-mill", json=MILL, headers=bearer(tools.database))
    table = tmp_path / "uploads" / "today.csv"
    table.parent.mkdir()
    table.write_text("basin,date,discharge_cfs\nOWN-mill,2008-04-01,7\n")
    params = {"observations_file": str(table), "product": "own"}
    with tools.database.transaction() as session:
        job, _ = jobs.create(session, jobs.NewJob(kind="upload", params=params, queue="ingest"), NOW)
    run(tools, job.id)
    assert flow_of(tools.database, "OWN-mill", "own") == [7]


def posted(service: TestClient, tools: WorkerContext, header: dict[str, str], table: str) -> jobs.Job:
    """Post a table of observations, let a worker take it in, and return the job that has ended."""
    answer = service.post("/v1/basins/observations", content=table, headers=header | {"Content-Type": "text/csv"})
    run(tools, answer.json()["id"])
    with tools.database.reading() as session:
        return jobs.get(session, answer.json()["id"])


def test_weather_in_another_unit_is_refused_and_odd_weather_named(service: TestClient, tools: WorkerContext) -> None:
    owner = bearer(tools.database)
    service.put("/v1/basins/OWN-mill", json=MILL, headers=owner)
    head = "basin,date,tmax_degC,tmin_degC,vp_Pa"
    rows = [f"OWN-mill,2008-04-0{number},15,4,{{vp}}" for number in range(1, 6)]
    table = "\n".join([head, *rows])
    wrong = posted(service, tools, owner, table.format(vp=7))
    assert wrong.problem is not None
    assert "vp of own has a median of 7 Pa where saturated air at tmin has about 813 Pa" in wrong.problem["detail"]
    assert "look like hPa" in wrong.problem["detail"]
    odd = posted(service, tools, owner, table.format(vp=130))
    assert odd.result is not None
    assert (odd.status, odd.result["warned_basins"]) == ("succeeded", 1)
    assert "has a median of 130 Pa" in odd.result["warnings"]["OWN-mill"][0]


def test_errors_name_the_file_as_its_sender_does(service: TestClient, tools: WorkerContext) -> None:
    header = bearer(tools.database)
    service.put("/v1/basins/OWN-mill", json=MILL, headers=header)
    start = "basin,date,discharge_cfs\nOWN-mill,2008-04-01,"
    stored_names = set()
    for address, media, content, words in (
        ("basins/observations", "text/csv", f"{start}1 2\n", "mine.table, line 2: discharge_cfs is not a number"),
        ("basins/observations", "text/csv", "\0", "mine.table, line 1: "),
        ("basins/observations", "application/json", "{", "mine.table, line 1: is not JSON"),
        ("weather", "text/csv", "a,b\n1,2\n", "mine.table, line 1: "),
        ("weather", "application/json", "[1]", "mine.table: "),
        ("weather", "application/x-netcdf", "CDF", "mine.table: "),
    ):
        sent = header | {"Content-Type": media, "Content-Disposition": 'attachment; filename="mine.table"'}
        posted = service.post(f"/v1/{address}", content=content, headers=sent).json()
        stored_names |= {value for name, value in posted["params"].items() if name.endswith("_file")}
        run(tools, posted["id"])
        answer = service.get(f"/v1/jobs/{posted['id']}", headers=header).json()
        assert answer["status"] == "failed"
        assert words in answer["problem"]["detail"], answer
        with tools.database.reading() as session:
            shown = f"{answer} {jobs.events_after(session, posted['id'], 0)} {jobs.get(session, posted['id'])}"
        assert str(tools.settings.data) not in shown
    right = service.post(
        "/v1/basins/observations", content=f"{start}1\n", headers=header | {"Content-Type": "text/csv"}
    ).json()
    run(tools, right["id"])
    with tools.database.reading() as session:
        assert session.scalars(select(SOURCES.c.name)).all() == ["upload.csv"]
        entries = str(session.scalars(select(AUDIT.c.detail)).all())
    assert str(tools.settings.data) not in entries
    assert not [name for name in stored_names if name in entries]


def test_a_product_that_a_feed_of_the_service_fills_takes_no_upload_of_an_operator(
    service: TestClient, tools: WorkerContext
) -> None:
    operator, admin = bearer(tools.database), bearer(tools.database, "admin")
    service.put("/v1/basins/OWN-mill", json=MILL, headers=operator)
    new = {"name": "usgs-flow", "settings": {"adapter": "usgs"}}
    assert service.post("/v1/feeds", json=new, headers=admin).status_code == 201
    with tools.database.transaction() as session:
        own = FilesSettings.model_validate({"adapter": "files", "from": ["/srv/own"], "product": "own"})
        archive = OpenMeteoArchiveSettings(adapter="open-meteo-archive", product="live", model="era5")
        feeds.create(session, NewFeed(name="live", settings=archive), None, NOW)
        (key,) = [key.id for key in keys.list_keys(session) if not key.is_admin]
        feeds.create(session, NewFeed(name="squatted", settings=own), key, NOW)
    table = "basin,date,precipitation_mm_per_day\nOWN-mill,2008-04-01,3.2\n"

    def post(header: dict[str, str], product: str) -> Any:
        headers = header | {"Content-Type": "text/csv"}
        return service.post(f"/v1/basins/observations?product={product}", content=table, headers=headers)

    for product, feed in (("usgs", "usgs-flow"), ("live", "live")):
        refused = post(operator, product)
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/product-conflict"), product
        for words in (f"by the feed {feed}", "choose another name"):
            assert words in refused.json()["detail"]
        assert post(admin, product).status_code == 202
    for product in ("own", "another"):  # an operator's feed shuts nobody out
        assert post(operator, product).status_code == 202, product
    with tools.database.transaction() as session:  # stored before the feed was, or by another way
        params = {"observations_file": "nowhere.csv", "name": "nowhere.csv", "product": "usgs"}
        job, _ = jobs.create(session, jobs.NewJob(kind="upload", params=params, queue="ingest", key_id=key), NOW)
    run(tools, job.id)
    with tools.database.reading() as session:
        problem = jobs.get(session, job.id).problem
    assert problem is not None
    assert problem["kind"] == "product-conflict"
