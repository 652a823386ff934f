"""The sources of weather that is missing in a version's product, and the weather of a basin put together from them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period, day, days_between
from hydrology.base.reasons import Reason
from hydrology.weather.bridge import BRIDGED
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.forecast_errors import assumed
from models.forcing import Array
from operations.forecasting.weather_ahead import RunDays, WeatherAhead, bridged, climatology, with_traces
from operations.forecasting.weather_skill import Compared, weather_of
from operations.weather import fit_bridges
from records.runs.run_weather import FilledWeather, Origin, RunWeather
from records.series import revisions
from records.weather import bridges
from records.weather.bridges import InForce

OTHER_YEARS = Origin(source="climatology")
_MARGIN = np.timedelta64(2, "D")
"""Days before the missing ones that a bridge may take precipitation from."""


@dataclass(frozen=True, slots=True)
class Supply:
    """The weather of a basin's days ahead from one source; (traces, days, variables), NaN where unknown.

    Its correlation is with the weather that comes, (days, variables); a weather forecast passed through bridges.
    """

    origin: Origin
    labels: tuple[str, ...] | None
    values: Array
    correlation: npt.NDArray[np.float64]
    over: tuple[InForce, ...] = ()


def of_product(of: Compared) -> dict[str, Supply]:
    """Return what is observed in the version's product on the past days, by basin."""
    origin, supplies = Origin(source="product", name=of.product), {}
    for name, forcing in of.forcings.items():
        values = _past_only(of, forcing.values_over(of.days.ahead)[np.newaxis])
        supplies[name] = Supply(origin, None, values, np.ones(values.shape[1:]))
    return supplies


def of_bridges(
    session: Session, of: Compared, only: Collection[str] | None, by: datetime | None
) -> Iterator[tuple[str, Supply]]:
    """Yield what is observed in other products on the past days, through their bridges, with the basin.

    Only bridges with these ids; None: the newest of each name, those with the most skilful precipitation first. Only
    days that had arrived by an instant; None: whenever they did.
    """
    ahead, variables = of.days.ahead, of.variables
    targets = {of.product, *(one.bridge.to_product for one in of.in_force.values())}
    for found in bridges.to_products(session, targets, [*of.forcings], only):
        name, own = found.part.basin_id, of.in_force.get(found.part.basin_id)
        names = {of.product} if own is None else {of.product, own.bridge.to_product}
        if found.bridge.to_product not in names or found.bridge.name == of.product:
            continue
        product, known = found.bridge.from_product, Period(ahead.first - _MARGIN, of.days.last_past)
        if by is not None:
            last = revisions.last_arrived(session, [name], product, BRIDGED, by).get(name)
            if last is None or last < ahead.first:
                continue
            known = Period(known.first, min(known.last, last))
        weather = fit_bridges.weather_of(session, name, product, known)
        if weather is not None:
            over = found.part.corrections.apply(weather).over(ahead).values
            values = _past_only(of, _stacked(over, variables, (1, len(ahead))))
            skill = np.array([_skill(found, variable) for variable in variables])
            origin = Origin(source="bridge", id=found.bridge.id, name=found.bridge.from_product)
            yield name, Supply(origin, None, values, np.tile(skill, (len(ahead), 1)))


def of_forecast(
    session: Session, of: Compared, used: RunWeather, issue: str, forecasts: Mapping[str, WeatherForecast]
) -> dict[str, Supply | Absent]:
    """Return the weather of an issue of a model, by basin, or why it cannot be converted to the product.

    The skill of the model of the run's own issue (`used`) counts for the others, too.
    """
    days = dict.fromkeys(forecasts, of.days)
    shown = bridged(session, forecasts, of.product, days, of.in_force, whole=False)
    variables, supplies = of.variables, dict[str, Supply | Absent]()
    for name, one in shown.items():
        if isinstance(one, Absent):
            supplies[name] = one
            continue
        reference = day(forecasts[name].issue.reference_time.date())
        places = np.arange(of.days.horizon) + days_between(one.first, of.days.ahead.first)
        inside = (places >= 0) & (places < len(one.period))
        of_days = {
            variable: np.where(inside, values[:, np.where(inside, places, 0)], np.nan)
            for variable, values in one.values.items()
        }
        values = _stacked(of_days, variables, (len(one.traces), of.days.horizon))
        leads = np.arange(of.days.horizon) + days_between(reference, of.days.ahead.first)
        by_lead = np.array([used.skill.correlations[variable] for variable in variables]).T
        origin = Origin(source="forecast", id=issue, name=used.model, reference_day=str(reference))
        supplies[name] = Supply(origin, one.traces, values, by_lead[np.clip(leads, 0, len(by_lead) - 1)], one.over)
    return supplies


