"""The levels of a version's own climatology are computed by a job."""

from records.simulations import simulated_thresholds
from records.versions import versions
from testing.country import BASINS
from testing.job_service import Shop


def test_a_job_stores_the_levels_of_a_versions_simulation(sqlite_shop: Shop) -> None:
    with sqlite_shop.database.reading() as session:
        version = versions.newest(session).id
    sqlite_shop.worker()
    done = sqlite_shop.ended(sqlite_shop.post("levels", basins=[BASINS[0]]).id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result == {"versions": [{"version": version, "basins": 1, "left_out": {}}]}
    with sqlite_shop.database.reading() as session:
        assert simulated_thresholds.get(session, version, BASINS[0]) is not None
        assert simulated_thresholds.get(session, version, BASINS[1]) is None
