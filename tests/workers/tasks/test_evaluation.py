"""Versions are evaluated, calibrated and compared by jobs, whole and in parts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from hydrology.base.errors import DataProblem
from records.jobs import attempts, jobs
from records.versions import versions
from records.versions.error_models import BASIN_ERRORS, ERROR_MODELS
from testing.country import BASINS, CLOCK, combined
from testing.jobs.alone import alone
from testing.jobs.in_process import InProcessJobs
from testing.work import work_of
from tests.operations.verification.test_calibrate import UNSEEN
from tests.workers.tasks.divided import copied, in_jobs, in_parts_of, rows
from workers.tasks import judging

TABLES = ("scores", "simulated_flow", "snow_cells", "regional_snow")
COMPARED = ("comparisons", "scores", "simulated_flow", "snow_cells")
ERRORS = ("error_models", "basin_errors")
PERIOD = "2004-10-01..2005-07-31"


@pytest.fixture
def few_snowy_basins_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose regional snow cells from the basins of the country, which are fewer than it otherwise takes."""
    for module in ("regional_snow_cells", "evaluate"):
        monkeypatch.setattr(f"operations.verification.{module}.MIN_BASINS", 2)


def test_a_job_over_days_that_the_version_used_succeeds_with_a_warning(country_jobs: InProcessJobs) -> None:
    for period, use in (("2003-10-01..2004-09-30", "validation"), (PERIOD, "held out")):
        done = country_jobs.ended(country_jobs.post("evaluation", period=period, basins=[BASINS[0]]).id)
        assert (done.status, done.problem) == ("succeeded", None)
        assert done.result is not None
        assert done.result["period_use"] == use
        assert (done.result["warning"] is None) == (use == "held out")


