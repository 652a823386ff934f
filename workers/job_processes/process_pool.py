"""Child processes of a worker, which run its jobs, and their messages: one JSON object per line, and nothing else."""

import json
import os
import select
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self

import structlog
from pydantic import BaseModel, ConfigDict, TypeAdapter

from records.jobs import jobs
from runtime import child_processes
from runtime.process import ONE_THREAD
from runtime.settings import Settings
from workers.job import JobOutcome, StopReason


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Done(_Closed):
    """The progress of a job, as `workers.job.Progress` has it."""

    done: int
    total: int
    detail: str


class _OutcomeLine(_Closed):
    outcome: JobOutcome


class Started(_Closed):
    """The process has loaded everything, and takes jobs from now on."""

    started: Literal[True]


class Report(_Closed):
    """The job continues; `file` is the file being read, if any."""

    progress: Done
    file: str | None


Message = Started | Report | JobOutcome
_LINE: TypeAdapter[Started | Report | _OutcomeLine] = TypeAdapter(Started | Report | _OutcomeLine)


def message_of(line: bytes | bytearray) -> Message:
    """Read a line's message."""
    message = _LINE.validate_json(bytes(line))
    return message.outcome if isinstance(message, _OutcomeLine) else message


log = structlog.get_logger()

MAX_LINE = 8 * 2**20  # bytes that a child may write without ending its line
SHOWN = 200  # bytes of a line that is not a message, in the log
MAX_IDLE = 300.0  # seconds that a process without a job is retained: it holds some hundred MB
BY_BUS = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}  # CUDA numbers the GPUs of a machine as their driver does
KILL_PATIENCE = 10.0  # seconds to wait for a killed process: one hanging in the kernel cannot be killed


class Child:
    """A process that runs `module`, and its pipes; `started_at`, monotonic seconds, is None before it takes jobs."""

    def __init__(self, module: str, settings: Settings, memory_limit: int | None) -> None:
        command = child_processes.python_command(module, str(os.getpid()))
        self._process = child_processes.start(command, environment=os.environ | ONE_THREAD | BY_BUS, dies_by=None)
        child_processes.kill_first_without_memory(self._process)
        self._kills_before = child_processes.memory_kills()
        self.memory_limit = memory_limit
        self.ended = False
        self.started_at: float | None = None
        self._fault: str | None = None  # why it was killed
        self._lines: deque[bytearray] = deque()
        self._rest = bytearray()  # of a line that is still incomplete
        self._write({"settings": settings.model_dump(mode="json"), "memory_limit": memory_limit})

    def run(self, job: jobs.Job) -> None:
        self._kills_before = child_processes.memory_kills()
        self._write({"run": job.id, "attempt": job.attempt})

    def stop(self, reason: StopReason) -> None:
        self._write({"stop": reason})

    def receive(self, seconds: float) -> Report | JobOutcome | None:
        """Return the child's next message on its job. None if none came in time, or none will come any more (`ended`).

        A child that writes anything else has crashed or is not Freshet's, and is killed.
        """
        if not self._lines and not self.ended:
            self._read(seconds)
        if not self._lines:
            return None
        line = self._lines.popleft()
        try:
            message = message_of(line)
        except ValueError:
            log.error("child.not_a_message", process=self._process.pid, line=repr(bytes(line[:SHOWN])))
            self._fault = "wrote a line that is not a message of Freshet (the worker's log has it), and was killed"
            self._lines.clear()
            self.kill()
            return None
        if isinstance(message, Started):
            self.started_at = self.started_at or time.monotonic()  # a job that repeats it gains no time
            return None
        return message

    def is_stopped(self) -> bool:
        """Return whether somebody has stopped it (SIGSTOP), so that it neither works nor ends."""
        try:
            after_name = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2]
        except FileNotFoundError:
            return False
        return after_name.split()[0] == "T"

    def kill(self) -> None:
        """Kill the child and all processes that it has started."""
        self.ended = True
        if not child_processes.kill_group(self._process, KILL_PATIENCE):
            log.error("child.unkillable", process=self._process.pid)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()

    def end_in_words(self) -> str:
        """Describe how a process that has `ended` did so: `was killed by SIGSEGV (Segmentation fault)`."""
        end = self._fault or child_processes.end_in_words(self._process, KILL_PATIENCE, self._kills_before)
        return end or "closed its pipe"

    def _read(self, seconds: float) -> None:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        if not select.select([descriptor], [], [], seconds)[0]:
            return
        part = os.read(descriptor, 2**20)
        self._rest += part
        if b"\n" in part:
            *lines, self._rest = self._rest.split(b"\n")
            self._lines.extend(lines)
        self.ended = not part
        if len(self._rest) > MAX_LINE:
            log.error("child.flood", process=self._process.pid)
            self.kill()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it is dead: `receive` detects this
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()


class Children:
    """A worker's children. One is retained between jobs, which saves loading everything again, but only for some
    minutes: others need its memory."""

    def __init__(
        self, settings: Settings, module: str = "workers.job_processes.job_process", max_idle: float = MAX_IDLE
    ) -> None:
        self._settings, self._module, self._max_idle = settings, module, max_idle
        self._idle: Child | None = None
        self._turn = threading.Lock()  # for taking the idle child
        self._end_of_idling: threading.Timer | None = None

    def take(self, memory_limit: int | None) -> Child:
        """Return a child for a job: the idle one or, for a job with a memory limit, a new one."""
        idle = None if memory_limit is not None else self._take_idle()
        return idle or Child(self._module, self._settings, memory_limit)

    def give_back(self, child: Child) -> None:
        """Retain a child for the next job, or kill it if it cannot serve."""
        with self._turn:
            wanted = self._max_idle > 0 and not child.ended and child.memory_limit is None and self._idle is None
            if wanted:
                self._idle = child
                self._end_of_idling = threading.Timer(self._max_idle, self._end_idle)
                self._end_of_idling.daemon = True
                self._end_of_idling.start()
        if not wanted:
            child.kill()

    def _take_idle(self) -> Child | None:
        with self._turn:
            child, self._idle = self._idle, None
            if self._end_of_idling is not None:
                self._end_of_idling.cancel()
            return child

    def _end_idle(self) -> None:
        if (child := self._take_idle()) is not None:
            child.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_idle()
