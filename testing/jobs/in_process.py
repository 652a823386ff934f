"""Jobs that a real worker runs in this process instead of a child: what handlers do, not how processes end."""

import json
from collections import deque
from dataclasses import asdict

from jobspec.kinds import KINDS
from records.database.work import Work
from records.jobs import jobs
from runtime.clock import Clock
from runtime.settings import Settings
from testing.jobs.processes import PostedJobs
from workers.job import JobOutcome, Progress, StopReason
from workers.job_processes.job_process import run_job
from workers.job_processes.process_pool import Child, Children, Report, Started, message_of
from workers.job_processes.worker import Worker
from workers.queue.enqueue import WorkerContext
from workers.tasks import HANDLERS


class InProcessChild(Child):
    """Runs a job at once, and has its messages ready as a child's pipe would give them."""

    def __init__(self, context: Work) -> None:
        self._context = context
        self._messages: deque[bytes] = deque()
        self.memory_limit, self.ended, self.started_at = None, False, 0.0

    def run(self, job: jobs.Job) -> None:
        """Run a claimed job."""
        outcome = run_job(self._context, self, HANDLERS, KINDS, job.id, job.attempt)
        self._messages.append(json.dumps({"outcome": asdict(outcome)}).encode())

    def send_progress(self, progress: Progress, file: str | None) -> None:
        """Have a message with the progress ready."""
        self._messages.append(json.dumps({"progress": progress, "file": file}).encode())

    def asked_to_stop(self) -> StopReason | None:
        """Go on."""

    def receive(self, _seconds: float) -> Report | JobOutcome | None:
        """Return the next message."""
        message = message_of(self._messages.popleft())
        assert not isinstance(message, Started)
        return message

    def is_stopped(self) -> bool:
        """Return False: this process runs."""
        return False

    def kill(self) -> None:
        """Take no more jobs."""
        self.ended = True


class InProcessChildren(Children):
    """Gives a worker children that are this process."""

    def __init__(self, context: Work) -> None:
        super().__init__(context.settings)
        self._context = context

    def take(self, _memory_limit: int | None) -> Child:
        """Return a child for a job."""
        return InProcessChild(self._context)

    def give_back(self, child: Child) -> None:
        """Let go of a child."""
        child.kill()


class InProcessJobs(PostedJobs):
    """Jobs of a database, run in this process.

    Args:
        settings: of the service; its broker is this process's memory, where nobody listens.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.model_copy(update={"broker_url": "memory://"}))

    @property
    def tools(self) -> WorkerContext:
        """The context of a worker or scheduler that starts now, under the settings of the environment."""
        chosen = self.settings.model_dump(include=self.settings.model_fields_set)
        settings = Settings.load(**chosen)
        return WorkerContext(settings, self.database, Clock(settings.as_of), sender=self.sender)

    def ended(self, job: str) -> jobs.Job:
        """Run a job and the children that it waits for, and return it as it has ended."""
        while (found := self.job(job)).status not in jobs.ENDED:
            if found.status == "waiting":
                with self.database.reading() as session:
                    children = [child.id for child in jobs.children(session, job)]
                for child in children:
                    self.ended(child)
            else:
                self.run(job)
        return found

    def run(self, job: str) -> None:
        """Run an attempt of a queued job as a worker does."""
        tools = self.tools
        Worker("worker", tools, InProcessChildren(tools)).run(job)
