"""A shipped ensemble is installed by a job, with the mean of products that it takes."""

import pytest

from models.pretrained import MEANS
from records.access import audit
from records.jobs import jobs
from records.series import revisions, series, series_writer
from testing.country import BASINS, FIRST, WEATHER
from testing.jobs.in_process import InProcessJobs
from testing.records import NOW

((MEAN, PARTS),) = MEANS.items()
ENSEMBLE = "freshet-us-fused-buckets"


@pytest.fixture
def both(country_jobs: InProcessJobs) -> InProcessJobs:
    """The country with both products in a basin."""
    with country_jobs.database.transaction() as session:
        source = revisions.register_source(session, "both.csv", "0" * 64, 1, NOW)
        for name in WEATHER:
            one = series.read(session, BASINS[0], FIRST, name)
            assert one is not None
            for product in PARTS:
                series_writer.write(session, BASINS[0], product, name, one, source, NOW)
    return country_jobs


def logged(country: InProcessJobs, job: str) -> list[object]:
    with country.database.reading() as session:
        return [event.data["text"] for event in jobs.events_after(session, job, 0) if event.type == "log"]


def test_a_mean_of_stored_products_is_derived_and_reported_once(both: InProcessJobs) -> None:
    first, again = (both.ended(both.post("pretrained", None, name=ENSEMBLE).id) for _ in range(2))
    assert (first.status, first.problem) == ("succeeded", None)
    sentence = f"{MEAN}, the mean of {' and '.join(PARTS)}, was derived in 1 basin."
    assert [sentence in logged(both, job.id) for job in (first, again)] == [True, False]
    with both.database.reading() as session:
        mean, one = (series.read(session, BASINS[0], product, "precipitation") for product in (MEAN, FIRST))
        entries = [entry.subject for entry in audit.page(session) if entry.action == "weather fused"]
    assert mean is not None
    assert one is not None
    assert mean.values.tobytes() == one.values.tobytes()
    assert entries == [MEAN, MEAN]


def test_a_product_of_another_origin_under_its_name_is_not_taken_for_it(both: InProcessJobs) -> None:
    with both.database.transaction() as session:
        one = series.read(session, BASINS[0], FIRST, "precipitation")
        assert one is not None
        source = revisions.register_source(session, "other.csv", "1" * 64, 1, NOW)
        series_writer.write(session, BASINS[0], MEAN, "precipitation", one, source, NOW)
    ended = both.ended(both.post("pretrained", None, name=ENSEMBLE).id)
    assert ended.status == "failed"
    assert ended.problem is not None
    assert "holds data of another origin" in ended.problem["detail"]
