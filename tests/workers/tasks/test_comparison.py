"""Versions are compared by a job, whole and in parts."""

from pathlib import Path

import pytest

from records.versions import versions
from testing.country import BASINS
from testing.jobs.alone import alone
from testing.jobs.in_process import InProcessJobs
from tests.workers.tasks.divided import copied, in_jobs, in_parts_of, rows

TABLES = ("comparisons", "scores", "simulated_flow", "snow_cells")
PERIOD = "2004-10-01..2005-07-31"


def test_a_comparison_in_parts_stores_what_the_whole_does(
    country_jobs: InProcessJobs, trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with country_jobs.database.reading() as session:
        version = versions.newest(session).id
    with copied(trained_file, tmp_path / "whole") as work:
        whole, _ = alone(work, "comparison", period=PERIOD, versions=[version])
        expected = rows(work.database, TABLES)
    assert (whole["basins"], whole["left_out"]) == (len(BASINS), {})
    in_parts_of(monkeypatch, "comparison", 1)
    done, parts = in_jobs(country_jobs, "comparison", period=PERIOD, versions=[version])
    assert [part.params["basins"] for part in parts] == [[basin] for basin in BASINS]
    assert done.result is not None
    assert (done.result["basins"], done.result["left_out"]) == (len(BASINS), {})
    assert rows(country_jobs.database, TABLES) == expected
