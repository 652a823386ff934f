"""Adjustments of issued forecasts, and alerts that wait for approval."""

from collections.abc import Iterator

from app.adjustments.schemas import AdjustedForecast, Adjustment, AdjustmentPage, HeldAlerts, HeldAlertsPage
from freshet.client.resource import Body, Resource


class Adjustments(Resource):
    """Adjustments of issued forecasts, and alerts that wait for approval."""

    def adjusted(self, run: str, basin: str, *, units: str | None = None) -> AdjustedForecast:
        """Return a run's forecast of a basin as a forecaster published it, beside that as issued."""
        return self._read(AdjustedForecast, f"/v1/runs/{run}/basins/{basin}/adjusted", units=units)

    def published_adjustments(self, basin: str) -> Iterator[Adjustment]:
        """Yield the published adjustments of a basin's forecasts, the newest first."""
        return self._items(AdjustmentPage, f"/v1/basins/{basin}/adjustments", "adjustments")

    def adjustments(self, *, basin: str | None = None) -> Iterator[Adjustment]:
        """Yield the adjustments of all basins with the drafts, the newest first."""
        return self._items(AdjustmentPage, "/v1/adjustments", "adjustments", basin=basin)

    def adjustment(self, adjustment: str, *, units: str | None = None) -> AdjustedForecast:
        """Return an adjustment beside the forecast as issued."""
        return self._read(AdjustedForecast, f"/v1/adjustments/{adjustment}", units=units)

    def adjust(self, basin: str, new: Body) -> AdjustedForecast:
        """Adjust an issued forecast, and return the draft."""
        return self._send(AdjustedForecast, "POST", f"/v1/basins/{basin}/adjustments", new)

    def publish_adjustment(self, adjustment: str, publication: Body) -> AdjustedForecast:
        """Publish a draft."""
        return self._send(AdjustedForecast, "POST", f"/v1/adjustments/{adjustment}/publish", publication)

    def delete_adjustment(self, adjustment: str) -> None:
        """Delete a draft."""
        self._delete(f"/v1/adjustments/{adjustment}")

    def held_alerts(self) -> Iterator[HeldAlerts]:
        """Yield the changes of alerts that wait for approval, by basin."""
        return self._items(HeldAlertsPage, "/v1/alerts/held", "held")

    def decide_held_alerts(self, basin: str, ruling: Body) -> HeldAlerts:
        """Approve or dismiss the changes of a basin's alerts."""
        return self._send(HeldAlerts, "POST", f"/v1/basins/{basin}/alerts/held", ruling)
