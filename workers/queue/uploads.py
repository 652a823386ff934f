"""Uploads: tables that were sent to the service. Each is kept until the job that reads it has ended.

Whoever ends a job may be unable to delete its upload, or there may be no job: a request that broke off, one that was
sent again. So the scheduler deletes what no job wants any more.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from hydrology.base.errors import Problem
from records.database.engine import Database, DatabaseProblem
from records.database.ids import fingerprint, sha256
from records.jobs import jobs

log = structlog.get_logger()

POSTED_WITHIN = 300.0
"""Seconds, far more than it takes, from the writing of an upload until its job is kept."""

_NAMES = {"upload": "observations_file", "weather": "weather_file"}
"""What names the upload of a job, by the job's kind."""


def folder(data: Path) -> Path:
    """Return where the uploads of a data folder are."""
    return data / "uploads"


def store(data: Path, content: bytes, suffix: str, request: str) -> Path:
    """Keep an upload, whole or not at all, and return where.

    Its name is made of what it holds and of the request, so that no other job reads it.
    """
    uploads = folder(data)
    uploads.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = uploads / f"{fingerprint([request, sha256(content)])}{suffix}"
    with tempfile.NamedTemporaryFile(dir=uploads, delete=False) as part:  # its mode is 600
        try:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
            Path(part.name).replace(path)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise
    return path


@contextmanager
def stored(data: Path, content: bytes, suffix: str, request: str) -> Iterator[Path]:
    """Store an upload for the job that is posted meanwhile, and delete it where that is refused; else as `keep`."""
    path = store(data, content, suffix, request)
    try:
        yield path
    except Problem as problem:
        if not isinstance(problem, DatabaseProblem):  # after which the job may be stored all the same
            path.unlink(missing_ok=True)
        raise


def delete_of(job: jobs.Job, data: Path) -> None:
    """Delete the upload of a job that has ended. What it read from elsewhere is not Freshet's to delete."""
    path = _named_by(job)
    if path is not None and path.parent == folder(data):
        path.unlink(missing_ok=True)


def sweep(database: Database, data: Path) -> None:
    """Delete the uploads that no job will read."""
    if not any(folder(data).glob("*")):
        return
    with database.reading() as session:
        wanted = {_named_by(job) for kind in _NAMES for job in jobs.unfinished(session, kind)}
    posted = time.time() - POSTED_WITHIN
    for path in folder(data).glob("*"):
        with suppress(FileNotFoundError):  # its job has ended meanwhile
            if path not in wanted and path.stat().st_mtime < posted:
                path.unlink()
                log.info("upload.swept", file=path.name)


def _named_by(job: jobs.Job) -> Path | None:
    name = job.params.get(_NAMES.get(job.kind, ""))
    return Path(name) if name else None
