"""Answers about deliveries."""

from datetime import datetime

from pydantic import Field

from app.http.base_schema import Missing, Model, next_page
from records.alerts.alert_changes import ChangeKind
from records.alerts.deliveries import Status


class DeliveryAttempt(Model):
    """One sending."""

    number: int
    at: datetime
    ended_at: datetime | None
    status_code: int | None = Field(description="The receiver's HTTP status. Its body is not read.")
    failure: str | None = Field(description="Why it does not count as delivered.")
    missing: Missing


class Delivery(Model):
    """An alert change to be sent to a receiver."""

    id: str
    subscription: str
    event: str = Field(description="Identifier of the change: `webhook-id` of every attempt.")
    kind: ChangeKind
    basin: str
    status: Status = Field(description="`failed`: after its last attempt. Replay it when the receiver is well.")
    tries: int = Field(description="Attempts since it was created or last replayed.")
    most_tries: int = Field(description="Maximum number of attempts: after these it has failed.")
    next_at: datetime | None = Field(description="Time of the next attempt; null: immediately.")
    ended_at: datetime | None
    missing: Missing


class DeliveryDetail(Delivery):
    """An alert change for a receiver, with every attempt to send it."""

    attempts: list[DeliveryAttempt] = Field(description="The oldest first.")


class DeliveryPage(Model):
    """Deliveries, the newest first."""

    deliveries: list[Delivery]
    next: str | None = next_page("/v1/deliveries?limit=100&after=01a1fa31d0a6718d9e12f4")
