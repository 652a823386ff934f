"""What jobs do with the archive."""

from typing import Any

from extensions.archive.job_kind import ArchiveParams
from extensions.archive.settings import ArchiveSettings
from hydrology.base.errors import InvalidInput
from records.database.work import Work
from workers.job import JobRun


def archive(running: JobRun, _params: ArchiveParams) -> dict[str, Any]:
    """Append the runs that the archive lacks."""
    from extensions.archive.archive_runs import RunSelection, archive_runs
    from extensions.archive.forecast_archive import STORE

    running.require_folder("archive")
    folder = ArchiveSettings.load().archive
    if folder is None:
        raise InvalidInput("There is no archive: set FRESHET_ARCHIVE to its folder, and start the service again.")
    done = archive_runs(running.work, folder / STORE, RunSelection())
    return {"appended": done.appended, "before": done.before}


def extend_archive(work: Work) -> str | None:
    """Append the runs of the day; return a sentence if that has failed."""
    from extensions.archive.archive_runs import extend

    return extend(work, ArchiveSettings.load().archive)
