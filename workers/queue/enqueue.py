"""Sends the ids of jobs: the API's only contact with the workers."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from kombu.exceptions import ChannelError, OperationalError
from redis import RedisError

from hydrology.base.errors import Problem
from records.database.engine import Database
from records.jobs import jobs, queues
from runtime.clock import Clock
from runtime.settings import Settings
from workers.queue.broker import counting_url, write_refusal
from workers.queue.celery_app import TASK, make_app

__all__ = ["BrokerAway", "Sender", "counting_url", "write_refusal"]

log = structlog.get_logger()


class BrokerAway(Problem):
    """The broker does not answer."""

    kind = "broker-away"


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
        """Send a committed job.

        Raises:
            BrokerAway: it does not answer.
        """
        self.send_message(job)
        with self._database.transaction() as session:
            queues.mark_sent(session, job.id, self._clock.wall())

    def send_message(self, job: jobs.Job) -> None:
        """Send a job's message without recording it.

        Raises:
            BrokerAway: it does not answer.
        """
        with _answering():
            self._app.send_task(TASK, args=[job.id], queue=job.queue, retry=False)

    def messages(self, queue: str) -> int:
        """Return the number of a queue's messages that no worker has taken yet.

        Raises:
            BrokerAway: it does not answer.
        """
        with _answering(), self._app.connection_or_acquire() as connection:
            try:
                return int(connection.default_channel.queue_declare(queue, passive=True).message_count)
            except ChannelError:  # there is no such queue: Redis deletes empty ones
                return 0

    def close(self) -> None:
        """Close the connections to the broker."""
        self._app.close()


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (OperationalError, OSError, RedisError) as error:
        raise BrokerAway(str(error)) from error
