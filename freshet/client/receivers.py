"""Receivers of alert changes, and deliveries to them."""

from collections.abc import Iterator

from app.alerts.schemas import (
    Delivery,
    DeliveryDetail,
    DeliveryPage,
    Subscription,
    Subscriptions,
    SubscriptionWithSecret,
)
from freshet.client.resource import Body, Resource


class Receivers(Resource):
    """Receivers of alert changes, and deliveries to them."""

    def subscriptions(self) -> Iterator[Subscription]:
        """Yield the key's own subscriptions, or all for an admin's key."""
        return self._items(Subscriptions, "/v1/subscriptions", "subscriptions")

    def subscription(self, subscription: str) -> Subscription:
        """Return a subscription."""
        return self._read(Subscription, f"/v1/subscriptions/{subscription}")

    def subscribe(self, new: Body) -> SubscriptionWithSecret:
        """Subscribe to alert changes; the secret is shown this once."""
        return self._send(SubscriptionWithSecret, "POST", "/v1/subscriptions", new)

    def change_subscription(self, subscription: str, patch: Body) -> Subscription:
        """Change some fields of a subscription."""
        return self._send(Subscription, "PATCH", f"/v1/subscriptions/{subscription}", patch)

    def rotate_secret(self, subscription: str) -> SubscriptionWithSecret:
        """Replace the secret of a subscription."""
        return self._send(SubscriptionWithSecret, "POST", f"/v1/subscriptions/{subscription}/rotate")

    def resume_subscription(self, subscription: str) -> Subscription:
        """Send to a paused subscription again."""
        return self._send(Subscription, "POST", f"/v1/subscriptions/{subscription}/resume")

    def delete_subscription(self, subscription: str) -> None:
        """Remove a subscription."""
        self._delete(f"/v1/subscriptions/{subscription}")

    def deliveries(self, *, subscription: str | None = None, status: str | None = None) -> Iterator[Delivery]:
        """Yield deliveries, the newest first."""
        asked = {"subscription": subscription, "status": status}
        return self._items(DeliveryPage, "/v1/deliveries", "deliveries", **asked)

    def delivery(self, delivery: str) -> DeliveryDetail:
        """Return a delivery with every attempt."""
        return self._read(DeliveryDetail, f"/v1/deliveries/{delivery}")

    def replay_delivery(self, delivery: str) -> DeliveryDetail:
        """Send a delivery again."""
        return self._send(DeliveryDetail, "POST", f"/v1/deliveries/{delivery}/replay")
