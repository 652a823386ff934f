"""A worker that is killed, a broker that dies, a database that is away: nothing is lost, doubled or half-visible."""

import json
import shutil
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from hydrology.base.calendar import day
from ingestion.sources.camels import CamelsSource
from operations.basin_data.ingest import ingest
from records.database.engine import Database
from records.jobs import jobs
from records.runs import runs
from records.series import series
from records.versions import trainings, versions
from testing.country import BASINS, CLOCK, configuration
from testing.databases import PostgreSQL
from testing.jobs.processes import PATIENCE, Shop, end, freeze
from testing.records import list_trainings
from testing.synthetic import archive as synthetic
from testing.training import train
from testing.work import work_of
from tests.operations.conftest import FILE
from tests.shared_folders import filled_once
from tests.workers.conftest import harmful_worker, training
from workers.processes import MAX_WAIT
from workers.queue.broker import lives, socket_path, start_embedded, takes_messages

pytestmark = pytest.mark.extended

HASH = "weights.sha256"


def test_a_training_whose_worker_is_killed_goes_on_with_another_to_the_same_weights(
    shop: Shop, trained_file: Path
) -> None:
    shop.worker("default")
    first = shop.worker("training")
    job = shop.post("training", **training())
    shop.until(job.id, lambda found: found.status == "waiting")
    first_member = _children(shop, job.id)[0].id
    killed = shop.until(first_member, lambda found: bool(found.progress and found.progress["done"] >= 30))
    end(first)
    shop.worker("training")
    done = shop.ended(job.id)

    assert done.status == "succeeded"
    assert done.result is not None
    assert shop.job(killed.id).attempt == 2
    assert "train.resume" in (shop.settings.data / "parts.log").read_text()
    with shop.database.reading() as session:
        version = versions.get(session, done.result["version"])
        assert len(versions.list_versions(session)) == 2
        assert list_trainings(session, status="running") == []
        assert {member.log["threads"] for member in versions.members_of(session, version.id)} == {1}
    assert version.weights_hash == _uninterrupted(trained_file)


def test_a_training_goes_on_however_often_its_worker_is_stopped(sqlite_shop: Shop) -> None:
    shop = sqlite_shop
    shop.worker("default")
    job = shop.post("training", **_one_long_member())
    shop.until(job.id, lambda found: found.status == "waiting")
    (member,) = _children(shop, job.id)
    step = 0
    for _ in range(3):
        worker = shop.worker("training")
        shop.until(member.id, lambda job: bool(job.progress and job.progress["done"] > step))  # noqa: B023
        assert end(worker, signal.SIGTERM) == 0
        stopped = shop.job(member.id)
        assert (stopped.status, stopped.problem) == ("queued", None)
        assert stopped.max_attempts - stopped.attempt == member.max_attempts
        with shop.database.reading() as session:
            checkpoint = trainings.checkpoint(session, stopped.params["training"], 0)
        assert checkpoint is not None
        assert checkpoint.step > step
        step = checkpoint.step
    shop.worker("training")
    assert shop.ended(job.id).status == "succeeded"


def test_a_training_outlasts_three_workers_that_are_killed(sqlite_shop: Shop) -> None:
    shop = sqlite_shop
    shop.worker("default")
    job = shop.post("training", **training(members=1, schedule={"kind": "cosine", "steps": 200}))
    shop.until(job.id, lambda found: found.status == "waiting")
    (member,) = _children(shop, job.id)
    for attempt in range(1, 4):
        worker = shop.worker("training")
        shop.until(member.id, lambda found: (found.status, found.attempt) == ("running", attempt))  # noqa: B023
        end(worker)
    shop.worker("training")
    assert shop.ended(job.id).status == "succeeded"
    assert shop.job(member.id).attempt == 4


