"""Spawned processes pass by the working folder, and the process that starts them stays as it was."""

import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from runtime.child_processes import spawn_context

PROCESSES = 4


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
