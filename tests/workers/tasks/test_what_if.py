"""A job computes a what-if run, under the name of who posted it."""

from records.runs import runs
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs


def test_a_job_creates_the_run_and_its_base(country_jobs: InProcessJobs) -> None:
    job = country_jobs.post(
        "what-if", basins=[BASINS[0]], t0="2004-04-10", changes={"increment": {"mm": 10.0}}, note="more water"
    )
    done = country_jobs.ended(job.id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result is not None
    (created,) = done.result["runs"]
    with country_jobs.database.reading() as session:
        run, base = (runs.get(session, created[name]) for name in ("run", "base"))
        assert (run.purpose, run.request_key) == ("what-if", job.id)
        assert run.what_if is not None
        assert (run.what_if.note, run.what_if.base, run.what_if.by) == ("more water", base.id, job.created_by)
        assert {ledger.terms["increment"] for ledger in runs.ledger_of(session, run.id, BASINS[0])} == {10.0}
