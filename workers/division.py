"""Divide a job into parts: child jobs that workers run side by side, or processes of a command."""

from collections.abc import Callable, Sequence
from functools import partial

from jobspec.jobs.base import JobRequest
from jobspec.kinds import read
from operations.versions.processes import processes_for, side_by_side
from records.database.base import JsonObject
from records.database.work import Work
from records.job_permissions.permissions import Grant
from records.jobs import jobs, process_heartbeats
from runtime.clock import Clock
from runtime.settings import Settings
from workers.job import Handler, JobRun, Progress, Waiting

PART_ATTEMPTS = 5  # a part that has stored its results stores nothing new: it may lose several workers


def cores(running: JobRun) -> int:
    """Return how many parts can be done at once."""
    if running.works_alone:
        return running.work.cores
    with running.work.database.reading() as session:
        of_queues = process_heartbeats.workers_by_queue(process_heartbeats.live_processes(session))
    return max(1, of_queues.get(running.job.queue, 1))


def divide(
    running: JobRun, parts: Sequence[JobRequest], handler: Handler, plan: JsonObject
) -> list[JsonObject | jobs.Job]:
    """Do the parts of a job, all of one kind, and return the result of each, or the job that failed.

    A worker posts a job for each, together with the plan that a later attempt continues, and waits; the attempt that
    finds them ended returns. One part alone is done here.

    Raises:
        Waiting: the parts have been posted, or are not done yet.
    """
    if len(parts) == 1 or (running.works_alone and processes_for(len(parts), running.work.cores) == 1):
        return [handler(running, part.params) for part in parts]
    if running.works_alone:
        return _in_processes(running, parts, handler)
    with running.work.database.transaction() as session:
        children = jobs.children(session, running.job.id)
        if not children:
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
    if not children or any(child.status not in jobs.ENDED for child in children):
        raise Waiting
    by_request = {child.request_hash: child for child in children}  # ids of one millisecond are in no order
    done = [by_request[jobs.request_hash(part.kind, part.stored())] for part in parts]
    return [child.result if child.status == "succeeded" and child.result is not None else child for child in done]


def _in_processes(running: JobRun, parts: Sequence[JobRequest], handler: Handler) -> list[JsonObject | jobs.Job]:
    work, shares = running.work, dict.fromkeys(range(len(parts)), 0.0)

    def show(part: int, progress: Progress) -> None:
        shares[part] = progress["done"] / max(1, progress["total"])
        running.show(int(100 * sum(shares.values())), 100 * len(parts), progress["detail"])

    stored = [(part.kind, part.stored()) for part in parts]
    piece = partial(_part, work.settings, work.clock, running.grant, running.job, handler, stored)
    done = side_by_side(piece, range(len(parts)), processes_for(len(parts), work.cores), show)
    return [done[number] for number in range(len(parts))]


def _part(
    settings: Settings,
    clock: Clock,
    grant: Grant,
    job: jobs.Job,
    handler: Handler,
    parts: Sequence[tuple[str, JsonObject]],
    number: int,
    report: Callable[[Progress], None],
) -> JsonObject:
    running = JobRun(Work.opened(settings, clock), job, lambda progress, _file: report(progress), lambda: None, grant)
    return handler(running, read(*parts[number]).params)
