"""Answers about subscriptions."""

from datetime import datetime

from pydantic import ConfigDict, Field

from app.alerts.subscriptions.example import NEW_SECRET, SUBSCRIPTION
from app.http.base_schema import Missing, Model
from hydrology.extremes.alerting import Severity


class Subscription(Model):
    """A receiver of alert changes."""

    model_config = ConfigDict(json_schema_extra={"examples": [SUBSCRIPTION]})

    id: str
    url: str = Field(description="Where changes are posted to.")
    basins: list[str] | None = Field(description="Whose changes are told.")
    least_severity: Severity = Field(description="Changes of alerts that were and are less severe are not told.")
    created_at: datetime
    rotated_at: datetime | None = Field(description="When its secret followed the one before.")
    old_secret_until: datetime | None = Field(description="Until then what is sent is signed with the old secret too.")
    missing: Missing


class SubscriptionWithSecret(Subscription):
    """A receiver of alert changes and its secret, which is shown this once."""

    model_config = ConfigDict(json_schema_extra={"examples": [NEW_SECRET]})

    secret: str = Field(description="What signatures are checked with. It is shown this once: keep it.")


class Subscriptions(Model):
    """Those of the key, or of all keys where it is an admin's, the oldest first."""

    subscriptions: list[Subscription]
