"""A client of the API, typed by the service's own answers: docs/client.md."""

from freshet.client.client import Client
from freshet.client.problems import Refused, ServiceError

__all__ = ["Client", "Refused", "ServiceError"]
