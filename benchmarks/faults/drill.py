"""A service under load while one of its processes, or something it depends on, is killed, stopped or taken away.

Synthetic basins, an untrained ensemble; loopback alone. All the while one client reads forecasts and another posts
forecast jobs. A fault is over when its cause is: at once for a kill and for a stop, which the service is not notified
of, and after a while for what is away for a while. The service is back when what was harmed has been replaced, it
reports no more degradations than before, and every job that was posted until the fault was over has ended, with one
posted then. A job is lost if it was accepted and does not succeed, doubled if it leaves more than one run.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import structlog

from benchmarks.faults import harms
from benchmarks.faults.load import Load
from benchmarks.service.running import Service, on_postgresql, on_small_disk
from benchmarks.service.store import prepared

log = structlog.get_logger()

PATIENCE = 180.0  # seconds until a service counts as not coming back
BEFORE = 5.0  # seconds of load before each fault

Fault = Callable[[Service], None]


def measure() -> dict[str, Any]:
    """Return a row for each fault."""
    with TemporaryDirectory(dir="/tmp") as folder:
        store = prepared(Path(folder) / "store.sqlite")
        rows = []
        for place, faults in ((on_small_disk, harms.ON_SQLITE), (on_postgresql, harms.ON_POSTGRESQL)):
            with place(Path(folder, place.__name__), store) as service:
                rows += [_row(service, name, fault) for name, fault in faults.items()]
    return {
        "faults": rows,
        "longest_seconds_until_back": max(row["seconds_until_back"] for row in rows),
        "jobs_lost": sum(row["jobs_lost"] for row in rows),
        "jobs_doubled": sum(row["jobs_doubled"] for row in rows),
    }


def _row(service: Service, name: str, fault: Fault) -> dict[str, Any]:
    usual, service.harmed, service.posted = service.status_codes(), None, []
    with _loaded(service) as load:
        time.sleep(BEFORE)
        fault(service)
        over_at = time.monotonic()
        load.accepted |= dict.fromkeys(service.posted, over_at)
        seconds = load.until_back(over_at, usual, PATIENCE)
    lost, doubled = load.account()
    row = {
        "fault": name,
        "seconds_until_back": round(seconds, 1),
        "jobs": len(load.accepted),
        "jobs_lost": lost,
        "jobs_doubled": doubled,
        "reads": load.reads,
        "reads_failed": load.reads_failed,
        "status_said": sorted(load.codes - usual),
    }
    log.warning("drill.row", **row)  # standard output is for the result
    return row


@contextmanager
def _loaded(service: Service) -> Iterator[Load]:
    load = Load(service)
    load.start()
    try:
        yield load
    finally:
        load.stop()
