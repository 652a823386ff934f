"""The base of all kinds of job: queue and limits."""

from datetime import timedelta
from typing import Any, ClassVar, Literal, get_args, get_origin

from jobspec.fields import RequestModel
from jobspec.jobs.authority import Authority

Queue = Literal["service", "default", "ingest", "training", "gpu", "delivery"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
SERVICE: Queue = "service"
"""The queue of operational jobs of the service itself, which no operator's job waits in."""
GPU: Queue = "gpu"
"""The queue of whole trainings, which only workers with a GPU serve."""


class JobRequest(RequestModel):
    """A job of any kind.

    Attributes:
        authority: the records that it writes, and those that an operator's job may. Each kind declares its own.
        queue: the queue whose workers run it.
        operational: whether the day's forecasts depend on it. If the service or an administrator posted it, it goes to
            the queue `service`.
        time_limit: how long one attempt may run before it is killed and the job fails.
        silence_limit: how long its progress may stay the same before it is killed and tried again. Longer than any step
            takes on a slow machine.
        turn: how long one attempt may run while jobs of others wait in its queue. It then continues in its next turn;
            None for a job that would start from the beginning.
        memory_limit: how many bytes one attempt may allocate; None for no limit. A job with a limit runs in a process
            of its own.
    """

    authority: ClassVar[Authority]
    queue: ClassVar[Queue] = "default"
    operational: ClassVar[bool] = False
    time_limit: ClassVar[timedelta] = timedelta(hours=12)
    silence_limit: ClassVar[timedelta] = timedelta(hours=1)
    turn: ClassVar[timedelta | None] = None
    memory_limit: ClassVar[int | None] = None

    kind: str
    params: RequestModel

    @classmethod
    def __pydantic_init_subclass__(cls, **_options: Any) -> None:
        """Refuse a kind of job that does not declare its authority."""
        if get_origin(cls.model_fields["kind"].annotation) is Literal and "authority" not in vars(cls):
            raise TypeError(f"{cls.__name__} has no authority: declare which records its jobs write, and their owner.")

    def stored(self) -> dict[str, Any]:
        """Return the params as they are stored: the given fields, without defaults."""
        return self.params.model_dump(mode="json", by_alias=True, exclude_unset=True)


class IntakeJob(JobRequest):
    """A job that parses files from elsewhere."""

    queue = "ingest"
    memory_limit = 4 * 2**30
