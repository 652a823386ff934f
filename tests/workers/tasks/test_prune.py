"""The store is pruned by a job."""

from records.access import audit
from testing.job_service import Shop


def test_a_job_prunes_what_the_rules_have_outlived(sqlite_shop: Shop) -> None:
    sqlite_shop.worker()
    done = sqlite_shop.ended(sqlite_shop.post("prune").id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result is not None
    assert set(done.result["pruned"].values()) == {0}
    with sqlite_shop.database.reading() as session:
        assert "store pruned" not in [entry.action for entry in audit.page(session)]
