"""Messages of a child process to its worker: one JSON object per line, and nothing else."""

from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import ConfigDict, TypeAdapter

from workers.job import JobOutcome, Progress

_CLOSED = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class _Done:
    """Progress of a job: see `workers.job.Progress`."""

    __pydantic_config__ = _CLOSED

    done: int
    total: int
    detail: str


@dataclass(frozen=True, slots=True)
class _ProgressLine:
    __pydantic_config__ = _CLOSED

    progress: _Done
    file: str | None


@dataclass(frozen=True, slots=True)
class _OutcomeLine:
    __pydantic_config__ = _CLOSED

    outcome: JobOutcome


@dataclass(frozen=True, slots=True)
class Started:
    """The process has loaded everything, and takes jobs from now on."""

    __pydantic_config__ = _CLOSED

    started: Literal[True]


@dataclass(frozen=True, slots=True)
class Report:
    """The job continues; `file` is the file being read, if any."""

    progress: Progress
    file: str | None


Message = Started | Report | JobOutcome
_LINE: TypeAdapter[Started | _ProgressLine | _OutcomeLine] = TypeAdapter(Started | _ProgressLine | _OutcomeLine)


def message_of(line: bytes | bytearray) -> Message:
    """Read a line's message.

    Raises:
        ValueError: it is not one.
    """
    match _LINE.validate_json(bytes(line)):
        case _OutcomeLine(outcome):
            return outcome
        case _ProgressLine(progress, file):
            return Report(asdict(progress), file)
        case started:
            return started
