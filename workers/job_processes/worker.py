"""A worker: claims a job, has a child process run it, watches that process, and stores the outcome.

Every write to the job carries the number of the attempt, so that a worker that counts as dead can no longer change its
job. It is ended within a heartbeat; what it stores until then is what the next attempt stores again.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import structlog
from structlog.contextvars import bound_contextvars
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    sleep_using_event,
    stop_when_event_set,
    wait_exponential,
)

from jobspec.jobs.base import JobRequest
from jobspec.kinds import KINDS, InvalidRequest, read
from models.devices import GPULost
from records.jobs import attempts, jobs, queues
from workers.job import JobOutcome, StopReason
from workers.job_processes.process_limits import Watch, hindrance
from workers.job_processes.process_pool import Child, Children
from workers.liveness import Heartbeat
from workers.queue import uploads
from workers.queue.enqueue import WorkerContext

log = structlog.get_logger()

Done = TypeVar("Done")

MAX_WAIT = 5.0  # seconds between two attempts to use an unavailable database
GRACE = 10.0  # seconds that a job has to stop when asked to; then its process is killed
HINDERED_SECONDS = 5.0  # that a worker waits after a transient fault before it takes the next job
TICK = 0.2  # seconds between two checks for the end of a job


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker, which runs one job at a time.

    Attributes:
        stopping: set when the worker is to stop: the current job is queued again.
        grace: seconds that a job has to stop.
        on_trouble: gets what prevents it from working, in a sentence, and None once it can work again.
        on_gpu_lost: gets why a job could not use the GPU, in a sentence.
    """

    name: str
    tools: WorkerContext
    children: Children
    stopping: threading.Event = field(default_factory=threading.Event)
    kinds: Mapping[str, type[JobRequest]] = field(default_factory=lambda: KINDS)
    grace: float = GRACE
    on_trouble: Callable[[str | None], None] = lambda _: None
    on_gpu_lost: Callable[[str], None] = lambda _: None

    def run(self, message: str) -> None:
        """Run the job whose turn it is in the queue of a message's job, if any is queued."""
        job = self._patiently(partial(self._claim, message))
        if job is None:
            return
        with bound_contextvars(job=job.id):
            self._run(job)

    def _run(self, job: jobs.Job) -> None:
        log.info("job.start", kind=job.kind, attempt=job.attempt)
        try:
            with Heartbeat(self.tools, job) as heartbeat:
                outcome = self._attempt(job, heartbeat)
                if outcome.problem is not None and outcome.problem["kind"] == GPULost.kind:
                    self.on_gpu_lost(outcome.problem["detail"])
                self._patiently(partial(write, self.tools, job, outcome))
        except jobs.StaleAttempt as error:
            log.warning("job.stale", attempt=job.attempt, error=str(error))
            return
        if outcome.status == "hindered":
            self.stopping.wait(HINDERED_SECONDS)
        if job.parent_id is not None:
            resume_parent(self.tools, job.parent_id)

    def _claim(self, message: str) -> jobs.Job | None:
        now = self.tools.clock.wall()
        lease_until = now + timedelta(seconds=self.tools.settings.lease_seconds)
        with self.tools.database.transaction() as session:
            while (chosen := queues.next_job(session, message)) is not None:
                job = attempts.claim(session, chosen, worker=self.name, lease_until=lease_until, at=now)
                if job is not None:  # otherwise another worker was faster
                    return job
        return None

    def _patiently(self, act: Callable[[], Done]) -> Done:
        """Return an act's result, retrying while the database is unavailable. Stop if the worker is to stop."""
        attempts = Retrying(
            retry=retry_if_exception(lambda error: hindrance(error) is not None),
            stop=stop_when_event_set(self.stopping),
            wait=wait_exponential(0.5, max=MAX_WAIT),
            sleep=sleep_using_event(self.stopping),
            before_sleep=_report,
            reraise=True,
        )
        return attempts(act)

    def _attempt(self, job: jobs.Job, heartbeat: Heartbeat) -> JobOutcome:
        try:
            request = read(job.kind, job.params, self.kinds)
        except InvalidRequest as problem:
            return JobOutcome("failed", problem={"kind": problem.kind, "detail": str(problem)})
        child = self.children.take(request.memory_limit)
        try:
            child.run(job)
            return self._look_after(child, job, request, heartbeat)
        except BaseException:
            child.kill()
            raise
        finally:
            self.on_trouble(None)
            self.children.give_back(child)

    def _look_after(self, child: Child, job: jobs.Job, request: JobRequest, heartbeat: Heartbeat) -> JobOutcome:
        watch = Watch(child, request, job.id)
        reason: StopReason | None = None
        asked_at = 0.0
        while True:
            message = child.receive(TICK)
            if isinstance(message, JobOutcome):
                return message
            if message is not None:
                watch.note(message.progress.model_dump(), message.file)
                heartbeat.progress = watch.progress
            elif child.ended:
                return watch.died()
            fault = watch.fault()
            self.on_trouble(watch.trouble)
            if heartbeat.stale:
                outcome = JobOutcome("stale")
            elif fault is not None:
                outcome = fault
            elif reason is not None and time.monotonic() - asked_at > self.grace:
                outcome = JobOutcome("cancelled" if reason == "cancel" else "released")
            else:
                if reason is None and (reason := self._stop_reason(heartbeat, watch)) is not None:
                    asked_at = time.monotonic()
                    child.stop(reason)
                continue
            log.warning("job.killed", status=outcome.status, asked=reason)
            child.kill()
            return outcome

    def _stop_reason(self, heartbeat: Heartbeat, watch: Watch) -> StopReason | None:
        if heartbeat.cancelled:
            return "cancel"
        return "shutdown" if self.stopping.is_set() or (heartbeat.awaited and watch.turn_is_over) else None


def _report(state: RetryCallState) -> None:
    assert state.outcome is not None
    error = state.outcome.exception()
    log.warning("worker.database", error=str(getattr(error, "orig", error)))


def write(tools: WorkerContext, job: jobs.Job, outcome: JobOutcome) -> None:
    """Store the outcome of an attempt, and send a job that is queued again."""
    now, key = tools.clock.wall(), (job.id, job.attempt)
    with tools.database.transaction() as session:
        match outcome.status:
            case "stale":
                after = job
            case "waiting":
                after = attempts.wait(session, *key, now)
            case "released":
                after = attempts.release(session, *key, now, "It was stopped, and continues in its next turn.")
            case "hindered":
                assert outcome.problem is not None
                after = attempts.release(session, *key, now, outcome.problem["detail"])
            case "retry":
                assert outcome.problem is not None
                after = attempts.retry(session, *key, outcome.problem, now, outcome.death)
            case status:
                values: dict[str, Any] = {"result": outcome.result, "problem": outcome.problem}
                after = attempts.finish(session, *key, status=status, **values, at=now)
        children = jobs.brief_children(session, job.id) if after.status == "waiting" else []
    log.info("job.end", job=job.id, status=outcome.status)
    if after.status in jobs.ENDED:
        uploads.delete_of(after, tools.settings.data)
    for waiting in (after, *children):
        if waiting.status == "queued" and waiting.sent_at is None:
            tools.sender.send(waiting)
    if after.status == "waiting":
        resume_parent(tools, job.id)  # its children may have ended already


def resume_parent(tools: WorkerContext, parent_id: str) -> None:
    """Queue a parent again if it waits for no more children."""
    with tools.database.transaction() as session:
        was_resumed = attempts.resume_parent(session, parent_id, tools.clock.wall())
        parent = jobs.get(session, parent_id)
    if was_resumed:
        tools.sender.send(parent)
