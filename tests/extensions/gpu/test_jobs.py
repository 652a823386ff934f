"""A training as one job of a worker with a GPU, and where it goes when the GPU or the worker is lost.

The GPU is that of `tests.extensions.gpu.fake_gpu`; database, queue, scheduler, workers and their processes are real.
"""

import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from records.jobs import attempts, jobs, process_heartbeats
from records.versions import trainings, versions
from testing.jobs.processes import PATIENCE, Shop, end
from testing.parts.forked_parts import ForkedPart
from tests.extensions.gpu.fake_gpu import FakeGPU
from tests.workers.conftest import training

pytestmark = pytest.mark.extended

STEPS = 300
LONG = {"schedule": {"kind": "cosine", "steps": STEPS}, "validate_every": 150, "checkpoint_every": 20}


def gpu_worker(shop: Shop) -> ForkedPart:
    """Start a worker with the GPU, and wait for its first heartbeat."""
    before = usable(shop)
    worker = shop.start("gpu", module="tests.extensions.gpu.with_gpu")
    until(shop, lambda: usable(shop) > before)
    return worker


def usable(shop: Shop) -> int:
    """Return the number of workers whose GPU can be used."""
    with shop.database.reading() as session:
        return process_heartbeats.gpu_workers(process_heartbeats.live_processes(session))


