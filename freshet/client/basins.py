"""Basins, their data, levels and alerts."""

from collections.abc import Iterator
from datetime import date, datetime

from app.alerts.schemas import Alert, AlertChange, AlertChanges, Alerts, BasinAlerts
from app.basins.normals.schemas import Normals
from app.basins.observations.schemas import Observations
from app.basins.ratings.schemas import NewRatingTable, RatingTable
from app.basins.schemas import BasinDetail, BasinPage, BasinSummary
from app.basins.thresholds.schemas import FixedThreshold, FloodCategories, FloodFrequency, Thresholds
from app.basins.user_basins.schemas import Adoption
from app.forecasts.stage.schemas import StageOfRun
from app.jobs.schemas import Job
from freshet.client.resource import CSV, Body, Resource


class Basins(Resource):
    """Basins, their data, levels and alerts."""

    def basins(self, q: str | None = None, huc: str | None = None, bbox: str | None = None) -> Iterator[BasinSummary]:
        """Yield basins in the order of their identifiers.

        Args:
            q: a part of the identifier or the name.
            huc: the beginning of the hydrologic unit code.
            bbox: `minlon,minlat,maxlon,maxlat`.
        """
        return self._items(BasinPage, "/v1/basins", "basins", q=q, huc=huc, bbox=bbox)

    def basin(self, basin: str) -> BasinDetail:
        """Return what is known of a basin."""
        return self._read(BasinDetail, f"/v1/basins/{basin}")

    def put_basin(self, basin: str, own: Body) -> BasinDetail:
        """Register a basin of your own, or change it."""
        return self._send(BasinDetail, "PUT", f"/v1/basins/{basin}", own)

    def adopt_basin(self, basin: str) -> Adoption:
        """Make a basin that an operator registered official."""
        return self._send(Adoption, "PUT", f"/v1/basins/{basin}/adoption")

    def release_basin(self, basin: str) -> None:
        """Give an adopted basin back to its operator."""
        self._delete(f"/v1/basins/{basin}/adoption")

    def add_basin(self, added: Body) -> Job:
        """Post the job that adds a gauge, or data to one."""
        return self._send(Job, "POST", "/v1/basins", added)

    def post_observations(self, content: bytes, *, media_type: str = CSV, product: str | None = None) -> Job:
        """Post a table of observations of your own basins."""
        return self._upload("/v1/basins/observations", content, media_type, product=product)

    def observations(
        self,
        basin: str,
        product: str,
        variable: str | None = None,
        *,
        start: date | None = None,
        end: date | None = None,
        units: str | None = None,
        area: str | None = None,
        known_at: datetime | None = None,
    ) -> Observations:
        """Return daily series of a product in a basin.

        Args:
            product: `usgs` for gauged discharge, or a weather product; `basin` lists the stored ones.
            units: of discharge: m3/s (default), mm/day, cfs, or `source` for the unit that it is stored in.
            area: the name of the drainage area for depths.
            known_at: as of an instant, with its offset.
        """
        asked = {"product": product, "variable": variable, "start": start, "end": end, "units": units, "area": area}
        return self._read(Observations, f"/v1/basins/{basin}/observations", **asked, known_at=known_at)

    def normals(
        self,
        basin: str,
        variable: str | None = None,
        *,
        product: str | None = None,
        start: date | None = None,
        end: date | None = None,
        units: str | None = None,
        area: str | None = None,
    ) -> Normals:
        """Return what is usual on the days of the year."""
        asked = {"product": product, "variable": variable, "start": start, "end": end, "units": units, "area": area}
        return self._read(Normals, f"/v1/basins/{basin}/normals", **asked)

    def thresholds(self, basin: str, *, units: str | None = None, area: str | None = None) -> Thresholds:
        """Return the levels of flood and low flow of a basin."""
        return self._read(Thresholds, f"/v1/basins/{basin}/thresholds", units=units, area=area)

    def put_threshold(self, basin: str, threshold: str, level: Body) -> FixedThreshold:
        """Set a level of your own."""
        return self._send(FixedThreshold, "PUT", f"/v1/basins/{basin}/thresholds/{threshold}", level)

    def put_flood_frequency(self, basin: str, floods: Body) -> FloodFrequency:
        """Set how the floods of a basin's record are analysed."""
        return self._send(FloodFrequency, "PUT", f"/v1/basins/{basin}/flood-frequency", floods)

    def put_flood_categories(self, basin: str, categories: Body) -> FloodCategories:
        """Set the official flood categories of a basin."""
        return self._send(FloodCategories, "PUT", f"/v1/basins/{basin}/flood-categories", categories)

    def rating(self, basin: str) -> RatingTable:
        """Return the rating table of a basin that holds today."""
        return self._read(RatingTable, f"/v1/basins/{basin}/rating")

    def put_rating(self, basin: str, rating: Body) -> NewRatingTable:
        """Set the rating table of a basin's gauge."""
        return self._send(NewRatingTable, "PUT", f"/v1/basins/{basin}/rating", rating)

    def stage(self, basin: str) -> StageOfRun:
        """Return the latest forecast of a basin as stage."""
        return self._read(StageOfRun, f"/v1/basins/{basin}/forecasts/latest/stage")

    def confirm_threshold(self, basin: str, threshold: str) -> FixedThreshold:
        """Confirm a level of a basin that seems wrong."""
        return self._send(FixedThreshold, "PUT", f"/v1/basins/{basin}/thresholds/{threshold}/confirmation")

    def delete_threshold(self, basin: str, threshold: str) -> None:
        """Remove a level of your own."""
        self._delete(f"/v1/basins/{basin}/thresholds/{threshold}")

    def alerts(self, least_severity: str = "advisory") -> Iterator[Alert]:
        """Yield the active alerts of all basins."""
        return self._items(Alerts, "/v1/alerts", "alerts", least_severity=least_severity)

    def alerts_of_basin(self, basin: str) -> BasinAlerts:
        """Return the alerts of a basin, level by level."""
        return self._read(BasinAlerts, f"/v1/basins/{basin}/alerts")

    def alert_changes(self, basin: str) -> Iterator[AlertChange]:
        """Yield the alert history of a basin, the newest change first."""
        return self._items(AlertChanges, f"/v1/basins/{basin}/alerts/changes", "changes")
