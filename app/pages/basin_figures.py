"""The figures of a basin's page, each with the API call behind it, and the runs beside the one shown."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeVar

from sqlalchemy.orm import Session

from app.basins.normals import Normals, normals_of
from app.basins.observations import DISCHARGE, Observations, observation_query, observations_of
from app.basins.queries import NormalsRequest, SeriesRequest
from app.forecasts.discharge import Representation
from app.forecasts.forecast import BasinForecast, forecast_of
from app.forecasts.water import origin as waters
from app.forecasts.water.recession import DrainDownOfRun, recession_of_run
from app.forecasts.water.storage import storage
from app.outlooks.schemas import BasinOutlook
from app.pages.figures import Figure, flow, water, with_usual
from app.pages.figures.flow import Before, Beside, Observed
from hydrology.base.absent import Absent, absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import as_date, day
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import leading
from hydrology.base.reasons import Reason
from hydrology.base.unit_systems import UnitSystem
from hydrology.base.units import Units
from records.forecasts import volumes_and_recessions as dry_runs
from records.forecasts.latest import Latest, result_of
from records.runs import runs
from records.runs.run_types import Run

SNOW, STORAGE = "snow", "storage"
Answer = TypeVar("Answer")
MAX_RUNS = 200
"""Maximum number of runs to step through, newest first."""


@dataclass(frozen=True, slots=True)
class Step:
    """A run that the page links to."""

    run: str
    t0: date


@dataclass(frozen=True, slots=True)
class RunsAround:
    """The previous and next run, and the newest of an earlier T0; None where there is none."""

    earlier: Step | None
    later: Step | None
    before: Step | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinFigures:
    """Builds the figures of a run's forecast (None: the latest), the forecast `before` drawn beside it."""

    session: Session
    forecast: BasinForecast
    latest: Latest
    run: str | None
    before: str | None
    outlook: BasinOutlook
    units: Units
    shown_in: UnitSystem
    now: datetime
    past_days: int

    @property
    def time(self) -> list[date]:
        """The days of the plots."""
        first = self.forecast.t0 - timedelta(days=self.past_days)
        return [first + timedelta(days=ahead) for ahead in range(self.past_days + self.forecast.horizon_days + 1)]

    def build(self) -> list[Figure]:
        """Return the figures: the hydrograph first, then the water, the weather and the recession."""
        time, forecast = self.time, self.forecast
        here, chosen, of_run = f"/v1/basins/{forecast.basin}", "?", f"/v1/basins/{forecast.basin}/forecasts/latest"
        if self.run is not None:
            chosen, of_run = f"?run={self.run}&", f"/v1/runs/{self.run}/basins/{forecast.basin}"
        of_water = f"{here}/storage{chosen}past_days={self.past_days + 1}"
        product = leading(forecast.product)
        past = f"{here}/observations?product={product}&start={time[0]}&end={forecast.t0}"
        of_weather = or_reason(lambda: self._observations(product, None, time[0], forecast.t0))
        normals, dry = or_reason(self._normals), or_reason(self._recession)
        stored = storage(self.session, self.latest, None, self.past_days + 1).past
        beside = Beside(self._observed(), self.outlook, self._before())
        discharge = flow.hydrograph(forecast, beside, self.units, time, of_run)
        of_water_and_weather = (
            with_usual(water.snow(forecast, stored, time, of_water), normals, SNOW, time),
            with_usual(water.storage(forecast, stored, time, of_water), normals, STORAGE, time),
            water.precipitation(forecast, of_weather, time, past),
            water.temperature(forecast, of_weather, time, past),
        )
        by_source = (
            water.origin(waters.origin(self.session, self.latest, None), time, f"{here}/origin{chosen[:-1]}"),
            *self._age(time, f"{here}/age{chosen[:-1]}"),
        )
        return [
            with_usual(discharge, normals, DISCHARGE, time),
            *(figure.shown_in(self.shown_in) for figure in of_water_and_weather),
            *(figure.shown_in(self.shown_in, "mm/day of flow") for figure in by_source),
            flow.drain_down(dry, forecast.basin, self.units, f"{here}/drain-down?units={self.units}"),
        ]

    def _before(self) -> Before | None:
        if self.before is None:
            return None
        before = result_of(self.session, self.before, self.forecast.basin)
        shown = or_reason(lambda: forecast_of(self.session, before, Representation(self.units, members=False)))
        if isinstance(shown, Absent) or (quantiles := flow.flow_of(shown)) is None:
            return None
        return Before(shown.t0, shown.time, quantiles["median"])

    def _age(self, time: Sequence[date], call: str) -> Iterator[Figure]:
        reported = waters.age(self.session, self.latest, None)
        if reported.ages is not None:
            yield water.age(reported, reported.ages, time, call)

    def _recession(self) -> DrainDownOfRun:
        newest = dry_runs.newest_recession(self.session, self.forecast.basin, self.now)
        return recession_of_run(self.session, newest, self.now, self.units)

    def _normals(self) -> Normals:
        time = self.time
        asked = NormalsRequest(
            product=leading(self.forecast.product),
            start=day(time[0]),
            end=day(time[-1]),
            units=self.units,
            area=self._area,
        )
        return normals_of(self.session, self.forecast.basin, asked, self.now)

    @property
    def _area(self) -> str | None:
        return self.forecast.area.name if self.forecast.area and self.units == "mm/day" else None

    def _observed(self) -> Observed:
        first, last = self.time[0], min(self.time[-1], self.now.date())
        product = gauge_product(self.forecast.basin)
        answer = or_reason(lambda: self._observations(product, DISCHARGE, first, last))
        if isinstance(answer, Absent):
            return Observed([], [], str(answer))
        return Observed(answer.time, answer.values[DISCHARGE])

    def _observations(self, product: str, variable: str | None, first: date, last: date) -> Observations:
        units = self.units if variable == DISCHARGE else None
        asked = SeriesRequest(
            product=product,
            variable=variable,
            start=day(first),
            end=day(last),
            units=units,
            area=self._area if units else None,
        )
        basin = self.forecast.basin
        return observations_of(self.session, observation_query(self.session, basin, asked))


def runs_around(session: Session, shown: Latest, at: datetime) -> RunsAround:
    """Return the runs of the same version and horizon beside a run, by T0 and issue."""
    filters = {"basin": shown.basin.basin_id, "version": shown.run.version_id, "purpose": shown.run.purpose}
    listed = runs.list_runs(session, **filters, available_by=at, limit=MAX_RUNS)  # type: ignore[arg-type]
    alike = sorted((run for run in listed if _days_to_come(run) == _days_to_come(shown.run)), key=_order)
    before = [run for run in alike if _order(run) < _order(shown.run)]
    after = [run for run in alike if _order(run) > _order(shown.run)]
    older = [run for run in before if run.t0 < shown.run.t0]
    return RunsAround(_step(before[-1:]), _step(after[:1]), _step(older[-1:]))


def _step(found: Sequence[Run]) -> Step | None:
    return Step(found[0].id, as_date(found[0].t0)) if found else None


def _order(run: Run) -> tuple[object, ...]:
    return run.t0, run.issued_at, run.id


def _days_to_come(run: Run) -> int:
    return run.horizon_days - run.filled_days


def or_reason(read: Callable[[], Answer]) -> Answer | Absent:
    """Return an answer, or the reason why there is none."""
    try:
        return read()
    except (NotFound, InvalidInput) as problem:
        return absent(Reason.FAILED, message=str(problem))
