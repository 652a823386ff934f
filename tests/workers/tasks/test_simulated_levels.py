"""The levels of a version's own climatology are computed by a job."""

from pathlib import Path

import pytest

from records.simulations import simulated_series
from records.versions import versions
from testing.country import BASINS
from testing.jobs.alone import alone
from testing.jobs.in_process import InProcessJobs
from tests.workers.tasks.divided import copied, in_jobs, in_parts_of, rows


def test_a_job_stores_the_levels_of_a_versions_simulation(country_jobs: InProcessJobs) -> None:
    with country_jobs.database.reading() as session:
        version = versions.newest(session).id
    done = country_jobs.ended(country_jobs.post("levels", basins=[BASINS[0]]).id)
    assert (done.status, done.problem) == ("succeeded", None)
    assert done.result == {"versions": [{"version": version, "basins": 1, "left_out": {}}]}
    with country_jobs.database.reading() as session:
        assert simulated_series.get(session, version, BASINS[0]) is not None
        assert simulated_series.get(session, version, BASINS[1]) is None


def test_levels_in_parts_are_those_of_the_whole(
    country_jobs: InProcessJobs, trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = ("simulated_records", "simulated_levels", "simulated_water")
    with copied(trained_file, tmp_path / "whole") as work:
        whole, _ = alone(work, "levels")
        expected = rows(work.database, tables)
    assert [version["basins"] for version in whole["versions"]] == [len(BASINS)]
    assert all(expected.values())
    in_parts_of(monkeypatch, "levels", 1)
    done, parts = in_jobs(country_jobs, "levels")
    assert [(part.kind, part.params["basins"]) for part in parts] == [("levels", [basin]) for basin in BASINS]
    assert done.result == whole
    assert rows(country_jobs.database, tables) == expected
