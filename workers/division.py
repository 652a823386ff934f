"""Divide a job into parts by basins: child jobs that workers run side by side, or processes of a command."""

import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import DataProblem, Problem
from hydrology.base.reasons import Reason
from jobspec.jobs.base import JobRequest
from jobspec.kinds import KINDS, read
from records.database.base import JsonObject, from_json, to_json
from records.database.work import Work, worthwhile_processes
from records.job_permissions.permissions import Grant
from records.jobs import jobs, process_heartbeats
from runtime.clock import Clock
from runtime.settings import Settings
from workers.job import JobRun, Progress, Waiting

SECONDS_BETWEEN_REPORTS = 0.2
PART_ATTEMPTS = 5  # a part that has stored its results stores nothing new: it may lose several workers


class PartOutcome(Protocol):
    """What a part returns: a data class that is stored as JSON."""

    @classmethod
    def failed(cls, names: Sequence[str], reason: Absent, /) -> Self:
        """Return the outcome of a part that failed: why its basins have no result."""


Params = TypeVar("Params")
Outcome = TypeVar("Outcome", bound=PartOutcome)
Part = Callable[[JobRun, Any], Outcome]
"""Does a part, stores what it computes and returns its outcome. Doing it again stores the same."""


@dataclass(frozen=True, slots=True)
class Division(Generic[Params, Outcome]):
    """The handler of a kind of job whose parts are jobs of the same kind, for at most `part_basins` basins.

    Attributes:
        prepare: returns the params of the whole, which name all basins: one for each version.
        close: returns the job's result, from the params and the outcome of each part.
    """

    outcome: type[Outcome]
    prepare: Callable[[JobRun, Params], Sequence[Params]]
    part: Callable[[JobRun, Params], Outcome]
    close: Callable[[JobRun, Sequence[tuple[Params, Outcome]]], JsonObject]

    def __call__(self, running: JobRun, params: Params) -> JsonObject:
        """Do a part, or the whole."""
        if running.job.parent_id is not None:
            return stored_outcome(self.part(running, params))
        plan, kind = running.job.plan, running.job.kind
        parts = self._parts(running, params) if plan is None else [read(kind, of_part) for of_part in plan["parts"]]
        done = divide(running, parts, self.part, self.outcome, {"parts": [part.stored() for part in parts]})
        of_parts: list[Any] = [part.params for part in parts]
        return self.close(running, list(zip(of_parts, done, strict=True)))

    def _parts(self, running: JobRun, params: Params) -> list[JobRequest]:
        kind: Any = KINDS[running.job.kind]
        wholes: Any = self.prepare(running, params)
        work = replace(running.work, cores=cores(running))
        return [
            kind(kind=running.job.kind, params=whole.model_copy(update={"basins": names}))
            for whole in wholes
            for names in work.parts(whole.basins, kind.part_basins)
        ]


def stored_outcome(outcome: PartOutcome) -> JsonObject:
    """Return a part's outcome as the result of its job."""
    content: JsonObject = to_json(outcome)
    return content


def cores(running: JobRun) -> int:
    """Return how many parts can be done at once."""
    if running.works_alone:
        return running.work.cores
    with running.work.database.reading() as session:
        of_queues = process_heartbeats.workers_by_queue(process_heartbeats.live_processes(session))
    return max(1, of_queues.get(running.job.queue, 1))


def divide(
    running: JobRun, parts: Sequence[JobRequest], do_part: Part[Outcome], outcome: type[Outcome], plan: JsonObject
) -> list[Outcome]:
    """Do the parts of a job, all of one kind and each with `basins`, and return their outcomes.

    A worker posts a job for each, together with the plan that a later attempt continues, and waits; the attempt that
    finds them ended returns. One part alone is done here, and its failure is the job's.

    Raises:
        Waiting: the parts have been posted, or are not done yet.
        DataProblem: every part failed.
    """
    if len(parts) <= 1:
        return [do_part(running, part.params) for part in parts]
    if running.works_alone or not _worthwhile(parts):
        done = _here(running, parts, do_part)
    else:
        done = _by_children(running, parts, plan)
    failures = [result for result in done if isinstance(result, Absent)]
    if len(failures) == len(parts):
        raise DataProblem(f"All {len(parts)} parts failed. {failures[0]}")
    return [
        outcome.failed(_basins(part), result)
        if isinstance(result, Absent)
        else (from_json(outcome, result) if isinstance(result, dict) else result)
        for part, result in zip(parts, done, strict=True)
    ]


