"""The handler of each kind of job: `HANDLERS`. A handler is thin: the operations do the work.

A room of handlers is imported when the first job of one of its kinds is run: most load torch.
"""

from importlib import import_module
from typing import Any

from jobspec.jobs.base import JobRequest
from jobspec.kinds import KINDS, handlers_of_extensions
from workers.job import Handler, JobRun


def _handler(kind: str, job: type[JobRequest]) -> Handler:
    room = f"{__name__}.{job.__module__.rpartition('.')[2]}"

    def handle(running: JobRun, params: Any) -> dict[str, Any]:
        result: dict[str, Any] = getattr(import_module(room), kind.replace("-", "_"))(running, params)
        return result

    return handle


HANDLERS: dict[str, Handler] = {kind: _handler(kind, job) for kind, job in KINDS.items()} | handlers_of_extensions()
"""By kind of job: the function of its name in the module of its room, or what an extension declares."""
