"""Child processes run Freshet's own code, end with their parent or their group, and report how they ended."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from runtime import child_processes
from runtime.child_processes import spawn_context

PROCESSES = 4
PATIENCE = 60.0  # seconds


def passes_by_the_working_folder() -> bool:
    return sys.flags.safe_path


def exit_with_what_is_safe() -> None:
    raise SystemExit(0 if sys.flags.safe_path else 1)


@pytest.mark.parametrize("before", [None, "", "1"])
def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    context = spawn_context()
    assert os.environ.get("PYTHONSAFEPATH") == before
    process = context.Process(target=exit_with_what_is_safe)
    process.start()
    assert os.environ.get("PYTHONSAFEPATH") == before
    process.join()
    assert process.exitcode == 0


def test_processes_that_threads_start_at_once_are_all_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    processes = [spawn_context().Process(target=exit_with_what_is_safe) for _ in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as threads:
        list(threads.map(lambda process: process.start(), processes))
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    assert "PYTHONSAFEPATH" not in os.environ


def test_the_processes_of_a_pool_are_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with ProcessPoolExecutor(1, spawn_context()) as pool:
        assert pool.submit(passes_by_the_working_folder).result()
    assert "PYTHONSAFEPATH" not in os.environ


def child(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_group_is_killed_with_all_that_it_has_started() -> None:
    code = "import subprocess, sys\nprint(subprocess.Popen([sys.executable, '-c', 'input()']).pid, flush=True)\ninput()"
    process = child_processes.start(child(code))
    with process:
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
        assert child_processes.kill_group(process, PATIENCE)
    assert child_processes.end_in_words(process, PATIENCE) == "was killed by SIGKILL (Killed)"
    assert stopped_running(grandchild)


def test_a_process_that_does_not_end_when_asked_is_killed(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        obedient = child_processes.start(child("import time; time.sleep(600)"), log=log)
        stubborn = child_processes.Fork(lambda: time.sleep(600), [])
        os.kill(stubborn.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, stubborn.pid, os.WSTOPPED | os.WNOWAIT)  # else SIGTERM may come first
        child_processes.end_all([obedient, stubborn], 1.0)
    assert (obedient.poll(), stubborn.poll()) == (-signal.SIGTERM, -signal.SIGKILL)


def test_a_fork_ends_with_the_exit_code_of_its_function() -> None:
    codes = [
        child_processes.Fork(run, []).wait() for run in (lambda: None, lambda: sys.exit(3), lambda: sys.exit("no"))
    ]
    assert codes == [0, 3, 1]


def test_a_fork_does_not_repeat_the_output_of_its_parent() -> None:
    code = "from runtime.child_processes import Fork\nprint('once')\nFork(lambda: None, []).wait()"
    done = subprocess.run(child(code), capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("once\n", "")


def test_a_child_dies_with_its_parent() -> None:
    code = (
        "from runtime.child_processes import start\n"
        f"print(start([{sys.executable!r}, '-c', 'input()']).pid, flush=True)\n"
        "input()"
    )
    with subprocess.Popen(child(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        grandchild = int(parent.stdout.readline())
        parent.kill()
    assert stopped_running(grandchild)


def test_a_limit_of_memory_holds() -> None:
    def take() -> None:
        child_processes.limit(memory=200 * 2**20)
        assert child_processes.memory_limit() == 200 * 2**20
        try:
            bytearray(400 * 2**20)
        except MemoryError:
            sys.exit(7)

    assert child_processes.Fork(take, []).wait() == 7


def stopped_running(process: int) -> bool:
    """Return whether a process ends in time; a zombie has ended."""
    last = time.monotonic() + PATIENCE
    while time.monotonic() < last:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
