"""What the supervisor writes of the parts that it starts again, its API reads."""

import os
from datetime import UTC, datetime
from pathlib import Path

from runtime import watchdog
from runtime.watchdog import Restart

RESTART = Restart("scheduler", "was killed by SIGKILL", 2, datetime(2026, 11, 23, 6, tzinfo=UTC))


def test_the_last_report_is_read(tmp_path: Path) -> None:
    assert watchdog.load_restarts(tmp_path, os.getpid()) == []
    watchdog.store_restarts(tmp_path, [RESTART])
    assert watchdog.load_restarts(tmp_path, os.getpid()) == [RESTART]
    watchdog.store_restarts(tmp_path, [])
    assert watchdog.load_restarts(tmp_path, os.getpid()) == []


def test_a_report_of_another_supervisor_is_ignored(tmp_path: Path) -> None:
    watchdog.store_restarts(tmp_path, [RESTART])
    assert watchdog.load_restarts(tmp_path, os.getpid() + 1) == []
