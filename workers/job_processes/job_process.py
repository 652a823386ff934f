"""The process that runs handlers, separate from the worker that watches it: a crash ends only one job.

The worker writes lines of JSON to this process's standard input, and reads lines of JSON from its standard output:

    in   {"settings": {...}, "memory_limit": bytes or null}      first of all
         {"run": job, "attempt": number}
         {"stop": "cancel" or "shutdown"}                        the running job
    out  {"started": true}                                       it takes jobs from now on
         {"progress": {"done", "total", "detail"}, "file": the file being read, or null}
         {"outcome": {"status", "result", "problem"}}            the job has ended, and the next may come
"""

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import structlog
from structlog.contextvars import bound_contextvars

from hydrology.base.errors import Problem
from jobspec import kinds
from jobspec.jobs.base import JobRequest
from models.devices import CPU, use_device
from records.database.engine import Database
from records.database.work import Work
from records.job_permissions import permissions
from records.job_permissions.write_guard import Guard, UndeclaredWriteError
from records.jobs import attempts, jobs
from runtime import child_processes
from runtime.clock import Clock
from runtime.process import collect_seldom, log_to_stderr
from runtime.settings import Settings
from workers.job import (
    CancelAsked,
    Handler,
    JobOutcome,
    JobRun,
    Progress,
    ShutdownAsked,
    StopReason,
    Waiting,
    progress_in_words,
)
from workers.job_processes.process_limits import hindrance

log = structlog.get_logger()


class WorkerLink(Protocol):
    """A running job's connection to its worker."""

    def send_progress(self, progress: Progress, file: str | None) -> None:
        """Report the job's progress, and the file being read, if any."""

    def asked_to_stop(self) -> StopReason | None:
        """Return why the running job has to stop, or None."""


class Pipes:
    """Lines from the worker and to it."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests, self._answers = requests, answers
        self._runs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._stop: StopReason | None = None

    def first(self) -> dict[str, Any]:
        """Return the first line, and start reading the others."""
        first: dict[str, Any] = json.loads(self._requests.readline())
        threading.Thread(target=self._listen, name="requests", daemon=True).start()
        return first

    def next_run(self) -> dict[str, Any]:
        """Wait for the next job to run."""
        return self._runs.get()

    def asked_to_stop(self) -> StopReason | None:
        return self._stop

    def send_started(self) -> None:
        self._send({"started": True})

    def send_progress(self, progress: Progress, file: str | None) -> None:
        self._send({"progress": progress, "file": file})

    def send_outcome(self, outcome: JobOutcome) -> None:
        self._send({"outcome": asdict(outcome)})

    def _send(self, message: dict[str, Any]) -> None:
        self._answers.write(json.dumps(message).encode() + b"\n")
        self._answers.flush()

    def _listen(self) -> None:
        for line in self._requests:
            message = json.loads(line)
            if "run" in message:
                self._stop = None  # a late one was meant for the previous job
                self._runs.put(message)
            else:
                self._stop = message["stop"]
        os._exit(0)  # the worker has closed the pipe or died: nobody waits for this process


def serve(handlers: Mapping[str, Handler], known: Mapping[str, type[JobRequest]] = kinds.KINDS) -> None:
    """Run the jobs that the worker names, until it closes the pipe. The first argument is the worker's process id."""
    child_processes.end_with_parent(parent=int(sys.argv[1]))
    child_processes.leave_signals_to_parent(signal.SIGTERM, signal.SIGINT)
    faulthandler.enable()
    collect_seldom()  # the first job loads torch
    pipes = _pipes()
    start = pipes.first()
    settings = Settings.load(**start["settings"])
    log_to_stderr(settings.log_level)
    child_processes.limit(memory=start["memory_limit"])
    tools = Work(settings, Database.of(settings), Clock(settings.as_of))
    tools.database.watch()
    run = partial(run_job, tools, pipes, handlers, known)
    pipes.send_started()
    while True:
        request = pipes.next_run()
        with bound_contextvars(job=request["run"]):
            outcome = run(request["run"], request["attempt"])
        pipes.send_outcome(outcome)


def _pipes() -> Pipes:
    """Reserve the pipes for the worker: output of libraries goes to the log, and their input is empty."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return Pipes(requests, answers)


def run_job(
    tools: Work,
    link: WorkerLink,
    handlers: Mapping[str, Handler],
    known: Mapping[str, type[JobRequest]],
    job_id: str,
    attempt: int,
) -> JobOutcome:
    """Run an attempt of a job with the permissions and limits of its kind, and return how it ended."""
    running: JobRun | None = None
    allowed: int | None = None
    try:
        with tools.database.transaction() as session:
            job = jobs.hold(session, job_id, attempt)
        use_device(tools.settings.device if attempt == 1 else CPU)  # a GPU may have been the fault
        request = kinds.read(job.kind, job.params, known)
        with tools.database.reading() as session:
            grant = permissions.of_job(session, job, request, tools.clock.wall())
        folders = request.authority.folders
        running = JobRun(tools, job, link.send_progress, link.asked_to_stop, grant, folders=folders)
        if not grant.is_official and tools.settings.device == CPU:  # a GPU's driver reserves more than it uses
            allowed = tools.settings.operator_job_bytes
        with child_processes.memory_limited_to(allowed), tools.database.guarded(Guard(grant, request.authority)):
            return JobOutcome("succeeded", result=handlers[job.kind](running, request.params))
    except CancelAsked:
        return JobOutcome("cancelled")
    except ShutdownAsked:
        return JobOutcome("released")
    except Waiting:
        return JobOutcome("waiting")
    except jobs.StaleAttempt:
        return JobOutcome("stale")
    except Problem as problem:
        if (sentence := hindrance(problem)) is not None:
            return _hindered(sentence)
        return JobOutcome("failed", problem={"kind": problem.kind, "detail": str(problem)})
    except UndeclaredWriteError as error:  # another attempt would do the same
        log.error("job.undeclared", error=str(error))
        return JobOutcome("failed", problem={"kind": "undeclared-write", "detail": str(error)})
    except Exception as error:  # any error is stored, and this process continues
        if _is_out_of_memory(error):
            return _out_of_memory(running, allowed)
        if (sentence := hindrance(error)) is not None:
            return _hindered(sentence)
        log.error("job.error", exc_info=error)
        detail = f"{type(error).__name__} in the worker; see its log."
        return JobOutcome("retry", problem={"kind": attempts.UNEXPECTED, "detail": detail})


def _is_out_of_memory(error: Exception) -> bool:
    """Return whether memory ran out: torch reports that of a processor as an error of its own."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error))


def _out_of_memory(running: JobRun | None, allowed: int | None) -> JobOutcome:
    place = progress_in_words(running.progress if running else None)
    limits = [limit for limit in (allowed, child_processes.memory_limit()) if limit is not None]
    limit = f" ({min(limits) / 2**20:.0f} MiB)" if limits else ""
    detail = f"The job needed more memory than it may use{limit}{place}: ask for less at once."
    return JobOutcome("failed", problem={"kind": "out-of-memory", "detail": detail})


def _hindered(sentence: str) -> JobOutcome:
    return JobOutcome("hindered", problem={"kind": "hindered", "detail": sentence})


if __name__ == "__main__":
    from workers.tasks import HANDLERS

    serve(HANDLERS)
