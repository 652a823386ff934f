"""The figures of a basin's page, each with the API call behind it, and the runs beside the one shown."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TypeVar

from sqlalchemy.orm import Session

from app.basins.normals import Normals, normals_of
from app.basins.observations import DISCHARGE, Observations, observation_query, observations_of
from app.basins.queries import NormalsRequest, SeriesRequest
from app.forecasts import lookup
from app.forecasts.discharge import Representation, usual_units
from app.forecasts.forecast import BasinForecast, forecast_of
from app.forecasts.water import origin as waters
from app.forecasts.water.recession import DrainDownOfRun, recession_of_run
from app.forecasts.water.storage import storage
from app.outlooks.outlooks import answer_of as outlook_answer
from app.outlooks.schemas import BasinOutlook
from app.pages.figures import Curve, Figure, Values, flow, on_days, water, with_usual
from app.pages.figures.flow import Beside
from hydrology.base.absent import Absent, absent, known
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import day
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import leading
from hydrology.base.reasons import Reason
from hydrology.base.unit_systems import UnitSystem
from hydrology.base.units import Units
from hydrology.weather.forcing_kinds import KINDS
from jobspec.extensions import extensions
from records.forecasts import volumes_and_recessions as dry_runs
from records.forecasts.latest import Latest, result_of
from records.levels import basin_levels
from records.outlooks import reader
from records.outlooks.reader import Outlook
from records.runs.run_types import Run
from records.weather import weather_issues

Answer = TypeVar("Answer")
Lines = Mapping[str, Mapping[date, float | None]]
"""Flows by day, by label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinFigures:
    """Builds the figures of a run's forecast (None: the latest), the issue before drawn beside it."""

    session: Session
    latest: Latest
    run: str | None
    forecast: BasinForecast
    found: Outlook
    outlook: BasinOutlook
    units: Units
    shown_in: UnitSystem
    past_days: int
    drawable: Mapping[str, Lines] = field(default_factory=dict)
    drawn: Collection[str] = ()

    @property
    def now(self) -> datetime:
        return self.found.at

    @property
    def time(self) -> list[date]:
        """The days of the plots."""
        first = self.forecast.t0 - timedelta(days=self.past_days)
        return [first + timedelta(days=ahead) for ahead in range(self.past_days + self.forecast.horizon_days + 1)]

    def build(self) -> list[Figure]:
        """Return the figures: the hydrograph first, then the water, the weather and the recession."""
        time, forecast = self.time, self.forecast
        here, chosen = f"/v1/basins/{forecast.basin}", "?" if self.run is None else f"?run={self.run}&"
        of_water = f"{here}/storage{chosen}past_days={self.past_days + 1}"
        product = leading(forecast.product)
        past = f"{here}/observations?product={product}&start={time[0]}&end={forecast.t0}"
        normals, dry = or_reason(self.normals), or_reason(self._recession)
        stored = storage(self.session, self.latest, None, self.past_days + 1).past
        of_water_and_weather = (
            water.weather(forecast, self._weather(), time, past),
            with_usual(water.snow(forecast, stored, time, of_water), normals, "snow", time),
            with_usual(water.storage(forecast, stored, time, of_water), normals, "storage", time),
        )
        drained = flow.drain_down(dry, forecast.basin, self.units, f"{here}/drain-down?units={self.units}")
        aged = waters.age(self.session, self.latest, None)
        by_source = (
            water.origin(waters.origin(self.session, self.latest, None), time, f"{here}/origin{chosen[:-1]}"),
            *([] if aged.ages is None else [water.age(aged, aged.ages, time, f"{here}/age{chosen[:-1]}")]),
        )
        figures = [
            self.hydrograph(normals),
            *(figure.shown_in(self.shown_in) for figure in of_water_and_weather),
            *(figure.shown_in(self.shown_in, "mm/day of flow") for figure in by_source),
            drained.shown_in(self.shown_in),
        ]
        return [figure.but(now=figure.t0 and self.now) for figure in figures]

    def hydrograph(self, normals: Normals | Absent) -> Figure:
        """Return the hydrograph with the usual range of its days."""
        basin, time = self.forecast.basin, self.time
        call = f"/v1/basins/{basin}/forecasts/latest" if self.run is None else f"/v1/runs/{self.run}/basins/{basin}"
        categories = {level.name: level.category for level in basin_levels.of_basin(self.session, basin)}
        rating = None if self.found.rating is None else self.found.rating.rating
        lines = [line for name in self.drawn for line in self.drawable.get(name, {}).items()]
        thin = [
            Curve(label=label, values=[of_days.get(day) for day in time], colour="warm", style="thin")
            for label, of_days in lines
        ]
        beside = Beside(self._observed(), self.outlook, self._before(), rating, categories, thin)
        figure = flow.hydrograph(self.forecast, beside, self.units, time, call).but(now=self.now)
        return with_usual(figure, normals, DISCHARGE, time)

    def alone(self) -> Figure:
        """Return the run's hydrograph on a page of several: observed flow, the forecast and its levels."""
        forecast, beside = self.forecast, Beside(self._observed(), self.outlook)
        call = f"/v1/runs/{forecast.run}/basins/{forecast.basin}"
        figure = flow.hydrograph(forecast, beside, self.units, self.time, call)
        return figure.but(name=f"{forecast.basin}-{forecast.run}")

    def _weather(self) -> dict[str, Values]:
        """Return weather over the days of the plots: observed until T0 (or all), then the mean of the traces."""
        forecast, last = self.forecast, self.forecast.t0
        if KINDS[forecast.forcing_kind].of_record:
            last = self.time[-1]
        observed = or_reason(lambda: self._observations(leading(forecast.product), None, self.time[0], last))
        known: dict[str, dict[date, float | None]] = {}
        if not isinstance(observed, Absent):
            known = {name: dict(zip(observed.time, of_days, strict=True)) for name, of_days in observed.values.items()}
        ahead: dict[str, Values] = {water.PRECIPITATION: forecast.precipitation or [None] * len(forecast.time)}
        if (weather := forecast.weather) is not None:
            issue = or_reason(lambda: weather_issues.read(self.session, weather.id, forecast.basin, self.now))
            if not isinstance(issue, Absent):
                days = issue.period.days.tolist()
                of_traces = {name: values.mean(axis=0).tolist() for name, values in issue.values.items()}
                ahead = {name: on_days(forecast.time, days, values) for name, values in of_traces.items()} | ahead
        for name, of_days in ahead.items():
            known.setdefault(name, {}).update(zip(forecast.time, of_days, strict=True))
        return {name: [of_days.get(day) for day in self.time] for name, of_days in known.items()}

    def _before(self) -> BasinForecast | None:
        if self.outlook.change is None:
            return None
        before = result_of(self.session, self.outlook.change.run, self.forecast.basin)
        return known(or_reason(lambda: forecast_of(self.session, before, Representation(self.units, members=False))))

    def _recession(self) -> DrainDownOfRun:
        newest = dry_runs.newest_recession(self.session, self.forecast.basin, self.now)
        return recession_of_run(self.session, newest, self.now, self.units)

    def normals(self) -> Normals:
        asked = NormalsRequest(
            product=leading(self.forecast.product),
            start=day(self.time[0]),
            end=day(self.time[-1]),
            units=self.units,
            area=self._area,
        )
        return normals_of(self.session, self.forecast.basin, asked, self.now)

    @property
    def _area(self) -> str | None:
        return self.forecast.area.name if self.forecast.area and self.units == "mm/day" else None

    def _observed(self) -> Observations | Absent:
        first, last = self.time[0], min(self.time[-1], self.now.date() - timedelta(days=1))
        product = gauge_product(self.forecast.basin)
        return or_reason(lambda: self._observations(product, DISCHARGE, first, last))

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


