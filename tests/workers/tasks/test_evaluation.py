"""A version is evaluated by a job."""

from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs


def test_a_job_over_days_that_the_version_used_succeeds_with_a_warning(country_jobs: InProcessJobs) -> None:
    for period, use in (("2003-10-01..2004-09-30", "validation"), ("2004-10-01..2005-07-31", "held out")):
        done = country_jobs.ended(country_jobs.post("evaluation", period=period, basins=[BASINS[0]]).id)
        assert (done.status, done.problem) == ("succeeded", None)
        assert done.result is not None
        assert done.result["period_use"] == use
        assert (done.result["warning"] is None) == (use == "held out")
