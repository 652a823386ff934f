"""A worker reuses the process of its last job for the next one, and not for long."""

import time
from pathlib import Path

import pytest

from runtime.child_processes import exit_in_words, memory_kills
from runtime.settings import Settings
from testing.jobs.processes import PATIENCE, ROOT
from workers.job_processes.process_pool import Child, Children, Done, Report


def has_ended(child: Child) -> bool:
    """Whether a process has ended, in the end."""
    end = time.monotonic() + PATIENCE
    while not child.ended and time.monotonic() < end:
        time.sleep(0.05)
    return child.ended


def test_a_process_without_a_job_is_ended_after_a_while(tmp_path: Path) -> None:
    with Children(Settings.load(data=tmp_path), max_idle=0.1) as children:
        child = children.take(None)
        children.give_back(child)
        assert has_ended(child)
        assert child.end_in_words().startswith("was killed by SIGKILL")
        other = children.take(None)
        assert other is not child
        other.kill()


def test_a_process_that_has_a_job_again_goes_on(tmp_path: Path) -> None:
    with Children(Settings.load(data=tmp_path), max_idle=2.0) as children:
        child = children.take(None)
        children.give_back(child)
        assert children.take(None) is child
        time.sleep(3.0)
        assert not child.ended
        children.give_back(child)
    assert child.ended


def test_the_kernel_kills_a_new_process_before_its_worker_and_want_of_memory_is_named(tmp_path: Path) -> None:
    child = Child("tests.workers.threaded", Settings.load(data=tmp_path), None)
    try:
        assert Path(f"/proc/{child._process.pid}/oom_score_adj").read_text().strip() == "500"
    finally:
        child.kill()
    words = {exit_in_words(code, ran_out) for code in (-9, -11) for ran_out in (True, False)}
    assert len(words) == 3
    assert sum("memory of the machine or container ran out" in each for each in words) == 1
    assert memory_kills() >= 0


def test_a_job_computes_on_one_thread_whatever_the_worker_inherits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    child = Child("tests.workers.threaded", Settings.load(data=tmp_path, cores=2), None)
    try:
        assert child.receive(PATIENCE) == Report(progress=Done(done=1, total=1, detail="1 1"), file=None)
    finally:
        child.kill()
