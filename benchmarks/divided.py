"""A job whose parts processes do side by side, as a command's: seconds, memory, and the share that is not divided.

`serial_cpu_seconds` are of the process that divides and closes the job, `parts_cpu_seconds` of the processes that do
its parts, their start included. `speed_up` is what the two allow by Amdahl's law on that number of processors. With one
process all is serial.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from threading import Event
from typing import Any

from records.database.work import Work
from records.runs import runs
from testing.jobs.alone import alone

PROCESSORS = (2, 8, 64)


def timed(work: Work, kind: str, count: int, /, **params: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Do a job on as many processes as the work has cores; return what it took in `count` basins, and its result."""
    issued, ended, before = _issued(work), Event(), _cpu_seconds()

    def await_first_run() -> tuple[float | None, float]:
        while not ended.wait(0.2):
            if _issued(work) > issued:
                return time.perf_counter() - started, time.thread_time()
        return None, time.thread_time()

    with ThreadPoolExecutor(1) as pool:
        started, first = time.perf_counter(), pool.submit(await_first_run)
        try:
            result, _ = alone(work, kind, **params)
        finally:
            ended.set()
        wall = time.perf_counter() - started
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # then its seconds and those of its copies are known
    serial, parts = (after - at for after, at in zip(_cpu_seconds(), before, strict=True))
    seconds_to_first, looking = first.result()
    serial -= looking
    largest = max(getrusage(who).ru_maxrss for who in ((RUSAGE_CHILDREN,) if parts else (RUSAGE_SELF,)))
    taken = {
        "kind": kind,
        "basins": count,
        "processes": work.cores,
        "cpu_ms_a_basin": 1000 * (serial + parts) / count,
        "wall_seconds": wall,
        "seconds_to_first_forecast": seconds_to_first,
        "largest_process_mib": largest / 1024,
        "serial_cpu_seconds": serial,
        "parts_cpu_seconds": parts,
        "speed_up": {number: (serial + parts) / (serial + parts / number) for number in PROCESSORS if parts},
    }
    return taken, result


def _cpu_seconds() -> tuple[float, float]:
    own, others = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, others.ru_utime + others.ru_stime


def _issued(work: Work) -> int:
    with work.database.reading() as session:
        return len(runs.list_runs(session))
