"""What the supervisor writes of the parts that it starts again, its API reads."""

import os
from datetime import UTC, datetime
from pathlib import Path

from runtime import restart_notes
from runtime.restart_notes import Restart

RESTART = Restart("scheduler", "was killed by SIGKILL", 2, datetime(2026, 11, 23, 6, tzinfo=UTC))


def test_the_last_report_is_read(tmp_path: Path) -> None:
    assert restart_notes.load(tmp_path, os.getpid()) == []
    restart_notes.store(tmp_path, [RESTART])
    assert restart_notes.load(tmp_path, os.getpid()) == [RESTART]
    restart_notes.store(tmp_path, [])
    assert restart_notes.load(tmp_path, os.getpid()) == []


def test_a_report_of_another_supervisor_is_ignored(tmp_path: Path) -> None:
    restart_notes.store(tmp_path, [RESTART])
    assert restart_notes.load(tmp_path, os.getpid() + 1) == []
