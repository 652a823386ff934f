"""The handler of each kind of job: `HANDLERS`. A handler is thin: the operations do the work.

That of a kind in `jobspec/jobs/ROOM.py` is the function of its name in `workers/tasks/ROOM.py`. Only the operations
load torch, in the computing process.
"""

from importlib import import_module
from typing import Any

from jobspec.extensions import extensions
from jobspec.jobs.base import JobRequest
from jobspec.kinds import KINDS
from workers.job import Handler


def _of_core(kind: str, model: type[JobRequest]) -> Any:
    room = import_module(f"workers.tasks.{model.__module__.rpartition('.')[2]}")
    return getattr(room, kind.replace("-", "_"))


_OF_EXTENSIONS = {
    extension.load(model): extension.load(handler)
    for extension in extensions()
    for model, handler in extension.job_kinds.items()
}
HANDLERS: dict[str, Handler] = {
    kind: _OF_EXTENSIONS.get(model) or _of_core(kind, model) for kind, model in KINDS.items()
}
