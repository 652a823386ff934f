"""What every kind of job has: its queue and its limits."""

from datetime import timedelta
from typing import Any, ClassVar, Literal, get_args

from jobspec.fields import RequestModel

Queue = Literal["service", "default", "ingest", "training", "delivery"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
SERVICE: Queue = "service"
"""The queue of operational jobs of the service itself, which no operator's job waits in."""


class JobRequest(RequestModel):
    """A job of some kind.

    Attributes:
        queue: whose workers run it.
        operational: whether forecasts of the day rest on it. Where it speaks for the service (no key, or an
            administrator's, posted it), it goes to the queue `service`.
        time_limit: how long one attempt may run; then it is killed, and the job has failed.
        silence_limit: how long its progress may stay the same; then it is killed, and the job is tried again. Longer
            than any step takes on a slow machine.
        memory_limit: how many bytes one attempt may allocate; None for no limit. A job with a limit runs in a process
            of its own.
    """

    queue: ClassVar[Queue] = "default"
    operational: ClassVar[bool] = False
    time_limit: ClassVar[timedelta] = timedelta(hours=12)
    silence_limit: ClassVar[timedelta] = timedelta(hours=1)
    memory_limit: ClassVar[int | None] = None

    kind: str
    params: RequestModel

    def stored(self) -> dict[str, Any]:
        """Return the params as they are stored: what the request says, without defaults."""
        return self.params.model_dump(mode="json", by_alias=True, exclude_unset=True)


class IntakeJob(JobRequest):
    """A job that parses files from elsewhere."""

    queue = "ingest"
    memory_limit = 4 * 2**30