def test_an_ingest_whose_worker_is_killed_is_finished_by_another(sqlite_shop: Shop, tmp_path: Path) -> None:
    folder = tmp_path / "incoming"
    synthetic.write(folder, basins=16, first_day=day("1980-10-01"), last_day=day("2005-09-30"), seed=5)
    first = sqlite_shop.worker()
    job = sqlite_shop.post("ingest", None, **{"from": [str(folder)]})
    _until_basins(sqlite_shop, more_than=4)
    end(first)
    sqlite_shop.worker()
    done = sqlite_shop.ended(job.id)

    assert (done.status, done.attempt) == ("succeeded", 2)
    expected = Database(f"sqlite:///{tmp_path / 'expected.sqlite'}")
    expected.migrate()
    ingest(work_of(expected, CLOCK), CamelsSource([folder]))
    with expected.reading() as one, sqlite_shop.database.reading() as other:
        for number in range(4, 17):
            basin = f"SYNTH-{number:02}"
            rain, same = (series.read(s, basin, "synthetic", "precipitation") for s in (one, other))
            assert rain is not None
            assert same is not None
            assert rain.values.tobytes() == same.values.tobytes()
    expected.close()


def test_a_forecast_whose_worker_is_killed_is_issued_once(shop: Shop) -> None:
    first = shop.worker()
    job = shop.post("forecast", basins=list(BASINS), t0="2005-09-01")
    shop.until(job.id, lambda found: found.status == "running")
    end(first)
    shop.worker()
    done = shop.ended(job.id)

    assert done.status == "succeeded"
    assert done.result is not None
    with shop.database.reading() as session:
        (run,) = runs.list_runs(session)
        assert run.status == "issued"
        assert [output["run"] for output in done.result["runs"]] == [run.id]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV], ids=lambda how: how.name)
def test_the_job_of_a_killed_worker_does_not_wait_for_the_end_of_its_lease(
    patient_shop: Shop, how: signal.Signals
) -> None:
    worker = harmful_worker(patient_shop)
    job = patient_shop.post("harm", harm="obey")
    patient_shop.until(job.id, lambda found: found.status == "running")
    end(worker, how)
    taken = patient_shop.until(job.id, lambda found: found.status == "queued")
    harmful_worker(patient_shop)
    again = patient_shop.until(job.id, lambda found: found.status == "running")
    assert (taken.attempt, again.attempt) == (1, 2)
    assert len(list((patient_shop.settings.data / "workers").iterdir())) == 1


def test_a_worker_that_comes_back_from_the_dead_changes_nothing(sqlite_shop: Shop) -> None:
    sleeper = sqlite_shop.worker()
    job = sqlite_shop.post("forecast", basins=list(BASINS), t0="2005-09-01")
    sqlite_shop.until(job.id, lambda found: found.status == "running")
    freeze(sqlite_shop, sleeper)
    sqlite_shop.worker()
    done = sqlite_shop.ended(job.id)
    sleeper.send_signal(signal.SIGCONT)
    time.sleep(3)

    assert (done.status, done.attempt) == ("succeeded", 2)
    assert sqlite_shop.job(job.id) == done
    with sqlite_shop.database.reading() as session:
        assert len(runs.list_runs(session)) == 1


def test_jobs_posted_while_the_broker_is_dead_are_done_when_it_is_back(sqlite_shop: Shop) -> None:
    sqlite_shop.worker()
    before = sqlite_shop.post("forecast", basins=["SYNTH-01"], t0="2005-08-01")
    assert sqlite_shop.ended(before.id).status == "succeeded"
    end(sqlite_shop.broker)
    during = sqlite_shop.post("forecast", basins=["SYNTH-01"], t0="2005-08-02")
    assert sqlite_shop.job(during.id).sent_at is None
    sqlite_shop.until(during.id, lambda _: len(_waits_for_the_broker(sqlite_shop)) > 8)
    assert max(_waits_for_the_broker(sqlite_shop)) <= MAX_WAIT
    sqlite_shop.broker = start_embedded(sqlite_shop.settings)
    assert sqlite_shop.ended(during.id).status == "succeeded"


