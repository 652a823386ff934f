"""The store is pruned by a job."""

from jobspec.subscriptions import NewSubscription
from records.access import audit, keys
from records.alerts import subscriptions
from testing.jobs.in_process import InProcessJobs
from testing.records import NOW


def test_a_job_prunes_what_the_rules_have_outlived(country_jobs: InProcessJobs) -> None:
    with country_jobs.database.transaction() as session:
        key = keys.make(session, "office", "operator", None, NOW)[0].id
        subscriptions.create(session, NewSubscription(email="a@b.example"), key, NOW, country_jobs.settings)
    done = country_jobs.ended(country_jobs.post("prune").id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result is not None
    assert {rule: count for rule, count in done.result["pruned"].items() if count} == {"questions": 1}
    with country_jobs.database.reading() as session:
        assert [entry.action for entry in audit.page(session)].count("store pruned") == 1
