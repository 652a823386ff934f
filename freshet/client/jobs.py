"""Jobs, schedules, and the state of the service."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from app.jobs.schemas import Job, JobPage, Schedule, Schedules
from app.service.schemas import AuditPage, Change
from app.service.status.schemas import Status
from freshet.client.resource import Body, Resource
from hydrology.base.errors import DataProblem

ENDED = ("succeeded", "failed", "cancelled")
_DEFAULT_REASONS = {"failed": "its reason is shown to the key that posted it.", "cancelled": "somebody asked for it."}
SECONDS_BETWEEN_LOOKS = 0.3


class Jobs(Resource):
    """Jobs, schedules, and the state of the service."""

    def post_job(self, kind: str, params: dict[str, Any], *, idempotency_key: str | None = None) -> Job:
        """Post a job, once.

        Args:
            idempotency_key: under which a second post finds the same job.
        """
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        return self._send(Job, "POST", "/v1/jobs", {"kind": kind, "params": params}, headers=headers)

    def job(self, job: str) -> Job:
        """Return a job's current state."""
        return self._read(Job, f"/v1/jobs/{job}")

    def jobs(self, *, status: str | None = None, kind: str | None = None, parent: str | None = None) -> Iterator[Job]:
        """Yield jobs, the newest first: of a status or kind, or the parts of another job."""
        return self._items(JobPage, "/v1/jobs", "jobs", status=status, kind=kind, parent=parent)

    def cancel_job(self, job: str) -> Job:
        """Stop a job."""
        return self._send(Job, "POST", f"/v1/jobs/{job}/cancel")

    def watch(self, job: str, on_look: Callable[[Job], None] = lambda _job: None) -> Job:
        """Wait until a job has ended, and return it.

        Args:
            on_look: called with the job's current state at each poll.

        Raises:
            DataProblem: it failed or was cancelled; the sentence is the job's.
        """
        while (found := self.job(job)).status not in ENDED:
            on_look(found)
            time.sleep(SECONDS_BETWEEN_LOOKS)
        on_look(found)
        if found.status != "succeeded":
            detail = None if found.problem is None else found.problem.detail
            raise DataProblem(f"Job {job} {found.status}: {why_ended(found.status, detail)}")
        return found

    def schedules(self) -> Iterator[Schedule]:
        """Yield the schedules in the order of their names."""
        return self._items(Schedules, "/v1/schedules", "schedules")

    def schedule(self, schedule: str) -> Schedule:
        """Return a schedule; its `revision` is needed to change it."""
        return self._read(Schedule, f"/v1/schedules/{schedule}")

    def create_schedule(self, new: Body) -> Schedule:
        """Create a schedule."""
        return self._send(Schedule, "POST", "/v1/schedules", new)

    def replace_schedule(self, schedule: str, new: Body, revision: int) -> Schedule:
        """Replace a schedule that is still at a revision."""
        return self._send(Schedule, "PUT", f"/v1/schedules/{schedule}", new, headers=_at(revision))

    def delete_schedule(self, schedule: str, revision: int) -> None:
        """Remove a schedule that is still at a revision."""
        self._delete(f"/v1/schedules/{schedule}", headers=_at(revision))

    def status(self) -> Status:
        """Return how fresh everything is, and what is degraded."""
        return self._read(Status, "/v1/status")

    def audit(self) -> Iterator[Change]:
        """Yield the changes of the audit trail, the newest first; for an admin's key."""
        return self._items(AuditPage, "/v1/audit", "changes")


def why_ended(status: str, detail: str | None) -> str:
    """Return why a job failed or was cancelled, in words: its own where they are shown."""
    return detail or _DEFAULT_REASONS[status]


def _at(revision: int) -> dict[str, str]:
    return {"If-Match": f'"{revision}"'}