def figures_of(
    session: Session,
    basin: str,
    run: str | None,
    now: datetime,
    units: Units,
    *,
    past_days: int = 14,
    members: bool = False,
    drawn: Collection[str] | None = None,
) -> BasinFigures:
    """Read the latest forecast of a basin, or a given run's, for its figures in the chosen units.

    Of what extensions may draw beside it, by name, some is drawn; None: it is not read.
    """
    latest, at = lookup.chosen(session, run, basin, now)
    found, of_flow = reader.outlook(session, basin, now, run), usual_units(latest.basin, units)
    return BasinFigures(
        session=session,
        latest=latest,
        run=run,
        forecast=forecast_of(session, latest, Representation(of_flow, members, at)),
        found=found,
        outlook=outlook_answer(session, found, of_flow),
        units=of_flow,
        shown_in=UnitSystem(units, latest.basin.area),
        past_days=past_days,
        drawable={} if drawn is None else _drawable(session, latest, of_flow),
        drawn=drawn or (),
    )


def _drawable(session: Session, latest: Latest, units: Units) -> dict[str, Lines]:
    found = {name: one.load(of)(session, latest, units) for one in extensions() for name, of in one.drawn.items()}
    return {name: lines for name, lines in found.items() if lines}


def runs_around(session: Session, shown: Latest, at: datetime) -> tuple[Run | None, Run | None]:
    """Return the runs before and after a run of the same version and number of days, by T0 and issue."""
    alike = lookup.alike(session, shown, at)
    before = [run for run in alike if run.order < shown.run.order]
    after = [run for run in alike if run.order > shown.run.order]
    return before[-1] if before else None, after[0] if after else None


def or_reason(read: Callable[[], Answer]) -> Answer | Absent:
    """Return an answer, or the reason why there is none."""
    try:
        return read()
    except (NotFound, InvalidInput) as problem:
        return absent(Reason.FAILED, message=str(problem))
