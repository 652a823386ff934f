"""Forecasts, runs, and the water behind them."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime

from app.forecasts.changes.schemas import ChangeOfRun
from app.forecasts.exceedance.schemas import ExceedanceOfRun
from app.forecasts.rain_margin.schemas import RainMarginOfRun
from app.forecasts.recession.schemas import DrainDownOfRun
from app.forecasts.runs.schemas import RunDetail, RunPage, RunSummary
from app.forecasts.schemas import BasinForecast, BasinForecasts
from app.forecasts.spread_schemas import SpreadOfRun
from app.forecasts.states.schemas import StateDetail, StatePage, StateSummary
from app.forecasts.volumes.schemas import VolumesOfRun
from app.forecasts.water.schemas import AgeOfRun, BalanceOfRun, LongTermBalance, OriginOfRun, StorageOfRun
from app.forecasts.what_if_runs.schemas import WhatIfOfRun
from app.outlooks.schemas import BasinOutlook, OutlookPage
from freshet.client.resource import Resource


class Forecasts(Resource):
    """Forecasts, runs, and the water behind them; `run`: of a run, by default the latest forecast."""

    def forecast(
        self, basin: str, *, units: str = "m3/s", members: bool = False, known_at: datetime | None = None
    ) -> BasinForecast:
        """Return the latest forecast of a basin.

        Args:
            units: of discharge: m3/s, mm/day or cfs.
            members: whether to include every member.
            known_at: as of an instant, with its offset.
        """
        path = f"/v1/basins/{basin}/forecasts/latest"
        return self._read(BasinForecast, path, units=units, members=members, known_at=known_at)

    def forecasts(
        self,
        basins: Sequence[str] | None = None,
        *,
        huc: str | None = None,
        bbox: str | None = None,
        updated_since: datetime | None = None,
        units: str = "m3/s",
        members: bool = False,
        known_at: datetime | None = None,
    ) -> BasinForecasts:
        """Return the latest forecasts of up to 500 basins in one answer: those named, or those of a place."""
        asked = {"basins": basins and ",".join(basins), "huc": huc, "bbox": bbox, "updated_since": updated_since}
        return self._read(BasinForecasts, "/v1/forecasts", **asked, units=units, members=members, known_at=known_at)

    def forecast_of_run(self, run: str, basin: str, *, units: str = "m3/s", members: bool = False) -> BasinForecast:
        """Return the forecast of a given run for a basin."""
        return self._read(BasinForecast, f"/v1/runs/{run}/basins/{basin}", units=units, members=members)

    def runs(
        self,
        basin: str | None = None,
        *,
        version: str | None = None,
        purpose: str | None = None,
        t0_from: date | None = None,
        t0_to: date | None = None,
        issued_after: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Iterator[RunSummary]:
        """Yield runs, the newest first: of a basin, of a version, with T0 in a period."""
        asked = {"basin": basin, "version": version, "purpose": purpose, "t0_from": t0_from, "t0_to": t0_to}
        return self._items(RunPage, "/v1/runs", "runs", **asked, issued_after=issued_after, known_at=known_at)

    def run(self, run: str) -> RunDetail:
        """Return the outcome of a run, basin by basin."""
        return self._read(RunDetail, f"/v1/runs/{run}")

    def changes(self, basin: str, *, units: str = "m3/s", known_at: datetime | None = None) -> ChangeOfRun:
        """Return why the latest forecast differs from the previous one."""
        return self._read(ChangeOfRun, f"/v1/basins/{basin}/forecasts/latest/changes", units=units, known_at=known_at)

    def changes_of_run(self, run: str, basin: str, *, units: str = "m3/s") -> ChangeOfRun:
        """Return why the forecast of a given run differs from the previous one."""
        return self._read(ChangeOfRun, f"/v1/runs/{run}/basins/{basin}/changes", units=units)

    def rain_margin(
        self, basin: str, *, discharge: float | None = None, units: str = "m3/s", run: str | None = None
    ) -> RainMarginOfRun:
        """Return the rain that takes flow to a basin's levels, or to a discharge."""
        asked = {"discharge": discharge, "units": units, "run": run}
        return self._read(RainMarginOfRun, f"/v1/basins/{basin}/rain-margin", **asked)

    def outlook(self, basin: str, *, run: str | None = None, units: str = "m3/s") -> BasinOutlook:
        """Return a basin in short: each number of its present state and forecast, once."""
        return self._read(BasinOutlook, f"/v1/basins/{basin}/outlook", run=run, units=units)

    def outlooks(
        self, *, q: str | None = None, huc: str | None = None, bbox: str | None = None, units: str = "m3/s"
    ) -> Iterator[BasinOutlook]:
        """Yield the outlooks of basins, in the order of their identifiers."""
        return self._items(OutlookPage, "/v1/outlooks", "outlooks", q=q, huc=huc, bbox=bbox, units=units)

    def exceedance(
        self, basin: str, *, discharge: float | None = None, units: str = "m3/s", run: str | None = None
    ) -> ExceedanceOfRun:
        """Return the exceedance probabilities of a basin's levels, or of a discharge."""
        asked = {"discharge": discharge, "units": units, "run": run}
        return self._read(ExceedanceOfRun, f"/v1/basins/{basin}/exceedance", **asked)

    def volumes(self, basin: str, *, season: str | None = None, run: str | None = None) -> VolumesOfRun:
        """Return the seasonal volume, of a season such as `04-01..07-31`."""
        return self._read(VolumesOfRun, f"/v1/basins/{basin}/volumes", season=season, run=run)

    def what_if(self, basin: str, *, run: str | None = None, units: str | None = None) -> WhatIfOfRun:
        """Return a what-if run beside its forecast."""
        return self._read(WhatIfOfRun, f"/v1/basins/{basin}/what-if", run=run, units=units)

    def storage(self, basin: str, *, run: str | None = None, past_days: int | None = None) -> StorageOfRun:
        """Return the water stored in a basin on the days ahead, and its snow.

        Args:
            past_days: number of days up to T0 whose water is included.
        """
        return self._read(StorageOfRun, f"/v1/basins/{basin}/storage", run=run, past_days=past_days)

    def origin(self, basin: str, *, run: str | None = None) -> OriginOfRun:
        """Return where the water of the coming discharge was at T0."""
        return self._read(OriginOfRun, f"/v1/basins/{basin}/origin", run=run)

    def age(self, basin: str, *, run: str | None = None) -> AgeOfRun:
        """Return the coming discharge by the season in which its water fell."""
        return self._read(AgeOfRun, f"/v1/basins/{basin}/age", run=run)

    def water_balance(self, basin: str, *, run: str | None = None) -> BalanceOfRun:
        """Return the water balance of the forecast, of every member."""
        return self._read(BalanceOfRun, f"/v1/basins/{basin}/water-balance", run=run)

    def long_term_balance(self, basin: str, *, run: str | None = None) -> LongTermBalance:
        """Return the water balance from the empty store to T0, with observed runoff."""
        return self._read(LongTermBalance, f"/v1/basins/{basin}/long-term-balance", run=run)

    def spread(self, basin: str, *, run: str | None = None) -> SpreadOfRun:
        """Return the spread of a forecast's discharge, and its sources."""
        return self._read(SpreadOfRun, f"/v1/basins/{basin}/spread", run=run)

    def drain_down(
        self, basin: str, *, t0: date | None = None, run: str | None = None, units: str | None = None
    ) -> DrainDownOfRun:
        """Return the recession of discharge if no more rain fell."""
        return self._read(DrainDownOfRun, f"/v1/basins/{basin}/drain-down", t0=t0, run=run, units=units)

    def states(self, basin: str, *, version: str | None = None) -> Iterator[StateSummary]:
        """Yield the stored model states of a basin, the newest day first; of a version, by default the current one."""
        return self._items(StatePage, f"/v1/basins/{basin}/states", "states", version=version)

    def state(self, basin: str, day: date, *, version: str | None = None) -> StateDetail:
        """Return the model state of a day with its arrays."""
        return self._read(StateDetail, f"/v1/basins/{basin}/states/{day.isoformat()}", version=version)
