"""A child process whose jobs do harm, and a worker of short patience that starts such children.

python -m tests.workers.harmful WORKER-PROCESS      the child
python -m tests.workers.harmful [QUEUE ...]         the worker
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

from jobspec.fields import RequestModel
from jobspec.jobs.base import CHECK, QUEUES, JobRequest
from records.jobs import attempts
from runtime.process import log_to_stderr
from runtime.settings import Settings
from workers.job import JobRun
from workers.job_processes.job_process import serve
from workers.processes import work

TIME_LIMIT = timedelta(seconds=4)
SILENCE_LIMIT = timedelta(seconds=4)
MEMORY_LIMIT = 512 * 2**20


class HarmParams(RequestModel):
    """Which harm to do."""

    harm: str


class Harm(JobRequest):
    """Do harm."""

    authority = CHECK

    params: HarmParams


class ShortHarm(Harm):
    """Do harm for a short time."""

    time_limit = TIME_LIMIT


class QuietHarm(Harm):
    """Do harm without reporting any progress."""

    silence_limit = SILENCE_LIMIT


class IntakeHarm(Harm):
    """Do harm as an ingestion does."""

    queue = "ingest"
    memory_limit = MEMORY_LIMIT


class LongHarm(Harm):
    """Do harm that lets others go first, and continues later."""

    turn = timedelta(0)


class DutyHarm(Harm):
    """Do harm in what forecasts rest on."""

    operational = True


KINDS: Mapping[str, type[Harm]] = {
    "harm": Harm,
    "duty-harm": DutyHarm,
    "long-harm": LongHarm,
    "short-harm": ShortHarm,
    "quiet-harm": QuietHarm,
    "intake-harm": IntakeHarm,
}


def well(running: JobRun) -> dict[str, Any]:
    """Report which process ran the job."""
    return {"process": os.getpid(), "attempt": running.job.attempt}


def segfault(running: JobRun) -> dict[str, Any]:
    """Crash as a C library does."""
    running.show(2, 3, "reading bad.nc")
    return {"byte": ctypes.string_at(0)}


def segfault_once(running: JobRun) -> dict[str, Any]:
    """Crash in the first attempt alone."""
    return segfault(running) if running.job.attempt == 1 else well(running)


def leave(_running: JobRun) -> dict[str, Any]:
    """End the process without a word."""
    os._exit(7)


def ignore(running: JobRun) -> dict[str, Any]:
    """Never look whether somebody asked to stop."""
    running.show(1, 3)
    _sleep()


def freeze(running: JobRun) -> dict[str, Any]:
    """Stop the process: it takes no signal but SIGKILL."""
    running.show(1, 3)
    os.kill(os.getpid(), signal.SIGSTOP)
    return {}


def freeze_once(running: JobRun) -> dict[str, Any]:
    """Stop the process in the first attempt alone."""
    return freeze(running) if running.job.attempt == 1 else well(running)


def obey(running: JobRun) -> dict[str, Any]:
    """Work for ever, and look."""
    while True:
        running.show(1, 3, str(os.getpid()))
        time.sleep(0.01)


def go_on(running: JobRun) -> dict[str, Any]:
    """Work for longer than the progress may stand still, and report each step."""
    for done in range(40):
        running.show(done, 40)
        running.pause(SILENCE_LIMIT.total_seconds() / 20)
    return well(running)


def find_no_room(running: JobRun) -> dict[str, Any]:
    """Write to a full disk, unless a file signals that there is room."""
    if not (running.work.settings.data / "room").exists():
        Path("/dev/full").write_bytes(b"x")
    return well(running)


def wait_for_a_file(running: JobRun) -> dict[str, Any]:
    """Work until a file with the job's name exists, and signal the start by another file."""
    (running.work.settings.data / f"{running.job.id} began").touch()
    while not (running.work.settings.data / running.job.id).exists():
        running.pause(0.1)
    return well(running)


def wait_for_a_file_and_log(running: JobRun) -> dict[str, Any]:
    """Work until there is a file of the job's name, and write to the database."""
    result = wait_for_a_file(running)
    running.log("It is there.")
    return result


def hang_at_a_file(running: JobRun) -> dict[str, Any]:
    """Hang at one file, unless it is known to be deadly."""
    with running.work.database.reading() as session:
        deadly = attempts.deadly_files(session, running.job.id)
    if "bad.nc" not in deadly:
        running.show_file("bad.nc")
        _sleep()
    return well(running)


def _sleep() -> NoReturn:
    while True:
        time.sleep(1)


def flood_memory(running: JobRun) -> dict[str, Any]:
    """Take more and more memory."""
    running.show(1, 3, "reading huge.nc")
    return {"blocks": [bytearray(2**24) for _ in range(10_000)]}


def flood_pipe(running: JobRun) -> dict[str, Any]:
    """Report more than anybody can hold."""
    running.show(1, 3, "x" * 2**27)
    return {}


def read_named_pipe(running: JobRun) -> dict[str, Any]:
    """Open a named pipe that nobody writes to."""
    pipe = running.work.settings.data / running.job.id
    os.mkfifo(pipe)
    running.show(1, 3, "reading a named pipe")
    return {"text": pipe.read_text()}


def print_much(running: JobRun) -> dict[str, Any]:
    """Print to standard output, which C libraries do."""
    os.write(1, b'{"outcome": {"status": "failed"}}\n' * 1000)
    return well(running)


HARMS: dict[str, Callable[[JobRun], dict[str, Any]]] = {
    harm.__name__: harm
    for harm in (
        well,
        segfault,
        segfault_once,
        leave,
        ignore,
        freeze,
        freeze_once,
        obey,
        go_on,
        find_no_room,
        wait_for_a_file,
        wait_for_a_file_and_log,
        hang_at_a_file,
        flood_memory,
        flood_pipe,
        read_named_pipe,
        print_much,
    )
}


def do_harm(running: JobRun, params: HarmParams) -> dict[str, Any]:
    """Do the harm that the job names."""
    return HARMS[params.harm](running)


def main(arguments: Sequence[str]) -> None:
    """Run the child where a worker's process id is given, else a worker of some queues."""
    if arguments and arguments[0].isdigit():
        serve(dict.fromkeys(KINDS, do_harm), KINDS)
        return
    log_to_stderr("info")
    work(Settings.load(), arguments or QUEUES, child_module="tests.workers.harmful", kinds=KINDS, grace=1)


if __name__ == "__main__":
    main(sys.argv[1:])
