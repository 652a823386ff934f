"""A client of the API of Freshet, with a typed method for each of its operations."""

from freshet_client.client import Client
from freshet_client.connection import InvalidAddress, JobFailed, Refused, ServiceError, Unreachable

__all__ = ["Client", "InvalidAddress", "JobFailed", "Refused", "ServiceError", "Unreachable"]
