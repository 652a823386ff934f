"""The skill of a weather model: how its past forecasts agree with the weather that came, by variable and lead.

Only weather is compared, so that a forecast counts from the day after its first day on, long before the observed flow
has settled. Some basins and issues represent the others: the errors of a day are alike in neighbouring basins.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Days, Period, day, days_between
from hydrology.climatology.normals import similar_days
from hydrology.weather.forecast_errors import OtherWeather, correlations
from jobspec.training import InputsConfig
from models.forcing import Forcing, days_of
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.weather_ahead import RunDays, bridged
from operations.states.advance_states import ONE_DAY
from records.runs.run_weather import WeatherSkill
from records.weather import weather_issues
from records.weather.bridges import InForce

BASINS, ISSUES = 20, 15
"""Maximum number of basins and of past issues that are compared."""
SINCE = np.timedelta64(120, "D")
"""Age of the oldest of these issues: the skill is that of the season."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What forecasts known by `at` are compared with: the weather of a version's product until T0."""

    product: str
    inputs: InputsConfig
    forcings: Mapping[str, BasinForcing]
    in_force: Mapping[str, InForce]
    days: RunDays
    at: datetime

    @property
    def variables(self) -> tuple[str, ...]:
        """What the version takes, precipitation first."""
        return (self.inputs.mass, *self.inputs.auxiliary)

    def skill(self, session: Session, issue: weather_issues.Issue) -> WeatherSkill:
        """Return the skill of a weather forecast's model by its earlier issues, and by what is assumed."""
        leads = max(days_between(day(issue.reference_time.date()), self.days.ahead.last) + 1, 1)
        names, t0 = _spread_out([*self.forcings], BASINS), self.days.t0
        earlier = weather_issues.since(
            session, issue.source, issue.model, names, days=Period(t0 - SINCE, t0), before=issue.reference_time
        )
        pairs = []
        for name, reference in _spread_out(earlier, ISSUES):
            of_issue = [*self._pairs(session, name, reference, names, leads)]
            if of_issue:
                forecast, came = (np.stack(scores) for scores in zip(*of_issue, strict=True))
                pairs.append((forecast, came))
        by_variable = correlations(self.variables, leads, pairs)
        rounded = {name: np.round(values, 4).tolist() for name, values in by_variable.items()}
        return WeatherSkill(issues=len(pairs), correlations=rounded)

    def _pairs(
        self, session: Session, issue: str, reference: Day, names: Sequence[str], leads: int
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the scores of a forecast and of the weather that came, (leads, variables) each, by basin."""
        compared = Period(reference, reference + np.timedelta64(leads - 1, "D"))
        read = weather_issues.read_many(session, issue, names, self.at)
        held = {name: forecast.period.overlap(compared) for name, forecast in read.items()}
        days = {
            name: RunDays(of.first - ONE_DAY, len(of))
            for name, of in held.items()
            if of is not None and of.first <= self.days.t0  # a day of it has come
        }
        forecasts = {name: forecast for name, forecast in read.items() if name in days}
        for name, shown in bridged(session, forecasts, self.product, days, self.in_force).items():
            record, of = self.forcings[name].forcing, days[name].ahead
            came_days = Period(record.period.first, min(record.period.last, self.days.t0)).overlap(of)
            other = other_weather(record, of, self.days.t0)
            if isinstance(shown, Absent) or other is None or came_days is None:
                continue
            scores, came = np.full((2, leads, other.values.shape[-1]), np.nan)
            at = days_of(compared, of)
            of_shown = days_of(shown.period, of)
            weather = np.stack([shown.values[name][:, of_shown] for name in self.variables], axis=-1)
            scores[at] = other.scores(weather.astype(np.float64)).mean(axis=0)
            of_record = np.full((1, *other.values.shape[1:]), np.nan)
            of_record[0, days_of(of, came_days)] = weather_of(record.over(came_days))[0]
            came[at] = other.scores(of_record)[0]
            yield scores, came


def other_weather(
    record: Forcing, days: Period, known: Day, among: Collection[date] | None = None
) -> OtherWeather | None:
    """Return the weather of a basin on similar days of other years; None where no such days are complete.

    No day after `known` is read. `among` has the first days of the years to take (`complete_years`); None for all.
    """
    firsts, values = _complete(record, days, known)
    if among is not None:
        values = values[[first in among for first in firsts.tolist()]]
    return OtherWeather(values.astype(np.float64)) if len(values) else None


def complete_years(record: Forcing, days: Period, known: Day) -> frozenset[date]:
    """Return the first of the days of each other year that `other_weather` takes."""
    return frozenset(_complete(record, days, known)[0].tolist())


def _complete(record: Forcing, days: Period, known: Day) -> tuple[Days, Array]:
    """Return the first days of other years, (years,), and their weather, (years, days, variables)."""
    whole = Period(record.period.first, min(record.period.last, known))
    similar = np.array(similar_days(days, whole), "datetime64[D]").reshape(-1, len(days))
    places = (similar - record.period.first).astype(np.int64)
    values = np.concatenate([record.mass[0, places][..., np.newaxis], record.auxiliary[0, places]], axis=-1)
    complete = np.isfinite(values).all(axis=(1, 2))
    return similar[complete, 0], values[complete]


def weather_of(forcing: Forcing) -> Array:
    """Return precipitation and the other variables, (basins, days, variables)."""
    both = np.concatenate([forcing.mass[..., np.newaxis], forcing.auxiliary], axis=-1)
    return np.asarray(both, dtype=np.float64)


def _spread_out(items: Sequence[Any], most: int) -> list[Any]:
    count = min(len(items), most)
    return [items[round(at)] for at in np.linspace(0, len(items) - 1, count).tolist()] if count else []
