"""Jobs of a forecaster for a region are the service's own there, and are not run elsewhere."""

from datetime import UTC, datetime

from jobspec.kinds import queue_of
from records.access import keys
from records.basins.regions import Region
from records.database.stored import as_values, upsert
from records.jobs import jobs
from records.runs import runs
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs


def set_region(posted: InProcessJobs, *basins: str) -> None:
    with posted.database.transaction() as session:
        upsert(session, Region, [as_values(Region(id="river", basins=[*basins]))])


def test_a_forecaster_forecasts_for_the_service_in_the_region_that_its_key_has_then(
    country_jobs: InProcessJobs,
) -> None:
    set_region(country_jobs, BASINS[0])
    with country_jobs.database.transaction() as session:
        key = keys.make(session, "Ann", "forecaster", None, datetime.now(UTC), "river")[0]
    new = jobs.NewJob(
        kind="forecast", params={"basins": [BASINS[0]]}, queue=queue_of("forecast", of_service=True), key_id=key.id
    )
    done = country_jobs.ended(country_jobs.send(new).id)
    assert (done.status, done.problem) == ("succeeded", None)
    with country_jobs.database.reading() as session:
        (run,) = runs.list_runs(session)
        assert (run.purpose, run.owner, runs.basin_of(session, run.id, BASINS[0]).status) == (
            *("operational", None, "issued"),
        )
    later = country_jobs.send(new)
    set_region(country_jobs, BASINS[1])
    refused = country_jobs.ended(later.id)
    assert refused.status == "failed"
    assert refused.problem is not None
    assert refused.problem["kind"] == "outside-region"
    assert f"{BASINS[0]} does not lie in it" in refused.problem["detail"]
