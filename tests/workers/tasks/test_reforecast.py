"""A version is reforecast by a job."""

from pathlib import Path

import pytest

from hydrology.verification.results import ALL_YEAR
from operations.verification.calibrate import calibrate
from records.verification import lead_scores
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.jobs.alone import alone
from testing.jobs.in_process import InProcessJobs
from testing.work import work_of
from tests.operations.verification.test_calibrate import UNSEEN
from tests.workers.tasks.divided import copied, in_jobs, in_parts_of, rows

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


def test_a_reforecast_in_parts_stores_and_returns_what_the_whole_does(
    country_jobs: InProcessJobs, trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with copied(trained_file, tmp_path / "whole") as work:
        whole, _ = alone(work, "reforecast", period=YEAR, every=30, horizon=2)
        expected = rows(work.database, ("verification",))
    assert (whole["basins"], all(expected.values())) == (len(BASINS), True)
    in_parts_of(monkeypatch, "reforecast", 1)
    done, parts = in_jobs(country_jobs, "reforecast", period=YEAR, every=30, horizon=2)
    assert [(part.kind, part.params["basins"]) for part in parts] == [("reforecast", [basin]) for basin in BASINS]
    assert done.result == whole
    assert rows(country_jobs.database, ("verification",)) == expected
    refused, parts = in_jobs(country_jobs, "reforecast", period="2002-10-01..2003-09-30")
    assert (refused.status, parts) == ("failed", [])
    assert "took no part in its training" in (refused.problem or {})["detail"]
