"""What a run was asked for, its weather and its parts: JSON with it that outlives forecasts and bridges."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, day, days_between
from hydrology.base.digests import fingerprint
from hydrology.base.doc import Doc, IsoDay
from hydrology.base.errors import counted
from hydrology.uncertainty.recalibration import weight_of
from hydrology.weather.forcing import Credit, Licence, Provider, ReferenceTime, WeatherModel
from records.database.base import document
from records.database.stored import grouped

OBSERVED = "observed"
"""The name of observed weather, beside those of weather forecasts."""


def name_of_weather(source: str, model: str) -> str:
    return f"{source}/{model}"


@document
class WeatherSkill:
    """How well the forecasts of a weather model agree with the weather that came."""

    issues: Annotated[int, Doc("Number of its past issues that were compared; 0: the skill is assumed.")]
    correlations: Annotated[
        dict[str, list[float]],
        Doc(
            "Correlation of the normal scores of forecast and observed weather, by variable: on the reference day, and "
            "on each day after it."
        ),
    ]


@document
class RunRecalibration:
    """How the distribution is recalibrated by the flow that came after past forecasts with the weather model.

    Attributes:
        days: number of observed flows that it was fitted to, over all basins and leads.
    """

    fitted_on: Annotated[
        str | None,
        Doc(
            "The period of the T0 it was fitted to. Null where too few have been observed: it is assumed.",
            ("1996-05-20..1996-09-30",),
        ),
    ]
    issue_days: Annotated[int, Doc("Number of those T0.")]
    reforecast_days: Annotated[
        int, Doc("Number of them without an issued forecast: computed later, with a past weather forecast.")
    ]
    days: int
    centre: Annotated[
        list[float],
        Doc(
            "By lead, how far what came lay from the middle of the forecasts, as a value of a standard normal "
            "distribution: above 0, forecasts are raised."
        ),
    ]
    spread: Annotated[
        list[float], Doc("By lead, the width that the distribution is multiplied by, between such values.")
    ]

    @property
    def weight(
        self,
    ) -> Annotated[float, Doc("From 0 to 1: the weight of what came after them, against what is assumed.")]:
        return weight_of(self.issue_days)


@document
class RunWeather:
    """The weather forecast used by a run."""

    id: Annotated[str, Doc("Its identifier.", ("01a1f9952f438adb871a00",))]
    source: Provider
    model: WeatherModel
    reference_time: ReferenceTime
    available_time: Annotated[datetime, Doc("Readable since this instant, for all basins of the run.")]
    licence: Licence
    credit: Credit
    skill: WeatherSkill
    recalibration: RunRecalibration

    @property
    def name(self) -> str:
        return name_of_weather(self.source, self.model)


@document
class RunWhatIf:
    """The request of a what-if run.

    `changes` have the form of `jobspec.changes.Changes.as_json`; empty for a run to compare with. `base` is the run
    without changes to compare with; None if the run itself has none.
    """

    changes: dict[str, Any]
    note: str | None = None
    by: str | None = None
    base: str | None = None


@document
class RunBridge:
    """The bridge that corrected the weather of a forecast.

    Attributes:
        precipitation_bias: relative, on days outside the fit; None if pooled, as the correlation of daily values.
    """

    id: str
    name: str
    from_product: Annotated[str, Doc("The product it converts.")]
    to_product: Annotated[str, Doc("The product it converts to.")]
    model: Annotated[str | None, Doc("The weather model whose forecasts it corrects; null for observed weather.")]
    pooled_from: Annotated[
        tuple[str, ...], Doc("The similar basins that its corrections are the mean of; empty if fitted on this basin.")
    ]
    precipitation_bias: float | None
    precipitation_correlation: float | None
    sha256: Annotated[str, Doc("Hash of its corrections, a part of the run's inputs hash.")]

    @property
    def note(self) -> Annotated[str, Doc("Its skill, in a sentence.")]:
        return f"{self.skill}."

    @property
    def skill(self) -> str:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where weather comes from."""

    source: Annotated[
        WeatherSource,
        Doc(
            "`product`: observed, in the version's product. `bridge`: observed, in another product through its bridge. "
            "`forecast`: a weather forecast. `climatology`: other years."
        ),
    ]
    id: Annotated[str | None, Doc("Of the weather forecast or of the bridge; null for the others.")] = None
    name: Annotated[str | None, Doc("The product, or the weather model; null for other years.")] = None
    reference_day: Annotated[IsoDay | None, Doc("Of the weather forecast; null for the others.")] = None


