"""Uploads: files sent to the service. Each is stored until the job that reads it has ended.

The process that ends a job may be unable to delete its upload, or there may be no job, as after an interrupted or
repeated request. So the scheduler deletes uploads that no job needs.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import Problem
from records.database.connections import DatabaseProblem
from records.database.engine import Database
from records.jobs import jobs
from runtime import stored_files
from runtime.stored_files import replace_file

log = structlog.get_logger()

POSTED_WITHIN = 300.0
"""Seconds, far more than it takes, from writing an upload to storing its job."""

_NAMES = {"upload": "observations_file", "weather": "weather_file"}
"""By kind of job, the parameter that names its upload."""


def folder(data: Path) -> Path:
    """Return the folder of uploads in a data folder."""
    return data / "uploads"


@contextmanager
def stored(data: Path, content: bytes, suffix: str, request: str) -> Iterator[Path]:
    """Store an upload while its job is posted. Delete it if that is refused.

    Its name is derived from its content and the request, so that no other job reads it.
    """
    path = folder(data) / f"{fingerprint([request, sha256(content)])}{suffix}"
    stored_files.make_folder(path.parent)
    replace_file(path, content, stored_files.FILE)
    try:
        yield path
    except Problem as problem:
        # After these a job may be stored nevertheless: this request's, or an earlier one's with the same file.
        if not isinstance(problem, (DatabaseProblem, jobs.IdempotencyConflict)):
            path.unlink(missing_ok=True)
        raise


def delete_of(job: jobs.Job, data: Path) -> None:
    """Delete the upload of an ended job. Files from elsewhere are not Freshet's to delete."""
    path = _named_by(job, data)
    if path is not None and path.parent == folder(data):
        path.unlink(missing_ok=True)


def sweep(database: Database, data: Path) -> None:
    """Delete the uploads that no job will read."""
    if not any(folder(data).glob("*")):
        return
    with database.reading() as session:
        wanted = {_named_by(job, data) for kind in _NAMES for job in jobs.unfinished(session, kind)}
    posted = time.time() - POSTED_WITHIN
    for path in folder(data).glob("*"):
        with suppress(FileNotFoundError):  # its job has ended meanwhile
            if path not in wanted and path.stat().st_mtime < posted:
                path.unlink()
                log.info("upload.swept", file=path.name)


def _named_by(job: jobs.Job, data: Path) -> Path | None:
    name = job.params.get(_NAMES.get(job.kind, ""))
    return folder(data) / name if name else None
