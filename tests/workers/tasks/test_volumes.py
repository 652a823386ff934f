"""The volume of a season is forecast by a job."""

from hydrology.climatology.volumes import Season
from records.forecasts import volumes_and_recessions
from records.runs import runs
from testing.country import BASINS, CLOCK
from testing.jobs.in_process import InProcessJobs


def test_a_job_creates_the_run_of_a_seasonal_volume(country_jobs: InProcessJobs) -> None:
    job = country_jobs.post("volumes", basins=[BASINS[0]], t0="2004-04-10", season="04-01..05-31")
    done = country_jobs.ended(job.id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result is not None
    (run,) = done.result["runs"]
    with country_jobs.database.reading() as session:
        newest = volumes_and_recessions.newest(session, BASINS[0], CLOCK.now(), Season.parse("04-01..05-31"))
        assert (newest.run.id, newest.run.purpose, newest.run.horizon_days) == (run["run"], "on-request", 51)
        assert runs.basin_of(session, run["run"], BASINS[0]).status == "issued"
