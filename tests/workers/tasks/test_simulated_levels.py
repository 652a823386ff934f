"""The levels of a version's own climatology are computed by a job."""

from records.simulations import simulated_series
from records.versions import versions
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs


def test_a_job_stores_the_levels_of_a_versions_simulation(country_jobs: InProcessJobs) -> None:
    with country_jobs.database.reading() as session:
        version = versions.newest(session).id
    done = country_jobs.ended(country_jobs.post("levels", basins=[BASINS[0]]).id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result == {"versions": [{"version": version, "basins": 1, "left_out": {}}]}
    with country_jobs.database.reading() as session:
        assert simulated_series.get(session, version, BASINS[0]) is not None
        assert simulated_series.get(session, version, BASINS[1]) is None
