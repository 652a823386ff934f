"""The limits of an attempt count from when its process has loaded everything; that has a limit of its own."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from jobspec.kinds import read
from records.jobs import attempts
from runtime.settings import Settings
from workers.job_processes import process_limits
from workers.job_processes.process_limits import Watch
from workers.job_processes.process_pool import Child


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    """A process that no message has been received from yet."""
    child = Child("workers.job_processes.job_process", Settings(data=tmp_path), memory_limit=None)
    yield child
    child.kill()


def test_a_process_that_takes_no_job_is_killed_and_its_job_tried_again(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(child, read("prune", {}), "job-1")
    assert watch.fault() is None
    monkeypatch.setattr(process_limits, "START_LIMIT", timedelta(0))
    fault = watch.fault()
    assert fault is not None
    assert (fault.status, fault.problem) == (
        "retry",
        {
            "kind": attempts.NO_PROGRESS,
            "detail": "The process of the job could not take it within 0 s and was killed before it had reported any "
            "progress.",
        },
    )


def test_the_time_limit_of_a_job_counts_from_when_its_process_has_started(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = read("prune", {})
    monkeypatch.setattr(type(request), "time_limit", timedelta(0))
    watch = Watch(child, request, "job-1")
    assert watch.fault() is None
    child.started_at = 0.0
    fault = watch.fault()
    assert fault is not None
    assert fault.problem is not None
    assert fault.problem["kind"] == "time-limit"


def test_a_process_that_reports_its_start_again_gains_no_time(child: Child) -> None:
    while child.started_at is None:
        assert not child.ended
        child.receive(1)
    started_at = child.started_at
    child._lines.append(bytearray(b'{"started": true}'))
    assert child.receive(0) is None
    assert child.started_at == started_at
