"""What lies in the working folder is never run in place of Freshet; a child that is not Freshet's fails its job."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from runtime import child_processes
from testing.jobs.processes import Shop, end
from tests.foreign import foreign_folder, ran
from workers.job_processes.process_pool import message_of

SPAWNS = """
from runtime.child_processes import spawn_context
import importlib
if __name__ == "__main__":
    process = spawn_context().Process(target=importlib.import_module, args=("records.jobs.jobs",))
    process.start()
    process.join()
    raise SystemExit(process.exitcode)
"""


@pytest.mark.extended
def test_a_worker_and_its_children_run_nothing_of_their_working_folder(empty_shop: Shop, tmp_path: Path) -> None:
    foreign = foreign_folder(tmp_path / "foreign")
    command = child_processes.python_command("freshet", "worker")
    worker = subprocess.Popen(command, env=empty_shop.environment, cwd=foreign)
    try:
        done = empty_shop.ended(empty_shop.post("prune").id)
    finally:
        end(worker)
    assert (done.status, done.attempt) == ("succeeded", 1)
    assert ran(foreign) == []


def test_a_spawned_process_runs_nothing_of_its_working_folder(tmp_path: Path) -> None:
    foreign, script = foreign_folder(tmp_path / "foreign"), tmp_path / "spawns.py"
    script.write_text(SPAWNS)
    subprocess.run([sys.executable, str(script)], cwd=foreign, check=True)
    assert ran(foreign) == []


def test_a_command_of_freshet_runs_nothing_of_its_working_folder(tmp_path: Path) -> None:
    foreign = foreign_folder(tmp_path / "foreign", "freshet", "models", "workers")
    shown = subprocess.run(
        child_processes.python_command("freshet", "--help"), cwd=foreign, check=True, capture_output=True, text=True
    )
    assert "River forecasts" in shown.stdout
    assert ran(foreign) == []


@pytest.mark.extended
def test_a_child_that_writes_anything_else_has_crashed_and_its_job_reports_it(empty_shop: Shop) -> None:
    empty_shop.start(module="tests.workers.babbling")
    job = empty_shop.ended(empty_shop.post("prune").id)
    assert (job.status, job.attempt) == ("failed", 2)  # in the same way twice: no third attempt
    assert job.problem == {
        "kind": "process-died",
        "detail": "The process of the job wrote a line that is not a message of Freshet (the worker's log has it), and "
        "was killed before it had reported any progress.",
    }
    assert "models of somebody else" in (empty_shop.settings.data / "parts.log").read_text()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'"outcome"',
        b'{"outcome": {}}',
        b'{"outcome": {"status": "excellent"}}',
        b'{"outcome": {"status": "succeeded", "result": []}}',
        b'{"outcome": {"status": "succeeded"}, "more": 1}',
        b'{"progress": {"done": 1}, "file": null}',
        b'{"progress": {"done": "1", "total": 2, "detail": ""}, "file": null}',
        b'{"progress": {"done": 1, "total": 2, "detail": ""}}',
        b'{"progress": null, "file": null}',
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_not_a_message_is_not_read_as_one(line: bytes) -> None:
    with pytest.raises(ValidationError):
        message_of(line)
