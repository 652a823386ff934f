"""A process that exits or hangs is restarted, after growing waits if it exits repeatedly."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from freshet.supervisor.supervised_process import (
    MAX_SILENCE,
    MAX_START,
    MAX_WAIT,
    REPORT_AFTER_SILENCE,
    STEADY,
    SupervisedProcess,
)
from runtime.watchdog import WatchdogSocket

SIGN = "from runtime import watchdog; watchdog.notify(watchdog.LIVES); input()"
SOON = 0.125  # exact in binary, so that sums of it are


@pytest.fixture
def start() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts processes that do nothing; none outlives the test."""
    with ExitStack() as stack:

        def begin() -> subprocess.Popen[bytes]:
            process = subprocess.Popen(["sleep", "1000"])
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield begin


@pytest.fixture
def part(start: Callable[[], subprocess.Popen[bytes]]) -> SupervisedProcess:
    """A part that was started at 0."""
    return SupervisedProcess("scheduler", start, start(), 0.0)


def killed(part: SupervisedProcess, how: signal.Signals = signal.SIGKILL) -> None:
    os.kill(part.process.pid, how)
    part.process.wait()


def test_a_process_that_dies_is_restarted_at_once(part: SupervisedProcess) -> None:
    part.beat(1.0)
    first = part.process.pid
    killed(part)
    part.check(2.0)
    assert part.restart is not None
    assert (part.restart.cause, part.restart.times, part.lives) == ("was killed by SIGKILL (Killed)", 1, False)
    part.check(2.0)
    assert part.process.pid != first
    assert part.restart is not None
    part.beat(3.0)
    assert part.lives
    assert part.restart is None


def test_repeated_exits_lengthen_the_wait_up_to_a_limit(part: SupervisedProcess) -> None:
    now, waits = 0.0, []
    for _ in range(8):
        killed(part)
        died_at, first = now, part.process.pid
        while part.process.pid == first:
            part.check(now)
            now += SOON
        waits.append(now - died_at)
    assert waits == sorted(waits)
    assert waits[1] < 2
    assert waits[-1] == pytest.approx(MAX_WAIT, abs=1)
    part.beat(now)
    assert part.restart is not None
    assert part.restart.times == 8
    for later in (now, now + STEADY + 1):
        part.beat(later)
        part.check(later)
    assert part.restart is None


def test_a_process_that_exits_repeatedly_is_reported_until_it_has_lived_longer(
    part: SupervisedProcess,
) -> None:
    """Its last ends were 10 seconds apart: after 15 seconds nobody knows, after 20 and some it lives."""
    part.beat(0.0)
    now = STEADY / 2  # its first life does not count for those after it
    for _ in range(4):
        now, dead = now + 10.0, part.process.pid
        killed(part)
        while part.process.pid == dead:
            part.check(now)
            now += SOON
        part.beat(now)

    def is_reported_after(seconds: float) -> bool:
        part.beat(now + seconds)
        part.check(now + seconds)
        return part.restart is not None

    assert is_reported_after(15.0)
    assert not is_reported_after(25.0)


def test_a_process_that_cannot_be_started_is_tried_again(start: Callable[[], subprocess.Popen[bytes]]) -> None:
    attempts: list[int] = []

    def start_third() -> subprocess.Popen[bytes]:
        attempts.append(1)
        return start() if len(attempts) == 3 else subprocess.Popen(["/no/such/program"])

    part = SupervisedProcess("scheduler", start_third, start(), 0.0)
    killed(part)
    now = 0.0
    while len(attempts) < 3:
        part.check(now)
        now += SOON
    part.beat(now)
    assert part.lives
    assert part.restart is not None
    assert (part.restart.times, "could not be started" in part.restart.cause) == (3, True)


def test_a_process_without_heartbeats_is_killed_even_if_it_is_stopped(part: SupervisedProcess) -> None:
    part.beat(1.0)
    os.kill(part.process.pid, signal.SIGSTOP)
    part.check(1.0 + MAX_SILENCE)
    assert part.process.poll() is None
    part.check(1.0 + MAX_SILENCE + SOON)
    part.process.wait()
    part.check(20.0)
    assert part.restart is not None
    assert part.restart.cause == "hung and was killed"


def test_a_silent_process_is_reported_before_it_is_killed(part: SupervisedProcess) -> None:
    def reported_at(now: float) -> str | None:
        part.check(now)
        return None if part.restart is None else part.restart.cause

    part.beat(1.0)
    assert reported_at(1.0 + REPORT_AFTER_SILENCE) is None
    assert reported_at(1.0 + REPORT_AFTER_SILENCE + SOON) == "gives no sign of life"
    assert part.process.poll() is None
    part.beat(6.0)
    assert reported_at(6.0 + SOON) is None


def test_the_first_heartbeat_has_a_longer_deadline(part: SupervisedProcess) -> None:
    part.check(MAX_START)
    assert part.process.poll() is None
    part.check(MAX_START + SOON)
    assert part.process.wait() == -signal.SIGKILL


def test_a_process_that_started_too_slowly_has_longer_the_next_time(part: SupervisedProcess) -> None:
    part.check(MAX_START + SOON)
    part.process.wait()
    again_at = 100.0
    part.check(again_at)
    part.check(again_at)
    part.check(again_at + 2 * MAX_START)
    assert part.process.poll() is None
    part.check(again_at + 2 * MAX_START + SOON)
    assert part.process.wait() == -signal.SIGKILL


def test_a_process_that_could_not_be_heard_gets_a_new_deadline(part: SupervisedProcess) -> None:
    part.beat(1.0)
    part.reset_deadline(1000.0)
    part.check(1000.0 + MAX_SILENCE)
    assert part.process.poll() is None


def test_a_heartbeat_counts_for_its_sender_alone(tmp_path: Path) -> None:
    with closing(WatchdogSocket()) as ears:
        command = [sys.executable, "-c", SIGN]
        environment = {"NOTIFY_SOCKET": ears.address, "PYTHONPATH": ":".join(sys.path)}
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, cwd=tmp_path) as process:
            end, heard = time.monotonic() + 60, set[int]()
            while not heard:
                assert time.monotonic() < end
                heard = ears.received_pids()
            process.communicate(b"\n")
        assert heard == {process.pid}
        assert ears.received_pids() == set()
