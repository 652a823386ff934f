"""When a delivery is attempted again: the only declaration of these waits.

A receiver that fails delays its own deliveries, each by growing waits, and a delivery has a limited number of tries. A
fault of the operator's mail server, before it was given a message, lies with no recipient: it delays all e-mail, by a
short wait that does not grow, and takes no try.
"""

from datetime import timedelta

from hydrology.base.absent import Absent
from hydrology.base.reasons import Reason

WAITS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(hours=24),
)
"""Waits between tries. After the last one a delivery has failed until somebody replays it."""
MAX_TRIES = len(WAITS) + 1

_SHORT = timedelta(minutes=1)
_AFTER_A_REFUSAL = timedelta(minutes=15)
"""Servers lock out who is refused every minute."""
_SERVER_WAITS = {
    Reason.MAIL_NOT_CONNECTED: _SHORT,
    Reason.MAIL_NOT_ENCRYPTED: _SHORT,
    Reason.MAIL_BROKE_OFF: _SHORT,
    Reason.MAIL_SLOW: _SHORT,
    Reason.MAIL_UNAVAILABLE: _SHORT,
    Reason.MAIL_NOT_SET: _SHORT,
    Reason.MAIL_LOGIN_REFUSED: _AFTER_A_REFUSAL,
    Reason.MAIL_SERVICE_REFUSED: _AFTER_A_REFUSAL,
}
MAX_OUTAGE = timedelta(days=5)
"""A delivery that meets a fault of the mail server this long after its first attempt has failed."""


def server_wait(failure: Absent | None) -> timedelta | None:
    """Return how long all e-mail waits after a fault of the mail server; None if the failure is not one."""
    return None if failure is None else _SERVER_WAITS.get(Reason[failure.code.upper()])


def is_of_server(failure: Absent) -> bool:
    """Return whether an operator should look at the mail server, which may have failed for a single message only."""
    of_a_message = (Reason.MAIL_REFUSED, Reason.MAIL_UNANSWERED)
    return server_wait(failure) is not None or Reason[failure.code.upper()] in of_a_message
