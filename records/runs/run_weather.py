"""What a run was asked for, its weather and its parts: JSON with it that outlives forecasts and bridges."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, day, days_between
from hydrology.base.digests import fingerprint
from hydrology.base.errors import counted
from records.database.base import CLOSED

OBSERVED = "observed"
"""The name of observed weather, beside those of weather forecasts."""


def name_of_weather(source: str, model: str) -> str:
    """Return the name of a weather model's forecasts."""
    return f"{source}/{model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherSkill:
    """How well a weather model's forecasts agree with the weather that came.

    Attributes:
        issues: number of past issues behind it; 0: it is assumed.
        correlations: of normal scores, by variable, for each day from the reference day on
            (`hydrology.weather.forecast_errors`).
    """

    __pydantic_config__ = CLOSED

    issues: int
    correlations: dict[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecalibration:
    """How forecasts with a weather model are recalibrated (`hydrology.uncertainty.recalibration`).

    Attributes:
        fitted_on: the T0 within which it was fitted, `FIRST..LAST`; None where it is assumed.
        issue_days: number of T0 that it was fitted to; reforecast_days: those of them of reforecasts alone.
        days: number of observed flows that it was fitted to, over all basins and leads.
        centre, spread: the mean and the standard deviation of the scores, by lead.
    """

    __pydantic_config__ = CLOSED

    fitted_on: str | None
    issue_days: int
    reforecast_days: int
    days: int
    centre: list[float]
    spread: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWeather:
    """A weather forecast, as in `records.weather.weather_issues.Issue`.

    `available_time` is the latest of the run's basins.
    """

    __pydantic_config__ = CLOSED

    id: str
    source: str
    model: str
    reference_time: datetime
    available_time: datetime
    licence: str | None
    credit: str | None
    skill: WeatherSkill
    recalibration: RunRecalibration

    @property
    def name(self) -> str:
        """Its source and model."""
        return name_of_weather(self.source, self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWhatIf:
    """The request of a what-if run.

    `changes` have the form of `jobspec.changes.Changes.as_json`; empty for a run to compare with. `base` is the run
    without changes to compare with; None if the run itself has none.
    """

    __pydantic_config__ = CLOSED

    changes: dict[str, Any]
    note: str | None = None
    by: str | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBridge:
    """A bridge, as in `records.weather.bridges`.

    Attributes:
        model: of the weather forecasts that it converts; None for observed weather and forecasts that continue it.
        pooled_from: the similar basins that it was fitted in; empty if it was fitted here.
        precipitation_bias: relative, on days outside the fit; None if pooled, as the correlation of daily values.
    """

    __pydantic_config__ = CLOSED

    id: str
    name: str
    from_product: str
    to_product: str
    model: str | None
    pooled_from: tuple[str, ...]
    precipitation_bias: float | None
    precipitation_correlation: float | None
    sha256: str

    @property
    def note(self) -> str:
        """Its skill, in a sentence without the full stop."""
        source = self.from_product
        if self.model is not None:
            source = f"A weather forecast of {self.model}, of which {source} holds past ones,"
        way = f"{source} is bridged to {self.to_product}"
        if self.precipitation_bias is None:
            count = len(self.pooled_from)
            return (
                f"{way} as in {counted(count, 'basin')} like this one: there are too few days to fit it, or "
                "to judge it, here"
            )
        worth = (
            f"{way}: on water years that it was not fitted on, precipitation is {self.precipitation_bias:+.0%} off in "
            "its sum"
        )
        if self.precipitation_correlation is None:
            return worth
        return f"{worth}, and its daily values have a correlation of {self.precipitation_correlation:.2f}"


WeatherSource = Literal["product", "bridge", "forecast", "climatology"]
"""Source of a day's weather. `product`: observed, in the version's product. `bridge`: observed, in another product
through its bridge. `forecast`: a weather forecast. `climatology`: other years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where weather comes from.

    `name` is the product, or the weather model; None for other years.
    """

    source: WeatherSource
    id: str | None = None
    name: str | None = None
    reference_day: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledWeather(Origin):
    """The source of some variables on consecutive days.

    `correlations` is the expected skill: of normal scores with the weather that comes
    (`hydrology.weather.forecast_errors`), by variable, for each of the days.
    """

    __pydantic_config__ = CLOSED

    first: str
    last: str
    correlations: dict[str, list[float]]

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return Origin(source=self.source, id=self.id, name=self.name, reference_day=self.reference_day)

    def days_from(self, first: Day) -> slice:
        """Return the days as a slice of days that begin with the first."""
        return slice(days_between(first, day(self.first)), days_between(first, day(self.last)) + 1)


def sources_only(filled: Iterable[FilledWeather]) -> list[list[str | None]]:
    """Return the days, variables and sources of filled weather, without the skill expected of it."""
    return [[of.first, of.last, of.source, of.id, of.name, of.reference_day, *sorted(of.correlations)] for of in filled]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """A part that took part in a basin.

    Attributes:
        weight: its share of the flow here, of all shares 1.
        parent_day, parent_hash: its initial state; None for the empty store.
        filled_weather: the days ahead whose weather of its product was not observed in time or not forecast.
    """

    __pydantic_config__ = CLOSED

    name: str
    version: str
    product: str
    weight: float
    parent_day: str | None
    parent_hash: str | None
    state_hash: str
    inputs_hash: str
    filled_weather: tuple[FilledWeather, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSubset:
    """A combined version without some of its parts.

    Attributes:
        products: those that took part; where other parts on a product did not, the names of those that did.
        nse: the score of the same products alone in the evaluation of the version, nse_of_all: that with all, over the
            same days (`period`, FIRST..LAST); None where it was not evaluated in this basin.
        without_nse: why no evaluation knows `nse`; None where one does or would.
    """

    __pydantic_config__ = CLOSED

    products: tuple[str, ...]
    missing: Mapping[str, Absent]
    nse: float | None = None
    nse_of_all: float | None = None
    period: str | None = None
    without_nse: Absent | None = None


def weights_of_members(parts: Sequence[RunPart], labels: Sequence[str]) -> Array | None:
    """Return members' weights in a basin, (members,), of sum 1; None: all equal."""
    if not parts:
        return None
    names = [label.rpartition("-")[0] for label in labels]
    of_parts = {part.name: part.weight / names.count(part.name) for part in parts}
    return np.array([of_parts[name] for name in names])


def subset_note(subset: RunSubset) -> str:
    """Describe a combined version without some of its parts, with the skill to expect."""
    alone = " and ".join(subset.products)
    sentence = " ".join([f"On {alone} alone.", *_reasons(subset.missing)])
    if subset.without_nse is not None:
        return f"{sentence} {subset.without_nse}"
    if subset.nse is None:
        return f"{sentence} The skill of {alone} alone here is not known: evaluate the version in this basin."
    with_all = "" if subset.nse_of_all is None else f", with all products {subset.nse_of_all:.2f}"
    return f"{sentence} In the evaluation over {subset.period} its NSE on {alone} alone was {subset.nse:.2f}{with_all}."


def _reasons(missing: Mapping[str, Absent]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for name, reason in missing.items():
        by_reason.setdefault(str(reason), []).append(name)
    for why, names in by_reason.items():
        yield f"Missing {'is' if len(names) == 1 else 'are'} {' and '.join(names)}: {why}"


def hash_of_parts(hashes: Iterable[tuple[str, str]]) -> str:
    """Return the hash of the states, or inputs, of a run's parts by their names; an unnamed part has its own."""
    (name, own), *others = pairs = [list(pair) for pair in hashes]
    return own if not name and not others else fingerprint(pairs)
