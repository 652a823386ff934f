"""The store is pruned by a job."""

from records.access import audit
from testing.jobs.in_process import InProcessJobs


def test_a_job_prunes_what_the_rules_have_outlived(country_jobs: InProcessJobs) -> None:
    done = country_jobs.ended(country_jobs.post("prune").id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result is not None
    assert set(done.result["pruned"].values()) == {0}
    with country_jobs.database.reading() as session:
        assert "store pruned" not in [entry.action for entry in audit.page(session)]
