"""A season's retraining as a job, over two training workers of which one is killed."""

from pathlib import Path

import pytest

from records.jobs import jobs
from records.versions import versions
from testing.jobs.processes import Shop, end

pytestmark = pytest.mark.extended


@pytest.fixture(scope="session")
def trained_file(long_trained_file: Path) -> Path:
    """The country with the longer record: its version has learnt from the years to 2004."""
    return long_trained_file


def test_it_ends_in_one_candidate_and_its_twin_whoever_is_killed(sqlite_shop: Shop) -> None:
    sqlite_shop.worker("default")
    first, _ = (sqlite_shop.worker("training") for _ in range(2))
    job = sqlite_shop.post("retraining", promote=False)
    sqlite_shop.until(job.id, lambda found: found.status == "waiting")
    end(first)
    done = sqlite_shop.ended(job.id)
    assert done.status == "succeeded", done.problem
    assert done.result is not None
    with sqlite_shop.database.reading() as session:
        members = jobs.children(session, job.id)
        candidate, twin = (versions.get(session, done.result[name]) for name in ("version", "twin"))
    assert [member.status for member in members] == ["succeeded"] * 4
    assert (len(candidate.members), len(twin.members), candidate.twin_id) == (2, 2, twin.id)
    assert twin.config["held_out_period"] == done.result["decision"]["rule"]["period"] == "2004-10-01..2008-09-30"

    again = sqlite_shop.ended(sqlite_shop.post("retraining", promote=False).id)
    assert again.result is not None
    assert again.result["version"] == candidate.id
    with sqlite_shop.database.reading() as session:
        assert not jobs.children(session, again.id)
