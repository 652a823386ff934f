"""Celery's consumer, for a broker that is unavailable for a while: it reconnects within seconds."""

import time
from typing import Any

import structlog
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown

from workers.queue.broker import try_to_write

log = structlog.get_logger()

MAX_WAIT = 3.0  # seconds between two attempts to connect: Celery's own grow to 30, and it finally gives up


class PatientConsumer(Consumer):  # type: ignore[misc]
    """Reconnects for as long as it takes, unless the worker is to stop."""

    def ensure_connected(self, conn: Any) -> Any:
        """Return a connection as soon as the broker accepts one."""
        return conn.ensure_connection(
            _log_error, interval_start=0.5, interval_step=0.5, interval_max=MAX_WAIT, callback=maybe_shutdown
        )

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Wait before the next attempt: a broker that refuses to be written accepts connections at once."""
        _log_error(exc, MAX_WAIT)
        time.sleep(MAX_WAIT)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Reconnect, unless the broker is well and refuses the request: that does not pass."""
        if isinstance(exc, self.channel_errors):
            if self._is_well():
                raise exc
            time.sleep(MAX_WAIT)
        super().on_connection_error_after_connected(exc)

    def _is_well(self) -> bool:
        try:
            try_to_write(self.connection.default_channel.client)
        except (*self.connection_errors, *self.channel_errors):
            return False
        return True


def _log_error(error: Exception, wait: float) -> None:
    log.warning("worker.broker", error=str(error), again_in_seconds=wait)
