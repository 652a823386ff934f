"""An archive is replayed by a job, whole and in parts; so are forecasts issued."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hydrology.base.errors import DataProblem
from records.database.engine import Database
from records.runs import runs
from testing.country import BASINS
from testing.jobs.alone import alone
from testing.jobs.in_process import InProcessJobs
from tests.workers.tasks.divided import copied, in_jobs, in_parts_of

ASKED: dict[str, Any] = {"period": "2005-04-02..2005-04-04", "horizon": 3, "traces": 2}
FORECAST: dict[str, Any] = {"horizon": 3, "weather": "climatology"}


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


@pytest.mark.parametrize(("kind", "asked", "days"), [("replay", ASKED, 3), ("forecast", FORECAST, 1)])
def test_parts_issue_the_forecasts_of_the_whole(
    country_jobs: InProcessJobs,
    trained_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    kind: str,
    asked: dict[str, Any],
    days: int,
) -> None:
    with copied(trained_file, tmp_path / "whole") as work:
        whole, _ = alone(work, kind, **asked)
        expected = forecasts(work.database)
    assert (count(whole["runs"]), len(expected)) == (days, days * len(BASINS))
    in_parts_of(monkeypatch, kind, 1)
    done, parts = in_jobs(country_jobs, kind, **asked)
    assert [(part.kind, part.params["basins"]) for part in parts] == [(kind, [basin]) for basin in BASINS]
    assert done.result is not None
    assert count(done.result["runs"]) == days * len(BASINS)
    assert done.result.get("reasons", {}) == done.result.get("left_out", {}) == {}
    assert forecasts(country_jobs.database) == expected


def count(reported: Any) -> int:
    """Return the number of runs that a result has or lists."""
    return len(reported) if isinstance(reported, list) else reported


@pytest.mark.extended
def test_a_replay_in_parts_stores_nothing_twice(country_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts_of(monkeypatch, "replay", 1)
    for runs_of_each in (3 * len(BASINS), 0):
        done, _ = in_jobs(country_jobs, "replay", **ASKED)
        assert done.result is not None
        assert done.result["runs"] == runs_of_each


@pytest.mark.parametrize(
    ("kind", "asked", "days", "step", "named"),
    [
        ("replay", ASKED, 3, "operations.daily.replay.issue_newest", "reasons"),
        ("forecast", FORECAST, 1, "operations.forecasting.forecast.read_inputs", "left_out"),
    ],
)
def test_a_part_that_fails_costs_its_basins_alone(
    country_jobs: InProcessJobs,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    asked: dict[str, Any],
    days: int,
    step: str,
    named: str,
) -> None:
    module, _, name = step.rpartition(".")
    done_by = getattr(import_module(module), name)

    def failing(*given: Any, **options: Any) -> Any:
        if [BASINS[1]] in given:
            raise DataProblem("The disk is full: make room.")
        return done_by(*given, **options)

    in_parts_of(monkeypatch, kind, 1)
    monkeypatch.setattr(step, failing)
    done, _ = in_jobs(country_jobs, kind, **asked)
    assert done.result is not None
    assert (count(done.result["runs"]), done.result[named]) == (days * 2, {BASINS[1]: "The disk is full: make room."})


@pytest.mark.extended
@pytest.mark.parametrize(("kind", "asked", "days"), [("replay", ASKED, 3), ("forecast", FORECAST, 1)])
def test_two_processes_issue_what_one_does(
    trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, asked: dict[str, Any], days: int
) -> None:
    stored = []
    for cores, size in ((1, 64), (2, 1)):
        in_parts_of(monkeypatch, kind, size)
        with copied(trained_file, tmp_path / str(cores)) as work:
            result, shown = alone(replace(work, cores=cores), kind, **asked)
            stored.append(forecasts(work.database))
        assert result.get("reasons", {}) == result.get("left_out", {}) == {}
        assert kind == "forecast" or shown == sorted(shown)  # a forecast shows how far its states are advanced
    assert len(stored[0]) == days * len(BASINS)
    assert stored[0] == stored[1]
