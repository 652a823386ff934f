"""A job that a command runs itself, by the handler that a worker would run."""

from typing import Any

from freshet.cli.context import Context, cores
from freshet.cli.output import Reporter, inform
from jobspec.fields import RequestModel
from jobspec.kinds import KINDS
from records.access import audit
from records.basins import basins
from records.database.checksums import new_id
from records.database.work import Work
from records.jobs.jobs import Job
from workers.job import JobRun, Progress
from workers.tasks import HANDLERS


class CommandRun(JobRun):
    """A job of a command: it has no row, reads files from anywhere, uses every core, and logs to standard error."""

    works_alone = True

    def __init__(self, context: Context, kind: str, reporter: Reporter, device: str | None) -> None:
        self._context = context
        settings = context.settings if device is None else context.settings.model_copy(update={"device": device})

        def show(progress: Progress, _file: str | None) -> None:
            reporter.show(kind, progress["done"], progress["total"], progress["detail"])

        super().__init__(
            Work(settings, context.database, context.clock, cores=cores(settings.cores)),
            _unstored_job(context, kind),
            show,
            lambda: None,
            folders=KINDS[kind].authority.folders,
        )
        self.roots = None

    def store_plan(self, *_session_and_plan: Any) -> None:
        """Store nothing: no later attempt continues it."""

    def record(self, action: audit.Action, subject: str, **detail: Any) -> None:
        """Add a change by the command to the audit trail."""
        self._context.record(action, subject, **detail)

    def log(self, text: str) -> None:
        inform(text)


def run(
    context: Context, kind: str, params: RequestModel, reporter: Reporter, device: str | None = None
) -> dict[str, Any]:
    """Run a job, write it to the audit trail, and return its result."""
    with context.database.reading() as session:
        for basin in getattr(params, "basins", ()):
            basins.require(session, basin)
    result = HANDLERS[kind](CommandRun(context, kind, reporter, device), params)
    context.record("job run", kind, params=KINDS[kind](kind=kind, params=params).stored())
    return result


def _unstored_job(context: Context, kind: str) -> Job:
    fields: dict[str, Any] = dict.fromkeys(Job.__dataclass_fields__)
    at = context.clock.wall()
    known = {"id": new_id(at), "kind": kind, "attempt": 1, "created_by": audit.command_line().name, "created_at": at}
    return Job(**fields | known)
