"""Sending the ids of jobs. All that the API sees of the workers."""

import structlog
from kombu.exceptions import OperationalError

from records import jobs
from records.clock import Clock
from records.engine import Database
from records.settings import Settings
from workers.broker import counting_url
from workers.celery_app import TASK, make_app

__all__ = ["Sender", "counting_url"]

log = structlog.get_logger()


class Sender:
    """Tells the workers which jobs are queued."""

    def __init__(self, settings: Settings, database: Database, clock: Clock) -> None:
        self._app, self._database, self._clock = make_app(settings), database, clock

    def send(self, job: jobs.Job) -> None:
        """Send a committed job. If the broker does not answer, the job waits for the scheduler to send it again."""
        try:
            self._app.send_task(TASK, args=[job.id], queue=job.queue, retry=False)
        except (OperationalError, OSError) as error:
            log.warning("job.unsent", job=job.id, error=str(error))
            return
        with self._database.transaction() as session:
            jobs.mark_sent(session, job.id, self._clock.wall())

    def close(self) -> None:
        """Close the connections to the broker."""
        self._app.close()