def _worthwhile(parts: Sequence[JobRequest]) -> int:
    """Return how many processes the parts are worth: none where they are done in turn sooner than one starts."""
    return worthwhile_processes(sum(len(_basins(part)) for part in parts), parts[0].part_basins or 1)


def _basins(part: JobRequest) -> list[str]:
    params: Any = part.params
    return list(params.basins)


def _by_children(running: JobRun, parts: Sequence[JobRequest], plan: JsonObject) -> list[JsonObject | Absent]:
    asked = [jobs.request_hash(part.kind, part.stored()) for part in parts]
    with running.work.database.transaction() as session:
        # By request: ids of one millisecond are in no order, and a job may divide several kinds of work in turn.
        children = {child.request_hash: child for child in jobs.children(session, running.job.id)}
        if asked[0] not in children:
            running.store_plan(session, plan)
            for part in parts:
                new = jobs.NewJob(
                    kind=part.kind,
                    params=part.stored(),
                    queue=running.job.queue,
                    parent_id=running.job.id,
                    max_attempts=PART_ATTEMPTS,
                )
                jobs.create(session, new, running.work.clock.wall())
    if asked[0] not in children or any(children[one].status not in jobs.ENDED for one in asked):
        raise Waiting
    done = [children[one] for one in asked]
    return [_failure(child) if child.result is None else child.result for child in done]


def _failure(child: jobs.Job) -> Absent:
    problem = child.problem or {"detail": f"Job {child.id} was {child.status}."}
    return absent(Reason.FAILED, message=problem["detail"])


def _here(running: JobRun, parts: Sequence[JobRequest], do_part: Part[Any]) -> list[Any]:
    """Return the outcome of each part, or why it failed: in processes, or in turn where one is enough or all fits."""
    from operations.versions.processes import processes_for, side_by_side  # which loads torch

    work, shares = running.work, dict.fromkeys(range(len(parts)), 0.0)

    def show(part: int, progress: Progress) -> None:
        shares[part] = progress["done"] / max(1, progress["total"])
        running.show(int(100 * sum(shares.values())), 100 * len(parts), progress["detail"])

    processes = processes_for(min(len(parts), _worthwhile(parts)), work.cores)
    if processes == 1:
        return [_attempt(_under(running, partial(show, at)), do_part, part) for at, part in enumerate(parts)]
    stored = [(part.kind, part.stored()) for part in parts]
    piece = partial(_part, work.settings, work.clock, running.grant, running.job, running.roots, do_part, stored)
    done = side_by_side(piece, range(len(parts)), processes, show, loads=do_part.__module__)
    return [done[number] for number in range(len(parts))]


def _under(running: JobRun, report: Callable[[Progress], None]) -> JobRun:
    """Return a running job with the progress of a part of it."""
    part = copy(running)
    part.work = replace(
        running.work, progress=lambda done, total, detail: report({"done": done, "total": total, "detail": detail})
    )
    return part


def _part(
    settings: Settings,
    clock: Clock,
    grant: Grant,
    job: jobs.Job,
    roots: tuple[Path, ...] | None,
    do_part: Part[Any],
    parts: Sequence[tuple[str, JsonObject]],
    number: int,
    report: Callable[[Progress], None],
) -> Any:
    running = JobRun(Work.opened(settings, clock), job, _at_times(report), lambda: None, grant)
    running.roots, running.works_alone = roots, True
    return _attempt(running, do_part, read(*parts[number]))


def _at_times(report: Callable[[Progress], None]) -> Callable[[Progress, str | None], None]:
    """Return what reports some of the progress, and all that is complete: each report costs the process that waits."""
    due = 0.0

    def show(progress: Progress, _file: str | None) -> None:
        nonlocal due
        if time.monotonic() >= due or progress["done"] >= progress["total"]:
            due = time.monotonic() + SECONDS_BETWEEN_REPORTS
            report(progress)

    return show


def _attempt(running: JobRun, do_part: Part[Any], part: JobRequest) -> Any:
    try:
        return do_part(running, part.params)
    except Problem as problem:  # it costs the basins of this part alone
        return absent(Reason.FAILED, message=str(problem))