@document
class FilledWeather(Origin):
    """The source of weather that was not observed in time or not forecast."""

    first: Annotated[IsoDay, Doc("The first of consecutive days with this source.")]
    last: Annotated[IsoDay, Doc("The last of them.")]
    correlations: Annotated[
        dict[str, list[float]],
        Doc(
            "Expected skill: the correlation of normal scores with the weather that comes, by variable, for each of "
            "the days."
        ),
    ]

    @property
    def origin(self) -> Origin:
        return Origin(source=self.source, id=self.id, name=self.name, reference_day=self.reference_day)

    def days_from(self, first: Day) -> slice:
        """Return the days as a slice of days that begin with the first."""
        return slice(days_between(first, day(self.first)), days_between(first, day(self.last)) + 1)


def sources_only(filled: Iterable[FilledWeather]) -> list[list[str | None]]:
    """Return the days, variables and sources of filled weather, without the skill expected of it."""
    return [[of.first, of.last, of.source, of.id, of.name, of.reference_day, *sorted(of.correlations)] for of in filled]


@document
class RunPart:
    """A part of a combined version: a version that runs on a weather product of its own."""

    name: Annotated[str, Doc("The beginning of its members' names.", ("daymet",))]
    version: str
    product: Annotated[str, Doc("Its weather product.", ("daymet",))]
    weight: Annotated[float, Doc("Its share of the flow here; all shares add up to 1.", (0.3,))]
    parent_day: Annotated[IsoDay | None, Doc("The day of the state that it started from; null: the empty store.")]
    parent_hash: str | None
    state_hash: Annotated[str, Doc("Hash of its state at T0.")]
    inputs_hash: Annotated[str, Doc("Hash of the weather and attributes that it used.")]
    filled_weather: tuple[FilledWeather, ...] = ()

    @property
    def filled(
        self,
    ) -> Annotated[
        tuple[FilledWeather, ...] | None,
        Doc("Where its weather came from that was not observed in time. Only where there is any."),
    ]:
        return self.filled_weather or None


@document
class RunSubset:
    """A combined version without some of its weather products, with the skill to expect.

    Attributes:
        without_nse: why no evaluation knows `nse`; None where one does or would.
    """

    products: Annotated[
        tuple[str, ...],
        Doc(
            "The products that took part; where another part on a product did not, the name of the part.", (["daymet"],)
        ),
    ]
    missing: Annotated[
        Mapping[str, Absent],
        Doc("Why other parts did not, by their names: the product, where one part alone takes it."),
    ]
    nse: Annotated[float | None, Doc("The NSE with these products alone, in the evaluation of the version.")] = None
    nse_of_all: Annotated[float | None, Doc("The NSE with all of its products there.")] = None
    period: Annotated[str | None, Doc("The days of that evaluation.", ("1989-10-01..1999-09-30",))] = None
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
    for why, names in grouped((str(reason), name) for name, reason in missing.items()).items():
        yield f"Missing {'is' if len(names) == 1 else 'are'} {' and '.join(names)}: {why}"


def hash_of_parts(hashes: Iterable[tuple[str, str]]) -> str:
    """Return the hash of the states, or inputs, of a run's parts by their names; an unnamed part has its own."""
    (name, own), *others = pairs = [list(pair) for pair in hashes]
    return own if not name and not others else fingerprint(pairs)
