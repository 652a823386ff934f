"""Workers and schedulers send heartbeats, and remove theirs as they leave."""

import signal
import time
from datetime import timedelta

import pytest

from records.jobs import process_heartbeats
from records.jobs.process_heartbeats import Role
from testing.jobs.processes import PATIENCE, Shop, end

pytestmark = pytest.mark.extended


def test_a_live_process_is_listed_until_it_leaves(empty_shop: Shop) -> None:
    worker, second = empty_shop.worker("default", "ingest"), empty_shop.start("scheduler")
    await_roles(empty_shop, ["scheduler", "scheduler", "worker"])
    with empty_shop.database.reading() as session:
        processes = process_heartbeats.live_processes(session)
    assert [list(each.queues) for each in processes if each.role == "worker"] == [["default", "ingest"]]
    assert all(abs(each.clock_ahead) < timedelta(minutes=1) for each in processes)
    for process in (worker, second):
        end(process, signal.SIGTERM)
    await_roles(empty_shop, ["scheduler"])


def await_roles(shop: Shop, expected: list[Role]) -> None:
    """Wait until just the processes of these roles are there."""
    last = time.monotonic() + PATIENCE
    while True:
        with shop.database.reading() as session:
            roles = sorted(each.role for each in process_heartbeats.live_processes(session))
        if roles == expected:
            return
        assert time.monotonic() < last, roles
        time.sleep(0.1)
