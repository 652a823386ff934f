"""The handler of each kind of job: `HANDLERS`. A handler is thin: the operations do the work.

Only the operations load torch, in the computing process.
"""

from collections import ChainMap
from typing import Any

from jobspec.jobs.upkeep import CheckParams, DeliveryParams, PruneParams
from jobspec.kinds import KINDS, handlers_of_extensions
from records.access import audit
from workers.job import MAX_REPORTED, Handler, JobRun
from workers.tasks import data, forecasting, training


def check(running: JobRun, _params: CheckParams) -> dict[str, Any]:
    """Check all records."""
    from records.upkeep import integrity

    done = integrity.check(running.work.database, running.show)
    for sentence in done.sentences[:MAX_REPORTED]:
        running.log(sentence)
    done.require()
    return {"rows": done.row_count}


def delivery(running: JobRun, _params: DeliveryParams) -> dict[str, Any]:
    """Carry out what forecasters decided on alerts, and send due changes to their receivers."""
    from operations.alerts.decide_alerts import carry_out
    from operations.alerts.deliver import deliver

    work = running.work
    try:
        changes = carry_out(work)
    finally:  # what is due goes out, whatever becomes of other decisions
        counts = deliver(work.database, work.settings, work.clock.wall, running.show)
    return {"changes": len(changes), "deliveries": dict(counts)}


def prune(running: JobRun, _params: PruneParams) -> dict[str, Any]:
    """Delete records past their retention."""
    from operations.upkeep.prune import prune as run

    job = running.job
    actor = audit.Actor(job.created_by or f"job {job.id}", job.key_id)
    done = run(running.work, actor)
    return {"pruned": {of_rule.rule: of_rule.count for of_rule in done}}


_NAMES: ChainMap[str, Any] = ChainMap(*map(vars, (data, forecasting, training)), globals())
_OF_EXTENSIONS = handlers_of_extensions()
HANDLERS: dict[str, Handler] = {
    kind: _NAMES[kind.replace("-", "_")] for kind in KINDS if kind not in _OF_EXTENSIONS
} | _OF_EXTENSIONS
"""By kind of job: the function of its name in a module of this folder, or what an extension declares."""
