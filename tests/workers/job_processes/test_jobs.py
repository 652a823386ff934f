"""The same job twice, a job that is cancelled, many jobs at once."""

import random
import time

import pytest
from sqlalchemy import delete, insert, select

from records.access import keys
from records.jobs import attempts, jobs
from records.jobs.jobs import IdempotencyConflict
from records.runs import runs
from records.series.year_rows import SERIES
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs
from testing.jobs.processes import Shop
from tests.workers.conftest import training


@pytest.mark.extended
def test_a_job_posted_twice_is_one_job_and_one_result(shop: Shop) -> None:
    shop.worker()
    first = shop.post("forecast", key="once", basins=["SYNTH-01"], t0="2005-08-01")
    second = shop.post("forecast", key="once", basins=["SYNTH-01"], t0="2005-08-01")
    assert first.id == second.id
    done = shop.ended(first.id)
    assert (done.status, done.attempt) == ("succeeded", 1)
    with pytest.raises(IdempotencyConflict):
        shop.post("forecast", key="once", basins=["SYNTH-02"], t0="2005-08-01")
    with shop.database.reading() as session:
        assert len(runs.list_runs(session)) == 1


@pytest.mark.extended
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_cancel_at_any_moment_is_seen_within_two_heartbeats(sqlite_shop: Shop, seed: int) -> None:
    sqlite_shop.worker("default")
    sqlite_shop.worker("training")
    job = sqlite_shop.post("training", **training(schedule={"kind": "cosine", "steps": 20_000}, seed=seed))
    sqlite_shop.until(job.id, lambda found: found.status == "waiting")
    time.sleep(random.Random(seed).uniform(0, 4))
    with sqlite_shop.database.transaction() as session:
        attempts.request_cancel(session, job.id, sqlite_shop.clock.wall())
        seen = {
            child.id: max((event.seq for event in jobs.events_after(session, child.id, 0)), default=0)
            for child in jobs.children(session, job.id)
        }
    assert sqlite_shop.ended(job.id).status == "cancelled"
    for child, last in seen.items():
        assert sqlite_shop.ended(child).status == "cancelled"
        with sqlite_shop.database.reading() as session:
            later = jobs.events_after(session, child, last)
        assert [event.type for event in later].count("progress") <= 2  # a heartbeat reports the progress


@pytest.mark.extended
def test_every_one_of_200_jobs_is_accounted_for(sqlite_shop: Shop) -> None:
    for _ in range(2):
        sqlite_shop.worker()
    posted = [
        sqlite_shop.post("forecast", basins=[BASINS[n % 3]], t0="2005-08-01", horizon=1 + n % 20).id for n in range(200)
    ]
    ended = [sqlite_shop.ended(job) for job in posted]
    assert {job.status for job in ended} == {"succeeded"}
    assert {job.attempt for job in ended} == {1}
    with sqlite_shop.database.reading() as session:
        assert len(runs.list_runs(session)) == 200
        for job in posted[:5]:
            result = [event.data["status"] for event in jobs.events_after(session, job, 0) if event.type == "status"]
            assert result == ["queued", "running", "succeeded"]


@pytest.mark.extended
def test_a_training_shows_the_progress_of_members_that_are_trained_side_by_side(sqlite_shop: Shop) -> None:
    for queue in ("default", "training", "training"):
        sqlite_shop.worker(queue)
    job = sqlite_shop.post("training", **training(members=2))
    shown = sqlite_shop.until(job.id, lambda job: job.progress is not None and "member 1 is" in job.progress["detail"])
    assert shown.progress is not None
    assert 0 < shown.progress["done"] < shown.progress["total"] == 2 * 400
    assert sqlite_shop.ended(job.id).progress == {"done": 800, "total": 800, "detail": "2 of 2 members are trained"}


def test_data_that_arrive_during_a_training_change_nothing_of_it(country_jobs: InProcessJobs) -> None:
    of_basin = SERIES.c.basin_id == BASINS[2]
    with country_jobs.database.transaction() as session:
        rows = [dict(row) for row in session.execute(select(SERIES).where(of_basin)).mappings()]
        session.execute(delete(SERIES).where(of_basin))
    job = country_jobs.post("training", **training(schedule={"kind": "cosine", "steps": 2}, validate_every=2))
    country_jobs.run(job.id)
    assert country_jobs.job(job.id).status == "waiting"
    with country_jobs.database.transaction() as session:
        session.execute(insert(SERIES), rows)
    done = country_jobs.ended(job.id)
    assert done.status == "succeeded", done.problem
    assert done.result is not None
    assert (done.result["basins"], [*done.result["left_out"]]) == (2, [BASINS[2]])


def test_an_impossible_job_fails_with_its_message(country_jobs: InProcessJobs) -> None:
    wrong = [
        country_jobs.post("forecast", basins=["SYNTH-0"]),
        country_jobs.post("ingest", None, **{"from": ["/nowhere"]}),
        country_jobs.post("evaluation", period="yesterday"),
    ]
    result = [country_jobs.ended(job.id) for job in wrong]
    assert [job.status for job in result] == ["failed"] * 3
    assert [job.attempt for job in result] == [1] * 3
    problems = [job.problem for job in result]
    assert problems[0] is not None
    assert problems[0]["kind"] == "unknown-basin"
    assert "did you mean" in problems[0]["detail"]


def test_a_training_of_a_schedule_that_needs_too_much_memory_fails_before_it_starts(
    country_jobs: InProcessJobs,
) -> None:
    with country_jobs.database.transaction() as session:
        key = keys.make(session, "office", "operator", None, country_jobs.clock.wall())[0].id
    params = training(windows={"spinup_days": 365, "loss_days": 365, "batch": 100_000})
    ended = country_jobs.ended(
        country_jobs.send(jobs.NewJob(kind="training", params=params, queue="default", key_id=key)).id
    )
    assert (ended.status, ended.attempt) == ("failed", 1)
    assert ended.problem is not None
    assert ended.problem["kind"] == "training-too-large"
