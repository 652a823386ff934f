"""Daily cycles through kills of a worker, of the process of its jobs, of scheduler, broker and database.

Two workers and a scheduler, as processes, PostgreSQL and Valkey; parts of a cycle have few basins. Every cycle suffers
two kills, one while data are fetched and one while forecasts are computed, at instants drawn from a seed; what was
killed is started again at once, as a supervisor does. At the end every basin must have one forecast of every issue day
and every issue be closed, all of it to the bit as without kills and undivided. `computed_again` counts the parts that
were started once more after each kill.
"""

import os
import signal
import tempfile
import time
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import structlog

from benchmarks.cycles.days import Workers, bits, differing, prepared, working
from benchmarks.cycles.noting import NOTES
from hydrology.base.calendar import day
from records.database.engine import Database
from records.forecasts import issues
from records.jobs import jobs
from testing.databases import PostgreSQL, copy_into, served
from testing.jobs.processes import end
from testing.processes import children
from workers.queue.broker import start_embedded

log = structlog.get_logger()

SEED, CYCLES, PARTS_OF_CYCLE, PART_BASINS = 52, 20, 6, 4
KILLED = ("worker", "child", "scheduler", "broker", "database")
AWAY = 1.0  # seconds that the database is down
MOMENT = 0.4  # seconds that a part takes


@dataclass(frozen=True, slots=True)
class Kill:
    """What was killed, and when."""

    cycle: int
    what: str
    at: float
    in_time: bool


def measure(basins: int = PARTS_OF_CYCLE * PART_BASINS, short: bool = False) -> dict[str, Any]:
    """Return what the cycles left, and what was computed again."""
    count, chance = 3 if short else CYCLES, np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory(dir="/tmp") as name, served() as server, prepared(Path(name), basins) as days:
        url, kills, ended = server.migrated(), list[Kill](), list[dict[str, Any]]()
        copy_into(days.file, url)
        for ahead in range(count):
            with days.at(ahead) as now, working(Path(name, "data"), url, 2, PART_BASINS) as workers:
                what = [KILLED[(2 * ahead + number) % len(KILLED)] for number in (0, 1)]
                done = _cycle(workers, server, ahead, what, chance, kills)
                ended.append(_account(workers, now, done))
                log.warning("kills.cycle", cycle=ahead, killed=what, **ended[-1])
        database = Database(url)
        found = bits(database)
        database.close()
        whole = days.undivided(count)
        again = _again(Path(name, "data", NOTES), [kill.at for kill in kills])
    return {
        "shape": f"{count} cycles of {basins} basins, {PART_BASINS} a part, two workers, PostgreSQL, seed {SEED}",
        "kills": dict(Counter(kill.what for kill in kills)),
        "kills_before_the_cycle_had_ended": sum(kill.in_time for kill in kills),
        "not_succeeded": sum(one["status"] != "succeeded" for one in ended),
        "not_closed": sum(not one["closed"] for one in ended),
        "not_issued": sum(one["lacking"] for one in ended),
        "attempts": dict(Counter(attempt for one in ended for attempt in one["attempts"])),
        "computed_again": sum(again),
        "most_computed_again_by_a_kill": max(again),
        "computed_again_by": [(kill.what, n) for kill, n in zip(kills, again[1:], strict=True) if n],
        "without_a_kill": again[0],
        "differ_from_undivided": differing(whole, found),
        "forecasts_and_states": len(whole),
    }


def _cycle(
    workers: Workers, server: PostgreSQL, ahead: int, what: list[str], chance: np.random.Generator, kills: list[Kill]
) -> jobs.Job:
    posted, before = workers.cycle().id, _started(workers)
    fetched, computed = (int(chance.integers(1, most)) for most in (3 * PARTS_OF_CYCLE, PARTS_OF_CYCLE + 1))
    reached: tuple[Callable[[], bool], ...] = (
        lambda: _ended_parts(workers, posted) >= fetched,
        lambda: _started(workers) >= before + computed,
    )
    for one, is_time in zip(what, reached, strict=True):
        while not is_time() and workers.shop.job(posted).status not in jobs.ENDED:
            time.sleep(0.02)
        time.sleep(float(chance.uniform(0, MOMENT)))
        in_time = workers.shop.job(posted).status not in jobs.ENDED
        kills.append(Kill(ahead, one, time.time(), in_time))
        _kill(workers, server, one)
    return workers.shop.ended(posted)


def _kill(workers: Workers, server: PostgreSQL, what: str) -> None:
    shop = workers.shop
    match what:
        case "worker":
            busy = _busy(workers)
            end(workers.workers[busy])
            workers.workers[busy] = workers.worker()
        case "child":
            for child in children(workers.workers[_busy(workers)].pid):
                os.kill(child, signal.SIGKILL)
        case "scheduler":
            end(workers.scheduler)
            workers.scheduler = shop.start("scheduler")
        case "broker":
            end(shop.broker)
            shop.broker = start_embedded(shop.settings)
        case "database":
            server.stop_for(AWAY, how=signal.SIGQUIT)


def _busy(workers: Workers) -> int:
    """Return which worker runs a process of jobs; the first has none where no job has started."""
    return next((at for at, worker in enumerate(workers.workers) if children(worker.pid)), 0)


def _ended_parts(workers: Workers, job: str) -> int:
    with workers.shop.database.reading() as session:
        return sum(child.status in jobs.ENDED for child in jobs.children(session, job))


def _started(workers: Workers) -> int:
    return sum(1 for _ in _notes(workers.shop.settings.data / NOTES))


def _notes(file: Path) -> Iterator[tuple[float, str]]:
    """Yield when each part was started, and what it was."""
    for line in file.read_text().splitlines() if file.exists() else ():
        at, _, what = line.partition(" ")
        yield float(at), what


def _again(file: Path, kills: list[float]) -> list[int]:
    """Return how many parts were started once more before the first kill, and after each until the next."""
    seen, again = set[str](), [0] * (len(kills) + 1)
    for at, what in sorted(_notes(file)):
        again[bisect(kills, at)] += what in seen
        seen.add(what)
    return again


def _account(workers: Workers, now: datetime, done: jobs.Job) -> dict[str, Any]:
    with workers.shop.database.reading() as session:
        issue = issues.get(session, day(now.date()))
        attempts = [child.attempt for child in jobs.children(session, done.id)]
    return {
        "status": done.status,
        "problem": done.problem,
        "closed": issue.closed_at is not None,
        "lacking": issue.tally.expected - issue.tally.renewed,
        "attempts": attempts,
    }