def of_other_years(of: Compared, name: str, ended: Day) -> Supply | Absent:
    found = climatology(name, of.forcings[name], of.days, ended)
    if isinstance(found, Absent):
        return found
    values = weather_of(found.forcing).astype(np.float32)
    return Supply(OTHER_YEARS, found.traces, values, np.zeros(values.shape[1:]))


def _past_only(of: Compared, values: Array) -> Array:
    """Return values (traces, days, variables), unknown on the days that have not ended."""
    past = np.arange(of.days.horizon) < of.days.filled
    return np.where(past[:, np.newaxis], values, np.float32(np.nan))


def _stacked(
    by_variable: Mapping[str, npt.NDArray[np.floating]], variables: tuple[str, ...], shape: tuple[int, int]
) -> Array:
    """Return values (traces, days, variables), NaN for variables that a source lacks."""
    unknown = np.full(shape, np.nan)
    of_each = [np.broadcast_to(by_variable.get(name, unknown), shape) for name in variables]
    return np.stack(of_each, axis=-1).astype(np.float32)


def _skill(found: InForce, variable: str) -> float:
    """Return the correlation of a bridge's daily values; a pooled one counts as a forecast's first day."""
    skill = None if found.part.skill is None else found.part.skill.variables.get(variable)
    known = None if skill is None else skill.bridged.correlation
    return float(assumed(variable, 1)[0]) if known is None else min(max(known, 0.0), 1.0)


