"""A dead worker is known at once, however it died; a live one is never reported dead."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workers.liveness import dead_workers, hold_lock, lock_folder

HOLD = """
import sys, pathlib
from workers.liveness import hold_lock
with hold_lock(pathlib.Path(sys.argv[1])) as name:
    print(name, flush=True)
    input()
"""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Callable[[], tuple[str, subprocess.Popen[str]]]]:
    """Starts a process that holds the lock of a worker."""
    processes: list[subprocess.Popen[str]] = []

    def start() -> tuple[str, subprocess.Popen[str]]:
        command = [sys.executable, "-c", HOLD, str(tmp_path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout is not None
        return process.stdout.readline().strip(), process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def dead(data: Path) -> list[str]:
    with dead_workers(data) as names:
        return names


@pytest.mark.extended
@pytest.mark.parametrize("stopped", [False, True])
def test_a_worker_that_was_killed_is_gone_and_then_forgotten(
    worker: Callable[[], tuple[str, subprocess.Popen[str]]], tmp_path: Path, stopped: bool
) -> None:
    (killed, process), (alive, _) = worker(), worker()
    assert dead(tmp_path) == []
    if stopped:
        process.send_signal(signal.SIGSTOP)
        assert dead(tmp_path) == []
    process.kill()
    process.wait()
    assert dead(tmp_path) == [killed]
    assert dead(tmp_path) == []
    assert [path.name for path in lock_folder(tmp_path).iterdir()] == [alive]


def test_a_worker_that_ends_leaves_nothing(tmp_path: Path) -> None:
    with hold_lock(tmp_path) as name:
        assert [path.name for path in lock_folder(tmp_path).iterdir()] == [name]
        assert dead(tmp_path) == []
    assert list(lock_folder(tmp_path).iterdir()) == []


def test_no_two_workers_have_one_name_though_they_have_one_process_id(tmp_path: Path) -> None:
    with hold_lock(tmp_path) as one, hold_lock(tmp_path) as other:
        assert one != other
        assert all(f":{os.getpid()}:" in name for name in (one, other))


def test_a_dead_worker_is_found_again_after_a_failed_recovery(tmp_path: Path) -> None:
    left = _left(tmp_path, Path("/proc/sys/kernel/random/boot_id").read_text())

    def act() -> None:
        with dead_workers(tmp_path) as names:
            assert names == [left.name]
            raise OSError("The database is away.")

    with pytest.raises(OSError, match="database"):
        act()
    assert dead(tmp_path) == [left.name]


def test_workers_of_another_machine_are_not_judged(tmp_path: Path) -> None:
    left = _left(tmp_path, "another")
    assert dead(tmp_path) == []
    assert not left.exists()


def _left(data: Path, machine: str) -> Path:
    path = lock_folder(data) / "here:1:0badcafe"
    path.parent.mkdir()
    path.write_text(machine)
    return path
