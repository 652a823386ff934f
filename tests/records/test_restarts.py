"""What the supervisor writes of the parts that it starts again, its API reads."""

import os
from datetime import UTC, datetime
from pathlib import Path

from records import restarts
from records.restarts import Restart

RESTART = Restart("scheduler", "was killed by SIGKILL", 2, datetime(2026, 11, 23, 6, tzinfo=UTC))


def test_what_was_told_last_is_read(tmp_path: Path) -> None:
    assert restarts.told(tmp_path, os.getpid()) == []
    restarts.tell(tmp_path, [RESTART])
    assert restarts.told(tmp_path, os.getpid()) == [RESTART]
    restarts.tell(tmp_path, [])
    assert restarts.told(tmp_path, os.getpid()) == []


def test_what_another_supervisor_told_is_not_believed(tmp_path: Path) -> None:
    restarts.tell(tmp_path, [RESTART])
    assert restarts.told(tmp_path, os.getpid() + 1) == []
