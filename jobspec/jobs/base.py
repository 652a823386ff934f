"""What every kind of job has: its queue and its limits."""

from datetime import timedelta
from typing import Any, ClassVar, Literal, get_args, get_origin

from jobspec.authority import Authority
from jobspec.fields import RequestModel

Queue = Literal["service", "default", "ingest", "training", "delivery"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
SERVICE: Queue = "service"
"""The queue of operational jobs of the service itself, which no operator's job waits in."""


class JobRequest(RequestModel):
    """A job of some kind.

    Attributes:
        authority: which records it writes, and which of them an operator's job may. Each kind declares its own.
        queue: whose workers run it.
        operational: whether forecasts of the day rest on it. Where it speaks for the service (no key, or an
            administrator's, posted it), it goes to the queue `service`.
        time_limit: how long one attempt may run; then it is killed, and the job has failed.
        silence_limit: how long its progress may stay the same; then it is killed, and the job is tried again. Longer
            than any step takes on a slow machine.
        memory_limit: how many bytes one attempt may allocate; None for no limit. A job with a limit runs in a process
            of its own.
    """

    authority: ClassVar[Authority]
    queue: ClassVar[Queue] = "default"
    operational: ClassVar[bool] = False
    time_limit: ClassVar[timedelta] = timedelta(hours=12)
    silence_limit: ClassVar[timedelta] = timedelta(hours=1)
    memory_limit: ClassVar[int | None] = None

    kind: str
    params: RequestModel

    @classmethod
    def __pydantic_init_subclass__(cls, **_options: Any) -> None:
        """Refuse a kind of job that does not declare its authority."""
        if get_origin(cls.model_fields["kind"].annotation) is Literal and "authority" not in vars(cls):
            raise TypeError(f"{cls.__name__} declares no authority: say which records its jobs write, and whose.")

    def stored(self) -> dict[str, Any]:
        """Return the params as they are stored: what the request says, without defaults."""
        return self.params.model_dump(mode="json", by_alias=True, exclude_unset=True)


class IntakeJob(JobRequest):
    """A job that parses files from elsewhere."""

    queue = "ingest"
    memory_limit = 4 * 2**30
