"""Sends the ids of jobs by Celery, the API's only contact with the workers; and the context of those who send."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from celery import Celery
from kombu.exceptions import ChannelError, OperationalError
from redis import RedisError

from hydrology.base.errors import Problem
from records.database.engine import Database
from records.database.work import Work
from records.jobs import jobs, queues
from runtime.clock import Clock
from runtime.settings import Settings
from workers.queue.broker import broker_url

TASK = "freshet.run_job"


def make_app(settings: Settings) -> Celery:
    """Return the application that sends and receives job ids."""
    app = Celery("freshet", broker=broker_url(settings), set_as_current=False)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_default_queue="default",
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_channel_error_retry=True,  # `PatientConsumer` decides for which errors
        worker_consumer="workers.processes:PatientConsumer",
        # A repeated message does no harm: the row of the job is claimed once.
        # Short intervals let the API answer at once without the broker: the scheduler sends again.
        broker_transport_options={
            "visibility_timeout": 24 * 3600,
            "socket_timeout": 10,
            "max_retries": 3,
            "interval_start": 0,
            "interval_step": 0.1,
            "interval_max": 0.2,
        },
    )
    return app


log = structlog.get_logger()


class BrokerAway(Problem):
    """The broker does not answer."""


class Sender:
    """Notifies the workers of queued jobs."""

    def __init__(self, settings: Settings, database: Database, clock: Clock) -> None:
        self._app, self._database, self._clock = make_app(settings), database, clock

    def send(self, job: jobs.Job) -> None:
        """Send a committed job. If the broker does not answer, the scheduler sends it later."""
        try:
            self.require_sent(job)
        except BrokerAway as problem:
            log.warning("job.unsent", job=job.id, error=str(problem))

    def require_sent(self, job: jobs.Job) -> None:
        """Send a committed job."""
        self.send_message(job)
        with self._database.transaction() as session:
            queues.mark_sent(session, job.id, self._clock.wall())

    def send_message(self, job: jobs.Job) -> None:
        """Send a job's message without recording it."""
        with _answering():
            self._app.send_task(TASK, args=[job.id], queue=job.queue, retry=False)

    def messages(self, queue: str) -> int:
        """Return the number of a queue's messages that no worker has taken; raise BrokerAway without an answer."""
        with _answering(), self._app.connection_or_acquire() as connection:
            try:
                return int(connection.default_channel.queue_declare(queue, passive=True).message_count)
            except ChannelError:  # there is no such queue: Redis deletes empty ones
                return 0

    def close(self) -> None:
        self._app.close()


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (OperationalError, OSError, RedisError) as error:
        raise BrokerAway(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext(Work):
    """The context of jobs, and a sender of jobs to the workers."""

    sender: Sender


@contextmanager
def tools_of(settings: Settings, clock: Clock | None = None) -> Iterator[WorkerContext]:
    """Open the database and the broker, and close them at the end."""
    database, clock = Database.of(settings), clock or Clock(settings.as_of)
    sender = Sender(settings, database, clock)
    try:
        yield WorkerContext(settings, database, clock, sender=sender)
    finally:
        sender.close()
        database.close()
