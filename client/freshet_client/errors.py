"""Errors of the client: refused requests, failed jobs and unreachable services."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freshet_client.models import Job, ProblemDetails


class ServiceError(Exception):
    """The service refused a request, or does not answer as a Freshet service does."""


class InvalidAddress(ServiceError, ValueError):  # noqa: N818 - the name of what it reports
    """The address of the service cannot be used."""


class Unreachable(ServiceError):  # noqa: N818 - the name of what it reports
    """The service does not answer, temporarily or permanently."""


class Refused(ServiceError):  # noqa: N818 - the name of what it reports
    """The service refused a request and gave a reason (RFC 9457). The attributes are the service's.

    Attributes:
        type: the kind of problem, which never changes.
        title: the kind in words.
        status: of HTTP.
        detail: what is wrong this time, and how to mend it.
        errors: the fields that cannot be used, where the request has any.
    """

    def __init__(self, request: str, problem: ProblemDetails) -> None:
        super().__init__(f"The service refused {request}: {problem.detail}")
        self.type, self.title, self.status = problem.type, problem.title, problem.status
        self.detail, self.errors = problem.detail, tuple(problem.errors)


class JobFailed(ServiceError):  # noqa: N818 - the name of what it reports
    """A job failed or was cancelled; `job` is its last state."""

    def __init__(self, job: Job) -> None:
        detail = None if job.problem is None else job.problem.detail
        super().__init__(f"Job {job.id} {job.status}: {why_ended(job.status, detail)}")
        self.job = job


def why_ended(status: str, detail: str | None) -> str:
    """Return why a job failed or was cancelled, in words: its own where they are shown."""
    return detail or _DEFAULT_REASONS[status]


_DEFAULT_REASONS = {"failed": "its reason is shown to the key that posted it.", "cancelled": "somebody asked for it."}
