"""A bridge is fitted and applied by a job."""

import pytest

from jobspec.jobs.data import BridgeFit
from jobspec.kinds import queue_of
from operations.weather.fit_bridges import fit
from records.access import keys
from records.basins.ownership import Basin
from records.database.stored import table_of
from records.jobs import jobs
from records.jobs.jobs import JOBS
from records.series import revisions, series, series_writer
from records.weather import bridges
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs
from testing.records import NOW, change
from testing.synthetic import archive as synthetic
from testing.work import work_of

NAME, LEARNT = "live_as_learnt", "learnt"
FIT = {"from": synthetic.PRODUCT, "to": LEARNT}


@pytest.fixture
def products(country_jobs: InProcessJobs) -> InProcessJobs:
    """The country with a second product, equal to the first."""
    with country_jobs.database.transaction() as session:
        source = revisions.register_source(session, LEARNT, "0" * 64, 1, NOW)
        for basin in BASINS:
            for name in ("precipitation", "srad", "vp", "tmax", "tmin"):
                one = series.read(session, basin, synthetic.PRODUCT, name)
                assert one is not None
                series_writer.write(session, basin, LEARNT, name, one, source, NOW)
    return country_jobs


def test_a_job_fits_and_applies_a_bridge_and_another_applies_it_again(products: InProcessJobs) -> None:
    done = products.ended(products.post("bridge", None, name=NAME, fit=FIT).id)
    assert (done.status, done.problem) == ("succeeded", None)
    with products.database.reading() as session:
        stored = bridges.get(session, NAME)
        one, other = (series.read(session, BASINS[0], product, "tmax") for product in (NAME, LEARNT))
    counts = {"changed": len(BASINS)}
    assert done.result == {"bridge": stored.id, "refused_basins": 0, "counts": counts, "failed": {}}
    assert done.plan == {"bridge": stored.id}
    assert one is not None
    assert other is not None
    assert one.values.tobytes() == other.values.tobytes()
    again = products.ended(products.post("bridge", None, name=NAME).id)
    assert again.result == {"counts": {"unchanged": len(BASINS)}, "failed": {}}


def of_operator(posted_jobs: InProcessJobs) -> jobs.NewJob:
    """Return a job of an operator, who has registered one basin, that fits and applies a bridge."""
    with posted_jobs.database.transaction() as session:
        key = keys.make(session, "operator", "operator", None, NOW)[0].id
        change(session, table_of(Basin), BASINS[0], registered_by=key)
    params = {"name": "own_way", "fit": FIT}
    return jobs.NewJob(kind="bridge", params=params, queue=queue_of("bridge"), key_id=key)


def test_an_operators_job_whose_worker_was_lost_after_the_fit_goes_on_with_it(products: InProcessJobs) -> None:
    job = products.send(of_operator(products))
    asked = BridgeFit.model_validate(FIT)
    fitted = fit(work_of(products.database, products.clock), "own_way", asked, BASINS[:1])
    with products.database.transaction() as session:
        session.execute(JOBS.update().where(JOBS.c.id == job.id).values(plan={"bridge": fitted.id}))
    done = products.ended(job.id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result is not None
    assert done.result["bridge"] == fitted.id
    with products.database.reading() as session:
        assert bridges.get(session, "own_way").id == fitted.id  # the newest
        assert series.read(session, BASINS[0], "own_way", "tmax") is not None


def test_an_operators_job_fits_a_new_bridge_of_its_own_basins_alone(products: InProcessJobs) -> None:
    asked = of_operator(products)
    first, second = (products.ended(products.send(asked).id) for _ in range(2))
    assert (first.status, first.problem) == ("succeeded", None)
    assert second.status == "failed"
    assert second.problem is not None
    assert second.problem["kind"] == "not-allowed"
    with products.database.reading() as session:
        written = {basin for basin in BASINS if series.read(session, basin, "own_way", "tmax") is not None}
    assert written == {BASINS[0]}
