"""A run's summary of a basin in a few values, with its snow and calibration, stored as JSON with its arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

from hydrology.base.absent import NOT_STORED, Absent, absent, known
from hydrology.base.doc import Doc, IsoPeriod
from hydrology.base.products import Credit
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import (
    MIN_MM,
    REFERENCE,
    SNOW17,
    ModelSnow,
    SnowAgainstNormal,
    SnowEstimate,
    snow_against_normal,
)
from records.database.base import document
from records.runs.run_weather import FilledWeather, RunBridge, RunPart, RunSubset

HARDLY_ANY = absent(Reason.NORMAL_TOO_SMALL, mm=MIN_MM)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingDomain:
    """What a version has learnt from, seen from one basin. None where the run did not come so far.

    Attributes:
        outside_training: the basin's attributes outside the range of the basins that it learnt from; None also if that
            range is not stored.
    """

    seen_in_training: bool | None = None
    outside_training: tuple[str, ...] | None = None
    trained_on: str | None = None
    training_note: str | None = None
    attributes_assumed: tuple[str, ...] | None = None

    def beyond(self, product: str) -> bool:
        """Whether basin, attributes or product lie outside training, or attributes are assumed."""
        known = self.training_note is not None
        like = self.seen_in_training and not self.outside_training and self.trained_on == product
        return known and not (like and not self.attributes_assumed)


LEARNT_FROM = tuple(field.name for field in fields(TrainingDomain))


CalibrationKind = Literal["observed", "provisional", "backfilled", "fitted"]
"""What the calibrated distribution rests on. `observed`: errors of simulations with observed weather. `provisional`:
those, and the errors of the weather forecast. `fitted`: recalibrated by what came after the forecasts issued with the
weather model. `backfilled`: the same, most of them reforecasts with its past issues."""


@document
class WeatherShare:
    """The share of a weather model in a forecast that mixes several."""

    name: Annotated[str, Doc("Its source and model.", ("open-meteo/ncep_gefs025",))]
    id: Annotated[str | None, Doc("Its weather forecast; null where it was missing.")] = None
    credit: Annotated[str | None, Doc("The attribution to show; null where none is required.")] = None
    issues: Annotated[int, Doc("Number of past days T0 on which it was compared with others.")] = 0
    by_lead: Annotated[tuple[float, ...], Doc("Its share by day after the last past day; those of all add up to 1.")]
    reason: Annotated[Absent | None, Doc("Why it is missing, its share left to the others; else null.")] = None


@document
class RunCalibration:
    """The error model that was used, and the last observed flow it started from.

    Attributes:
        fitted_on: the days within which it was fitted, `FIRST..LAST`.
        own_days: number of the basin's observed days in the fit; 0 if it uses the regional parameters.
        weather: the weather that drives the run: `observed`, or a weather forecast's source and model.
        weather_issues: number of past issues behind the errors of the weather forecast, 0 if they are assumed; None
            without a weather forecast.
        last_flow_day: the day of the last observed flow; None if none of the last days was observed.
        last_flow_mm, simulated_mm: that flow and the flow that the run has for that day, mm/day.
        weather_shares: of the weather models, where there are several; the others are of the run's own.
    """

    kind: CalibrationKind
    sha256: str
    fitted_on: str
    own_days: int
    weather: str
    weather_issues: int | None
    last_flow_day: str | None
    last_flow_mm: float | None
    simulated_mm: float | None
    weather_shares: tuple[WeatherShare, ...] = ()


MappingKind = Literal["basin", "regional", "store"]
"""Origin of the snow cells: chosen against the basin's own reference, or over many other basins together, or snow
stores by construction."""
RegionalBecause = Literal["no-reference", "not-chosen"]
"""Why cells chosen over other basins are used: the basin has no stored reference snow, or no cells have been chosen
against it yet."""


@document
class KnownSkill:
    """Skill of snow cells of this kind on days (and, where `basins` is given, in basins) not used to choose them."""

    version: Annotated[str, Doc("The version whose cells were scored: the run's model version, or its twin.")]
    products: Annotated[tuple[str, ...], Doc("The reference snow.")]
    period: Annotated[IsoPeriod, Doc("The days.")]
    basins: Annotated[
        int | None,
        Doc("Number of other basins with similar snow behind these medians; null where they are of this basin."),
    ]
    r: Annotated[float, Doc("Pearson's correlation with the reference.")]
    bias_pct: Annotated[float, Doc("In %; above 0: too much snow.")]
    bare_mm: Annotated[
        float | None,
        Doc(
            "Mean snow read, mm, on days on which the reference has none: snow of that size may be noise. Null where "
            "there are no such days, or where it was not scored."
        ),
    ]


@document
class ReferenceSnow:
    """Reference snow of T0 by a stored product, mm."""

    product: str
    mm: float
    normal_mm: Annotated[float | Absent, Doc("The mean of that day in the product's other years.")]

    @property
    def percent_of_normal(self) -> Annotated[float | Absent, Doc("The reference in % of it.")]:
        return percent_or_why(self.estimate.percent, self.normal_mm)

    @property
    def estimate(self) -> SnowEstimate:
        return SnowEstimate(self.mm, known(self.normal_mm))


def percent_or_why(percent: float | None, normal: float | Absent) -> float | Absent:
    """Return snow in % of normal, or why it has none."""
    if percent is not None:
        return percent
    return normal if isinstance(normal, Absent) else HARDLY_ANY


@document
class RunSnow:
    """The snow of T0, mm.

    Attributes:
        mean_mm, p05_mm, p95_mm: what reads as snow: the mean and the quantiles of the members.
        normal_mm: its normal, by the past that the version simulates.
        snow17_mm: what Snow-17 has by the basin's own weather, a second opinion where the mapping is regional; None
            elsewhere.
    """

    mapping: MappingKind
    mean_mm: float
    p05_mm: float
    p95_mm: float
    normal_mm: float | Absent
    skill: KnownSkill | Absent
    reference: ReferenceSnow | Absent = NOT_STORED
    snow17_mm: float | Absent | None = None
    snow17_normal_mm: float | Absent | None = None
    regional_because: RegionalBecause | None = None

    @property
    def snow17(self) -> SnowEstimate | None:
        mm = None if self.snow17_mm is None else known(self.snow17_mm)
        normal = None if self.snow17_normal_mm is None else known(self.snow17_normal_mm)
        return None if mm is None else SnowEstimate(mm, normal)

    @property
    def against_normal(self) -> SnowAgainstNormal:
        """What is reported of it against its normal and other estimates."""
        reference = known(self.reference)
        others = {REFERENCE: None if reference is None else reference.estimate, SNOW17: self.snow17}
        model = ModelSnow(self.mean_mm, known(self.normal_mm), self.p05_mm, self.p95_mm)
        return snow_against_normal(model, {name: other for name, other in others.items() if other is not None})


@document
class RunChange:
    """The change of a forecast since the previous one of an earlier T0; the run's array CHANGES has its parts.

    Attributes:
        run, version: the previous run, of any version, and its version.
        observed_mm, expected_mm: precipitation of the days from that T0 to this run's: as observed, and as the previous
            run expected it; the mean of its traces.
        ahead_mm, ahead_before_mm: the same of the days ahead that both runs hold: expected by this run, and by the
            previous one.
        without_flow: why the part of the observed flow is unknown; None where it is known.
        without_reverse: why the parts are unknown in the opposite order; None where they are known.
        products_before: the weather products of the previous run, where this one used others.
    """

    run: str
    version: str
    t0: str
    observed_mm: float
    expected_mm: float
    ahead_mm: float
    ahead_before_mm: float
    without_flow: Absent | None = None
    without_reverse: Absent | None = None
    products_before: tuple[str, ...] = ()


@document
class RunSummary(TrainingDomain):
    """A run's summary of a basin. Every field has a default: that of a basin for which nothing was computed.

    Attributes:
        traces: number of weather traces that drive each member after T0; None without traces.
        flow_at_t0_mm: the discharge of T0 itself, the mean of the members, mm/day; None if the state has none.
        normal_mm: the normal of the basin's own record, summed over the days ahead that were not past.
        storage_mm: all water in the cells at T0, the mean of the members; None where the network's cells hold none.
        filled_forcing: number of missing values that were interpolated, or filled by their source's stated rule, by
            variable, of all products together; zero counts are left out.
        skipped_days: number of days that the network skipped for lack of forcing; of a combined version, the largest
            number of one of its parts.
        age_reason: why the age of its water is missing; None if it is present.
        bridges: the bridges that converted its weather to the version's product, in order; empty if it was used
            unchanged.
        filled_weather: the days ahead whose weather was not observed in time or not forecast, with its sources; of a
            combined version, that of the first of its parts.
        weather_fault: why a newer weather forecast of the run's model was not taken; None where none was refused.
        parts: of a combined version, its parts that took part, the largest weight of the version first.
        subset: what was missing of it; None where all parts took part.
    """

    __retired__ = ("discharge_mm", "peak_mm_per_day", "peak_lead")

    traces: int | None = None
    flow_at_t0_mm: float | None = None
    normal_mm: float | Absent = NOT_STORED
    storage_mm: float | None = None
    snow: RunSnow | Absent = NOT_STORED
    filled_forcing: Mapping[str, int] = field(default_factory=dict)
    skipped_days: int = 0
    product_credit: Credit | None = None
    calibration: RunCalibration | Absent = NOT_STORED
    age_reason: Absent | None = None
    bridges: tuple[RunBridge, ...] = ()
    change: RunChange | Absent = NOT_STORED
    filled_weather: tuple[FilledWeather, ...] = ()
    weather_fault: str | None = None
    parts: tuple[RunPart, ...] = ()
    subset: RunSubset | None = None