MIN_SHARE = 0.5
"""Share of the days to come that a weather forecast must still hold: with fewer, other years are worth more."""
Labels = tuple[FilledWeather, ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """The weather of a basin after T0, or why it has none; its days, and the bridges of the weather forecast."""

    outcome: WeatherAhead | Absent
    days: RunDays
    over: tuple[InForce, ...] = ()


@dataclass(slots=True)
class Mosaic:
    """The weather of a basin's days ahead, put together from sources; at first none, with the traces of its main one.

    Attributes:
        main: the source that is not labelled on the days to come.
        stored: the labels to follow; None for a new run.
        values: (traces, days, variables).
        places: which of `origins` a value comes from, (days, variables); -1 where it is unknown.
        correlation: (days, variables).
    """

    of: Compared
    basin: str
    main: Supply
    stored: Labels | None
    labels: tuple[str, ...] | None = field(init=False)
    values: Array = field(init=False)
    places: npt.NDArray[np.int64] = field(init=False)
    correlation: npt.NDArray[np.float64] = field(init=False)
    origins: list[Origin] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.labels, self.values = self.main.labels, np.full(self.main.values.shape, np.nan, np.float32)
        self.places, self.correlation = np.full(self.values.shape[1:], -1), np.zeros(self.values.shape[1:])

    @property
    def unknown(self) -> npt.NDArray[np.bool_]:
        """Where no source has given a value yet, (days, variables)."""
        return np.asarray(self.places < 0)

    @property
    def lacks_past(self) -> bool:
        return bool(self.unknown[: self.of.days.filled].any())

    def add(self, supply: Supply) -> None:
        """Take what is unknown from a source. Its traces go to those with their labels, else one after the other."""
        new = self.unknown & np.isfinite(supply.values).all(axis=0) & self._allowed(supply.origin)
        if not new.any():
            return
        count = len(supply.values)
        if supply.origin == OTHER_YEARS and count > len(self.values):
            self.values, self.labels = self.values[np.arange(count) % len(self.values)], supply.labels
        rows = np.arange(len(self.values)) % count
        if supply.labels is not None and self.labels is not None and set(self.labels) <= set(supply.labels):
            rows = np.array([supply.labels.index(label) for label in self.labels])
        self.values[:, new] = supply.values[rows][:, new]
        self.correlation[new] = supply.correlation[new]
        self.places[new] = len(self.origins)
        self.origins.append(supply.origin)

    def _allowed(self, origin: Origin) -> npt.NDArray[np.bool_]:
        if self.stored is None:
            return np.ones(self.places.shape, bool)
        labelled = np.zeros((2, *self.places.shape), bool)  # by any source, and by this one
        for label in self.stored:
            columns = [at for at, name in enumerate(self.of.variables) if name in label.correlations]
            days = label.days_from(self.of.days.ahead.first)
            labelled[0, days, columns] = True
            labelled[1, days, columns] |= label.origin == origin
        return np.asarray(labelled[1] | (~labelled[0] & (origin == self.main.origin)))

    def result(self) -> Filled:
        """Return the weather as far as it is known from T0 on, or why that is not far enough."""
        of, days, unknown = self.of, self.of.days, self.unknown.any(axis=1)
        held = int(unknown.argmax()) if unknown.any() else days.horizon
        needed = days.filled + max(1, ceil(MIN_SHARE * days.to_come.horizon))
        if held < (needed if self.stored is None else days.horizon):
            missing = [name for name, lacks in zip(of.variables, self.unknown[held], strict=True) if lacks]
            first = str(days.ahead.first + held)
            why = absent(Reason.WEATHER_NOT_FILLED, basin=self.basin, variables=", ".join(missing), day=first)
            return Filled(why, days)
        labels = self._labels(held) if self.stored is None else self.stored
        values, traces = self.values[: len(self.main.values)], self.main.labels
        # Other years that only fill days after those that are held add no traces.
        if OTHER_YEARS in {self.origins[place] for place in np.unique(self.places[:held])}:
            values, traces = self.values, self.labels
        mass, others = (np.ascontiguousarray(part) for part in (values[:, :held, 0], values[:, :held, 1:]))
        ahead = with_traces(traces, of.forcings[self.basin].forcing, days.ahead.first, mass, others)
        return Filled(replace(ahead, filled=labels), replace(days, horizon=held), self.main.over)

    def _labels(self, held: int) -> Labels:
        """Return the labels of the first days: of each past one, and of what does not come from the main source."""
        spans: dict[tuple[Origin, tuple[int, ...]], list[list[int]]] = {}
        for at in range(held):
            by_origin: dict[Origin, list[int]] = defaultdict(list)
            for variable, place in enumerate(self.places[at].tolist()):
                if at < self.of.days.filled or self.origins[place] != self.main.origin:
                    by_origin[self.origins[place]].append(variable)
            for origin, columns in by_origin.items():
                of_source = spans.setdefault((origin, tuple(columns)), [])
                if of_source and of_source[-1][-1] == at - 1:
                    of_source[-1].append(at)
                else:
                    of_source.append([at])
        found = [self._label(origin, columns, at) for (origin, columns), runs in spans.items() for at in runs]
        return tuple(sorted(found, key=lambda label: label.first))

    def _label(self, origin: Origin, columns: Sequence[int], at: Sequence[int]) -> FilledWeather:
        first, variables = self.of.days.ahead.first, self.of.variables
        skill = np.round(self.correlation[at[0] : at[-1] + 1], 4)
        return FilledWeather(
            source=origin.source,
            id=origin.id,
            name=origin.name,
            reference_day=origin.reference_day,
            first=str(first + at[0]),
            last=str(first + at[-1]),
            correlations={variables[column]: skill[:, column].tolist() for column in columns},
        )