@pytest.mark.usefixtures("few_snowy_basins_suffice")
def test_an_evaluation_in_parts_stores_and_returns_what_the_whole_does(
    country_jobs: InProcessJobs, trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with copied(trained_file, tmp_path / "whole") as work:
        whole, _ = alone(work, "evaluation", period=PERIOD)
        expected = rows(work.database, TABLES)
    assert all(expected.values())
    for size, count in ((2, 2), (1, 3)):
        in_parts_of(monkeypatch, "evaluation", size)
        done, parts = in_jobs(country_jobs, "evaluation", period=PERIOD)
        assert (done.status, done.result) == ("succeeded", whole)
        assert [part.kind for part in parts] == ["evaluation"] * count
        assert sorted(basin for part in parts for basin in part.params["basins"]) == sorted(BASINS)
        assert rows(country_jobs.database, TABLES) == expected
    with copied(trained_file, tmp_path / "turn") as work:
        result, shown = alone(work, "evaluation", period=PERIOD)
        assert (result, shown) == (whole, [33, 66, 100])
        assert rows(work.database, TABLES) == expected


@pytest.mark.extended
@pytest.mark.usefixtures("few_snowy_basins_suffice")
@pytest.mark.parametrize(
    ("kind", "params", "tables"),
    [
        ("evaluation", {"period": PERIOD}, TABLES),
        ("reforecast", {"period": "2000-10-01..2001-09-30", "every": 30, "horizon": 2}, ("verification",)),
        ("levels", {}, ("simulated_records", "simulated_levels", "simulated_water")),
        ("calibration", {"period": str(UNSEEN)}, ERRORS),
    ],
)
def test_two_processes_store_and_return_what_one_does(
    trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, params: Any, tables: tuple[str, ...]
) -> None:
    stored = []
    for cores, size in ((1, 64), (2, 1)):
        in_parts_of(monkeypatch, kind, size)
        with copied(trained_file, tmp_path / str(cores)) as work:
            result, shown = alone(replace(work, cores=cores), kind, **params)
            stored.append((result, rows(work.database, tables)))
        assert shown[-1] == 100
        assert shown == sorted(shown)
    assert stored[0] == stored[1]
    assert all(stored[0][1].values())


@pytest.mark.parametrize("combines", [False, True])
def test_a_calibration_in_parts_fits_what_the_whole_does(
    country_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch, combines: bool
) -> None:
    """That of a combined version also fits its parts, which lack an error model."""
    database, asked = country_jobs.database, {"period": str(UNSEEN)}
    with database.reading() as session:
        version = versions.newest(session).id
    of_versions = [version]
    if combines:
        both = combined(database, CLOCK)
        version, of_versions = both.id, [*(part.version for part in both.parts), both.id]
    whole, _ = alone(work_of(database, CLOCK), "calibration", version=version, **asked)
    expected = rows(database, ERRORS)
    assert {row["version_id"] for row in expected["error_models"]} == {*of_versions}
    with database.transaction() as session:
        for table in (BASIN_ERRORS, ERROR_MODELS):
            session.execute(delete(table))
    in_parts_of(monkeypatch, "calibration", 1)
    done, parts = in_jobs(country_jobs, "calibration", version=version, **asked)
    assert (done.status, done.result) == ("succeeded", whole)
    divided = [(part.params["version"], part.params["basins"]) for part in parts]
    assert sorted(divided) == sorted((of, [basin]) for of in of_versions for basin in BASINS)
    assert rows(database, ERRORS) == expected


@pytest.mark.parametrize(
    ("kind", "part_of", "period"),
    [("evaluation", "evaluate_part", PERIOD), ("calibration", "simulate_part", str(UNSEEN))],
)
def test_a_part_that_fails_costs_its_basins_alone(
    country_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch, kind: str, part_of: str, period: str
) -> None:
    do_part = getattr(judging, part_of)

    def failing(*asked: Any) -> Any:
        if [BASINS[1]] in asked:
            raise DataProblem("The disk is full: make room.")
        return do_part(*asked)

    in_parts_of(monkeypatch, kind, 1)
    monkeypatch.setattr(judging, part_of, failing)
    done, parts = in_jobs(country_jobs, kind, period=period)
    assert sorted(part.status for part in parts) == ["failed", "succeeded", "succeeded"]
    assert done.result is not None
    outcome = done.result if kind == "evaluation" else done.result["error_model"]
    count = outcome["nse"]["basins"] if kind == "evaluation" else outcome["basins"]
    assert (count, outcome["left_out"]) == (2, {BASINS[1]: "The disk is full: make room."})


def test_an_evaluation_whose_parts_all_fail_fails(country_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_asked: Any) -> Any:
        raise DataProblem("The disk is full: make room.")

    in_parts_of(monkeypatch, "evaluation", 1)
    monkeypatch.setattr("workers.tasks.judging.evaluate_part", failing)
    done, _ = in_jobs(country_jobs, "evaluation", period=PERIOD)
    assert done.status == "failed"
    assert (done.problem or {})["detail"] == "All 3 parts failed. The disk is full: make room."


def test_an_evaluation_that_is_cancelled_cancels_its_parts(
    country_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts_of(monkeypatch, "evaluation", 1)
    posted = country_jobs.post("evaluation", period=PERIOD).id
    country_jobs.run(posted)
    with country_jobs.database.transaction() as session:
        first, *others = (part.id for part in jobs.children(session, posted))
    country_jobs.run(first)
    waiting = country_jobs.job(posted)
    assert (waiting.status, waiting.progress) == (
        "waiting",
        {"done": 100, "total": 300, "detail": "1 of 3 parts are done"},
    )
    with country_jobs.database.transaction() as session:
        attempts.request_cancel(session, posted, country_jobs.tools.clock.wall())
    assert [country_jobs.job(job).status for job in (posted, first, *others)] == [
        "cancelled",
        "succeeded",
        "cancelled",
        "cancelled",
    ]


def test_a_comparison_in_parts_stores_what_the_whole_does(
    country_jobs: InProcessJobs, trained_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with country_jobs.database.reading() as session:
        version = versions.newest(session).id
    with copied(trained_file, tmp_path / "whole") as work:
        whole, _ = alone(work, "comparison", period=PERIOD, versions=[version])
        expected = rows(work.database, COMPARED)
    assert (whole["basins"], whole["left_out"]) == (len(BASINS), {})
    in_parts_of(monkeypatch, "comparison", 1)
    done, parts = in_jobs(country_jobs, "comparison", period=PERIOD, versions=[version])
    assert [part.params["basins"] for part in parts] == [[basin] for basin in BASINS]
    assert done.result is not None
    assert (done.result["basins"], done.result["left_out"]) == (len(BASINS), {})
    assert rows(country_jobs.database, COMPARED) == expected
