"""What a child process may write to its worker: one JSON object a line, and nothing else."""

from dataclasses import asdict, dataclass

from pydantic import ConfigDict, TypeAdapter

from workers.job import Outcome, Progress

_CLOSED = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class _Done:
    """How far a job has come: see `workers.job.Progress`."""

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

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Report:
    """The job goes on; `file` is the one that is being read, if any."""

    progress: Progress
    file: str | None


Message = Report | Outcome
_LINE: TypeAdapter[_ProgressLine | _OutcomeLine] = TypeAdapter(_ProgressLine | _OutcomeLine)


def message_of(line: bytes | bytearray) -> Message:
    """Read the message of a line.

    Raises:
        ValueError: it is not one.
    """
    match _LINE.validate_json(bytes(line)):
        case _OutcomeLine(outcome):
            return outcome
        case _ProgressLine(progress, file):
            return Report(asdict(progress), file)
