"""An archive is replayed by a job, whole and in parts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hydrology.base.errors import DataProblem
from operations.daily.daily_forecasts import issue_newest
from records.database.engine import Database
from records.runs import runs
from testing.country import BASINS
from testing.jobs.alone import alone
from testing.jobs.in_process import InProcessJobs
from tests.workers.tasks.divided import copied, in_jobs, in_parts_of

ASKED: dict[str, Any] = {"period": "2005-04-02..2005-04-04", "horizon": 3, "traces": 2}


def forecasts(database: Database) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Return the values of every forecast and the state that it starts from, by T0 and basin."""
    with database.reading() as session:
        return {
            (str(run.t0), row.basin_id): (
                row.state_hash,
                {name: one.values.tobytes() for name, one in runs.series_of(session, run.id, row.basin_id).items()},
            )
            for run in runs.list_runs(session)
            for row in runs.basins_of(session, run.id)
        }


def test_a_replay_in_parts_issues_the_forecasts_of_the_whole(
    country_jobs: InProcessJobs, trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with copied(trained_file, tmp_path / "whole") as work:
        whole, _ = alone(work, "replay", **ASKED)
        expected = forecasts(work.database)
    assert (whole["runs"], len(expected)) == (3, 3 * len(BASINS))
    in_parts_of(monkeypatch, "replay", 1)
    done, parts = in_jobs(country_jobs, "replay", **ASKED)
    assert [(part.kind, part.params["basins"]) for part in parts] == [("replay", [basin]) for basin in BASINS]
    assert done.result is not None
    assert (done.result["runs"], done.result["reasons"]) == (3 * len(BASINS), {})
    assert forecasts(country_jobs.database) == expected
    again, _ = in_jobs(country_jobs, "replay", **ASKED)
    assert again.result is not None
    assert again.result["runs"] == 0


def test_a_part_of_a_replay_that_fails_costs_its_basins_alone(
    country_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(work: Any, names: Any, asked: Any) -> Any:
        if names == [BASINS[1]]:
            raise DataProblem("The disk is full: make room.")
        return issue_newest(work, names, asked)

    in_parts_of(monkeypatch, "replay", 1)
    monkeypatch.setattr("operations.daily.replay.issue_newest", failing)
    done, _ = in_jobs(country_jobs, "replay", **ASKED)
    assert done.result is not None
    assert (done.result["runs"], done.result["reasons"]) == (6, {BASINS[1]: "The disk is full: make room."})


@pytest.mark.extended
def test_two_processes_replay_as_one_does(trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stored = []
    for cores, size in ((1, 64), (2, 1)):
        in_parts_of(monkeypatch, "replay", size)
        with copied(trained_file, tmp_path / str(cores)) as work:
            result, shown = alone(replace(work, cores=cores), "replay", **ASKED)
            stored.append(forecasts(work.database))
        assert result["reasons"] == {}
        assert shown == sorted(shown)
    assert len(stored[0]) == 3 * len(BASINS)
    assert stored[0] == stored[1]