def test_a_broker_that_refuses_messages_is_waited_for(sqlite_shop: Shop) -> None:
    worker = sqlite_shop.worker()
    before = sqlite_shop.post("forecast", basins=["SYNTH-01"], t0="2005-08-01")
    assert sqlite_shop.ended(before.id).status == "succeeded"
    broker = redis.Redis(unix_socket_path=str(socket_path(sqlite_shop.settings)))
    (sqlite_shop.settings.data / "broker" / "dump.rdb").mkdir()  # it cannot write its file, as on a full disk
    broker.config_set("save", "1 1")
    sqlite_shop.until(before.id, lambda _: not takes_messages(sqlite_shop.settings))
    during = sqlite_shop.post("forecast", basins=["SYNTH-01"], t0="2005-08-02")
    sqlite_shop.until(during.id, lambda _: len(_waits_for_the_broker(sqlite_shop)) > 2)
    assert lives(sqlite_shop.settings)
    broker.config_set("stop-writes-on-bgsave-error", "no")
    assert sqlite_shop.ended(during.id).status == "succeeded"
    assert takes_messages(sqlite_shop.settings)
    waits = len(_waits_for_the_broker(sqlite_shop))
    broker.config_set("min-replicas-to-write", 1)  # a refusal that passes only when somebody acts
    after = sqlite_shop.post("forecast", basins=["SYNTH-01"], t0="2005-08-03")
    sqlite_shop.until(after.id, lambda _: len(_waits_for_the_broker(sqlite_shop)) > waits)
    broker.config_set("min-replicas-to-write", 0)
    assert sqlite_shop.ended(after.id).status == "succeeded"
    assert worker.poll() is None
    broker.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
def test_a_job_outlasts_a_database_that_is_away(
    postgresql_shop: Shop, postgresql: PostgreSQL, how: signal.Signals
) -> None:
    shop = postgresql_shop
    shop.worker("default")
    shop.worker("training")
    job = shop.post("training", **training(schedule={"kind": "cosine", "steps": 200}))
    shop.until(job.id, lambda found: found.status == "waiting")
    postgresql.stop_for(20, how)
    done = shop.ended(job.id)
    assert done.status == "succeeded"
    with shop.database.reading() as session:
        assert len(versions.list_versions(session)) == 2


def _waits_for_the_broker(shop: Shop) -> list[float]:
    """Return how long the worker has waited between its attempts to connect."""
    log = (shop.settings.data / "parts.log").read_text()
    lines = [json.loads(line) for line in log.splitlines() if '"worker.broker"' in line]
    return [line["again_in_seconds"] for line in lines]


def _one_long_member() -> dict[str, Any]:
    """Return the params of a training that writes a checkpoint at its end and where it is stopped."""
    return training(members=1, schedule={"kind": "cosine", "steps": 1500}, checkpoint_every=100_000)


def _uninterrupted(trained_file: Path) -> str:
    """Return the hash of the weights of a training that nothing disturbs."""

    def train_all(folder: Path) -> None:
        config = configuration(**{**training()["config"], "inputs": configuration().inputs})
        with closing(Database(f"sqlite:///{shutil.copy(trained_file, folder / FILE)}")) as database:
            trained = train(work_of(database, CLOCK), config, BASINS)
            with database.reading() as session:
                (folder / HASH).write_text(versions.get(session, trained.version_id).weights_hash)

    return (filled_once(trained_file.parent / "uninterrupted", train_all) / HASH).read_text()


def _children(shop: Shop, job: str) -> list[jobs.Job]:
    with shop.database.reading() as session:
        return jobs.children(session, job)


def _until_basins(shop: Shop, more_than: int) -> None:
    from records.basins import basins

    end_at = time.monotonic() + PATIENCE
    while True:
        with shop.database.reading() as session:
            if len(basins.list_basins(session)) > more_than:
                return
        assert time.monotonic() < end_at
        time.sleep(0.02)
