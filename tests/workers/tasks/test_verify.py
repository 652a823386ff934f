"""Issued forecasts are verified by a job."""

from records.verification import lead_scores
from records.versions import versions
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs
from tests.operations.forecasting.test_forecast import one_run


def test_a_job_stores_the_verification_of_issued_forecasts(country_jobs: InProcessJobs) -> None:
    one_run(country_jobs.database, t0="2005-03-10", horizon=2)
    with country_jobs.database.reading() as session:
        version = versions.newest(session).id
    for changed in (3, 0):
        done = country_jobs.ended(country_jobs.post("verification").id)
        assert (done.status, done.problem) == ("succeeded", None)
        assert done.result == {
            "versions": [{"version": version, "basins": len(BASINS), "changed": changed, "left_out": {}}]
        }
    with country_jobs.database.reading() as session:
        shown = lead_scores.pooled(session, version)
    assert {(of.weather, of.lead) for of in shown if of.origin == "issued"} == {("observed", 1), ("observed", 2)}
