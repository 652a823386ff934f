"""Answers about subscriptions."""

from datetime import datetime

from pydantic import Field

from app.http.base_schema import Missing, Model
from hydrology.extremes.alerting import Severity


class Subscription(Model):
    """A receiver of alert changes."""

    id: str
    url: str = Field(description="Address that changes are posted to.")
    basins: list[str] | None = Field(description="Basins whose changes are sent; null: all.")
    least_severity: Severity = Field(description="Changes below this severity, before and after, are not sent.")
    created_at: datetime
    rotated_at: datetime | None = Field(description="When the secret was last replaced.")
    old_secret_until: datetime | None = Field(description="Until then deliveries are signed with the old secret too.")
    missing: Missing


class SubscriptionWithSecret(Subscription):
    """A receiver of alert changes and its secret, which is shown this once."""

    secret: str = Field(
        description="Secret for verifying signatures by Standard Webhooks. It is shown only this once: store it."
    )


class Subscriptions(Model):
    """The key's own subscriptions (for an admin's key, all), oldest first."""

    subscriptions: list[Subscription]
