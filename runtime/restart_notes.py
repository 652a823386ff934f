"""Parts of the service that are being restarted: a file in the data folder, from the supervisor to the API."""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from runtime import stored_files
from runtime.stored_files import replace_file


@dataclass(frozen=True, slots=True)
class Restart:
    """A part of the service that is silent, has not come back after it ended, or ends again and again.

    Attributes:
        cause: how it last ended, or that it is silent, as the end of a sentence.
        times: how often it has ended; 0 if it is silent.
    """

    part: str
    cause: str
    times: int
    since: datetime


@dataclass(frozen=True, slots=True)
class _RestartFile:
    supervisor: int
    restarts: list[Restart]


_FILE = TypeAdapter(_RestartFile)


def store(data: Path, restarts: list[Restart]) -> None:
    """Replace the restarts that this process has written."""
    replace_file(_file(data), _FILE.dump_json(_RestartFile(os.getpid(), restarts)), stored_files.FILE)


def load(data: Path, supervisor: int) -> list[Restart]:
    """Return the restarts that a supervisor wrote last. Empty if it wrote none."""
    try:
        written = _FILE.validate_json(_file(data).read_bytes())
    except FileNotFoundError:
        return []
    return written.restarts if written.supervisor == supervisor else []


def _file(data: Path) -> Path:
    return data / "restarts.json"