def until(shop: Shop, holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    last = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < last, (shop.settings.data / "parts.log").read_text()
        time.sleep(0.05)


def children(shop: Shop, job: jobs.Job) -> list[jobs.Job]:
    """Return the jobs that a training has posted."""
    with shop.database.reading() as session:
        return jobs.children(session, job.id)


def log_of(shop: Shop, job: jobs.Job) -> str:
    """Return the lines of a job's log."""
    with shop.database.reading() as session:
        return "\n".join(event.data["text"] for event in jobs.events_after(session, job.id, 0) if event.type == "log")


def started(shop: Shop, **changes: Any) -> tuple[jobs.Job, jobs.Job]:
    """Post a training and wait until its only job is under way."""
    shop.worker("default")
    job = shop.post("training", **training(**{**LONG, **changes}))
    shop.until(job.id, lambda found: found.status == "waiting")
    (child,) = children(shop, job)
    shop.until(child.id, lambda found: bool(found.progress and found.progress["done"] >= 40))
    return job, child


def weights_of(shop: Shop, job: jobs.Job) -> str:
    """Return the hash of the weights of a training's version."""
    done = shop.ended(job.id)
    assert done.status == "succeeded", done.problem
    assert done.result is not None
    with shop.database.reading() as session:
        return versions.get(session, done.result["version"]).weights_hash


def test_a_training_is_one_job_and_gives_what_cpus_give(sqlite_shop: Shop, gpu: FakeGPU) -> None:
    shop = sqlite_shop
    (gpu.folder / "members").write_text("1")
    gpu_worker(shop)
    shop.worker("default")
    shop.worker("training")
    short = {"schedule": {"kind": "cosine", "steps": 60}, "validate_every": 30}
    job = shop.post("training", **training(**short))
    on_gpu = weights_of(shop, job)
    (child,) = children(shop, job)
    assert (child.kind, child.queue, child.status) == ("members", "gpu", "succeeded")
    assert child.params["members"] == 2
    assert child.progress is not None
    assert child.progress["total"] == 2 * 60
    assert "The memory of cuda:0 does not suffice for 2 members side by side" in log_of(shop, child)

    gpu.lose()
    alone = shop.post("training", **training(**short, checkpoint_every=11))
    assert weights_of(shop, alone) == on_gpu


def test_what_gpus_do_not_train_together_is_trained_member_by_member(sqlite_shop: Shop, gpu: FakeGPU) -> None:
    del gpu
    gpu_worker(sqlite_shop)
    for queue in ("default", "training"):
        sqlite_shop.worker(queue)
    job = sqlite_shop.post("training", **training(loss="mse", schedule={"kind": "cosine", "steps": 20}))
    assert sqlite_shop.ended(job.id).status == "succeeded"
    assert [child.kind for child in children(sqlite_shop, job)] == ["member", "member"]


def test_members_of_a_lost_gpu_go_on_with_cpu_workers(sqlite_shop: Shop, gpu: FakeGPU) -> None:
    shop = sqlite_shop
    gpu_worker(shop)
    job, child = started(shop)
    gpu.lose()
    failed = shop.ended(child.id)
    assert failed.problem is not None
    assert failed.problem["kind"] == "gpu-lost"
    until(shop, lambda: usable(shop) == 0)
    with shop.database.reading() as session:
        (state,) = [each.gpu for each in process_heartbeats.live_processes(session) if each.gpu is not None]
        steps = {trainings.checkpoint(session, child.params["training"], member).step for member in range(2)}  # type: ignore[union-attr]
    assert state.fault is not None
    assert len(steps) == 1
    assert min(steps) >= 20

    shop.worker("training")
    lost = weights_of(shop, job)
    assert [each.kind for each in children(shop, job)] == ["members", "member", "member"]
    assert "The members continue one by one on CPU workers: The device cuda:0 cannot be used" in log_of(shop, job)
    assert "train.resume" in (shop.settings.data / "parts.log").read_text()
    whole = shop.post("training", **training(**{**LONG, "checkpoint_every": 21}))
    assert weights_of(shop, whole) == lost


def test_another_gpu_goes_on_where_a_killed_worker_stopped(sqlite_shop: Shop, gpu: FakeGPU) -> None:
    del gpu
    first = gpu_worker(sqlite_shop)
    job, child = started(sqlite_shop)
    gpu_worker(sqlite_shop)
    end(first)
    assert sqlite_shop.ended(job.id).status == "succeeded"
    assert [each.kind for each in children(sqlite_shop, job)] == ["members"]
    assert sqlite_shop.job(child.id).attempt == 2


def test_without_another_gpu_cpu_workers_go_on(sqlite_shop: Shop, gpu: FakeGPU) -> None:
    del gpu
    worker = gpu_worker(sqlite_shop)
    job, child = started(sqlite_shop)
    end(worker, signal.SIGTERM)
    given_up = sqlite_shop.ended(child.id)
    assert given_up.problem is not None
    assert given_up.problem["kind"] == "no-gpu-worker"
    sqlite_shop.worker("training")
    assert sqlite_shop.ended(job.id).status == "succeeded"
    assert "No worker with a GPU that can be used takes the job" in log_of(sqlite_shop, job)


def test_a_cancelled_training_leaves_its_members_at_one_step(sqlite_shop: Shop, gpu: FakeGPU) -> None:
    del gpu
    gpu_worker(sqlite_shop)
    job, child = started(sqlite_shop)
    with sqlite_shop.database.transaction() as session:
        attempts.request_cancel(session, job.id, sqlite_shop.clock.wall())
    assert sqlite_shop.ended(child.id).status == "cancelled"
    assert sqlite_shop.ended(job.id).status == "cancelled"
    with sqlite_shop.database.reading() as session:
        saved = [trainings.checkpoint(session, child.params["training"], member) for member in range(2)]
    steps = {None if one is None else one.step for one in saved}
    assert len(steps) == 1
    again = sqlite_shop.post("training", **training(**LONG))
    assert sqlite_shop.ended(again.id).status == "succeeded"


def test_a_single_member_on_a_lost_gpu_goes_on_with_the_cpu_of_its_worker(sqlite_shop: Shop, gpu: FakeGPU) -> None:
    """Without the hardware, torch itself refuses the device: a member alone is trained by torch's own CUDA."""
    del gpu
    sqlite_shop.worker("default")
    job = sqlite_shop.post("training", **training(members=1, schedule={"kind": "cosine", "steps": 20}))
    sqlite_shop.until(job.id, lambda found: found.status == "waiting")
    sqlite_shop.start("training", module="tests.extensions.gpu.with_gpu")
    assert sqlite_shop.ended(job.id).status == "succeeded"
    (child,) = children(sqlite_shop, job)
    assert "The member continues on the CPU: The device cuda:0 cannot be used" in log_of(sqlite_shop, child)
