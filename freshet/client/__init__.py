"""A client of the API, typed by the service's own answers: docs/do/client.md."""

from freshet.own_modules import require_own

require_own()  # before the first of them is imported

from freshet.client.client import Client  # noqa: E402
from freshet.client.problems import Refused, ServiceError  # noqa: E402

__all__ = ["Client", "Refused", "ServiceError"]
