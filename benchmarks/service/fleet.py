"""Ten members as jobs over one training worker and over two, and over two of which one is killed half-way.

Synthetic basins, the default network and recipe for a few steps; broker, scheduler and workers are processes as
`freshet serve` starts them, on SQLite. Each round trains by a seed of its own, so that none finds members of another.
It ends when the version is there; seconds are those from posting the training.
"""

import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.speed.country import PRODUCT, SyntheticCountry
from operations.basin_data.ingest import ingest
from records.jobs import jobs
from records.versions import versions
from runtime.clock import Clock
from runtime.settings import Settings
from testing.jobs.processes import LEASE, Shop, end
from testing.work import work_of

BASINS, MEMBERS, STEPS = 20, 10, 60


def measure() -> dict[str, Any]:
    """Return the seconds of each round, their ratios, and the account of the members."""
    rounds = {
        "one worker": _round(seed=1, workers=1),
        "two workers": _round(seed=2, workers=2),
        "two workers, one killed half-way": _round(seed=3, workers=2, kills=True),
    }
    one = rounds["one worker"]["seconds"]
    return {
        "shape": f"{MEMBERS} members of {STEPS} steps, {BASINS} basins",
        "rounds": rounds,
        "ratios": {f"one worker over {name}": one / rounds[name]["seconds"] for name in rounds if name != "one worker"},
    }


def _round(seed: int, workers: int, *, kills: bool = False) -> dict[str, Any]:
    with TemporaryDirectory(dir="/tmp") as folder, ExitStack() as stack:
        data = Path(folder)
        shop = Shop(
            Settings.load(data=data, database_url=f"sqlite:///{data}/freshet.sqlite", lease_seconds=LEASE), stack
        )
        stack.callback(shop.close)
        shop.database.migrate()
        ingest(work_of(shop.database, Clock()), SyntheticCountry(BASINS))
        shop.start("scheduler")
        shop.worker("default")
        trainers = [shop.worker("training") for _ in range(workers)]
        started = time.perf_counter()
        job = shop.post("training", config=_config(seed))
        if kills:
            _await_half(shop, job.id)
            end(trainers[0])
        done = _ended(shop, job.id)
        return {"seconds": round(time.perf_counter() - started, 1), **_account(shop, done)}


def _config(seed: int) -> dict[str, Any]:
    return {
        "inputs": {"product": PRODUCT},
        "train_period": "1999-10-01..2008-09-30",
        "schedule": {"kind": "cosine", "steps": STEPS},
        "checkpoint_every": STEPS // 4,
        "members": MEMBERS,
        "seed": seed,
    }


def _await_half(shop: Shop, job: str) -> None:
    """Wait until half of the members are trained."""
    while _trained(shop, job) < MEMBERS // 2:
        time.sleep(0.2)


def _trained(shop: Shop, job: str) -> int:
    with shop.database.reading() as session:
        return sum(child.status == "succeeded" for child in jobs.children(session, job))


def _ended(shop: Shop, job: str) -> jobs.Job:
    while (at := shop.job(job)).status not in jobs.ENDED:
        time.sleep(0.2)
    return at


def _account(shop: Shop, job: jobs.Job) -> dict[str, Any]:
    """Return the members of the version, the attempts that each took, and how many workers took part."""
    if job.result is None:
        raise SystemExit(f"The training has failed: {job.problem}")
    with shop.database.reading() as session:
        version = versions.get(session, job.result["version"])
        members = versions.members_of(session, version.id)
        children = jobs.children(session, job.id)
    return {
        "members_in_version": len(members),
        "labels": sorted(member.label for member in members),
        "workers": len({child.worker for child in children}),
        "attempts": sorted(child.attempt for child in children),
    }
