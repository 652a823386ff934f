"""The job that extends the archive."""

from typing import Literal

from jobspec.fields import RequestModel
from jobspec.jobs.base import JobRequest, admins_alone


class ArchiveParams(RequestModel):
    """No parameters: all runs that the archive lacks are appended."""


class ArchiveJob(JobRequest):
    """Append issued forecasts and reforecasts to the archive that FRESHET_ARCHIVE names, as the daily cycle does.
    Repeating it appends nothing."""

    authority = admins_alone(folders=["archive"], note="What it writes is served to everybody.")

    kind: Literal["archive"]
    params: ArchiveParams
