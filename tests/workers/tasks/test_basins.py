"""A basin is added by a job, and so is its climate."""

from collections.abc import Iterator

import pytest

from jobspec.kinds import queue_of
from records.access import keys
from records.basins import basins
from records.jobs import jobs
from testing.feed_services.server import serving
from testing.feed_services.world import World
from testing.jobs.in_process import InProcessJobs
from tests.ingestion.feeds.conftest import MAINE, NOW, gauge


@pytest.fixture
def usgs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A service that knows one gauge."""
    with serving(World({MAINE: gauge(MAINE)}, NOW)) as url:
        monkeypatch.setenv("FRESHET_USGS_URL", f"{url}/ogcapi/v1")
        monkeypatch.setenv("FRESHET_INGEST_HOSTS", url.removeprefix("http://"))
        yield


@pytest.mark.usefixtures("usgs")
def test_a_job_adds_a_gauge_for_its_key_and_no_other_describes_it(empty_jobs: InProcessJobs) -> None:
    with empty_jobs.database.transaction() as session:
        mine = keys.make(session, "mine", "admin", None, NOW)[0].id
        other = keys.make(session, "another office", "operator", None, NOW)[0].id

    def ended(kind: str, key: str, **params: object) -> jobs.Job:
        job = empty_jobs.send(jobs.NewJob(kind=kind, params=params, queue=queue_of(kind), key_id=key))
        return empty_jobs.ended(job.id)

    done = ended("basin", mine, basin=MAINE)
    assert done.result is not None
    assert (done.status, done.result["basin"], done.result["new"]) == ("succeeded", MAINE, True)
    with empty_jobs.database.reading() as session:
        assert basins.registered_by(session, MAINE) == mine
    agencys = ended("basin", other, basin="USGS-07374000", latitude=29.95, longitude=-90.06, area_km2=2.9e6)
    assert agencys.problem is not None
    assert agencys.problem["kind"] == "agencys-name"
    climate = {"basin": MAINE, "product": "era5", "period": "2000-01-01..2000-12-31"}
    place = {"basin": MAINE, "latitude": 1.0, "longitude": 1.0}
    for kind, params in (("basin", place), ("climate", climate)):
        refused = ended(kind, other, **params)
        assert refused.problem is not None
        assert refused.problem["kind"] == "not-allowed"
        assert refused.problem["detail"].startswith(f"{MAINE}: not registered with the key of another office")
    failed = ended("climate", mine, **climate)
    assert failed.problem is not None
    assert "has no precipitation of era5" in failed.problem["detail"]
