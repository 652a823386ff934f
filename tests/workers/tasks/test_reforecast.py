"""A version is reforecast by a job."""

from hydrology.verification.results import ALL_YEAR
from operations.verification.calibrate import calibrate
from records.verification import lead_scores
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.jobs.in_process import InProcessJobs
from testing.work import work_of
from tests.operations.verification.test_calibrate import UNSEEN

YEAR = "2000-10-01..2001-09-30"


def test_a_job_stores_the_verification_of_reforecasts(country_jobs: InProcessJobs) -> None:
    with country_jobs.database.reading() as session:
        version = versions.newest(session).id
    model = calibrate(work_of(country_jobs.database, CLOCK), version, BASINS, UNSEEN).sha256
    done = country_jobs.ended(country_jobs.post("reforecast", period=YEAR, every=30, horizon=2).id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result == {"version": version, "scored": version, "basins": 3, "error_model": model, "left_out": {}}
    with country_jobs.database.reading() as session:
        assert {row.lead for row in lead_scores.pooled(session, version, ALL_YEAR)} == {1, 2}
    refused = country_jobs.ended(country_jobs.post("reforecast", period=str(UNSEEN)).id)
    assert refused.status == "failed"
    assert refused.problem is not None
    assert "took no part in its training" in refused.problem["detail"]
