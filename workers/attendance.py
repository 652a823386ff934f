"""The signs of life of a worker in the records, for those who watch the service."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import structlog
from sqlalchemy.exc import DBAPIError

from hydrology.errors import Problem
from records import attendance
from workers.job import Tools

log = structlog.get_logger()


@contextmanager
def attending(tools: Tools, worker: str, queues: Sequence[str]) -> Iterator[None]:
    """Give signs from a thread of its own, and say goodbye at the end."""
    ended = threading.Event()

    def give() -> None:
        while True:
            try:
                with tools.database.transaction() as session:
                    attendance.sign(session, worker, queues, tools.clock.wall())
            except (DBAPIError, Problem) as error:  # the database is away for a while
                log.warning("worker.attendance", error=str(getattr(error, "orig", error)))
            if ended.wait(attendance.SIGN_EVERY.total_seconds()):
                return

    thread = threading.Thread(target=give, name="attendance", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(DBAPIError, Problem), tools.database.transaction() as session:
            attendance.leave(session, worker)
