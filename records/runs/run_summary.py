"""What a run says of a basin in a few values, kept as JSON beside its arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from hydrology.base.credit import Credit
from records.database.json_columns import CLOSED
from records.runs.bridge_used import RunBridge
from records.runs.calibration_used import RunCalibration
from records.runs.snow_summary import RunSnow


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingDomain:
    """What a version has learnt from, seen from one basin. None where the run did not come so far.

    Attributes:
        seen_in_training: whether the version learnt from the basin.
        outside_training: the attributes of the basin outside the range of the basins that it learnt from; None also
            where that range is not kept.
        trained_on: the forcing product that it learnt from.
        training_note: the same in a sentence.
        attributes_assumed: the attributes of the basin that are not known and were assumed.
    """

    seen_in_training: bool | None = None
    outside_training: tuple[str, ...] | None = None
    trained_on: str | None = None
    training_note: str | None = None
    attributes_assumed: tuple[str, ...] | None = None

    def beyond(self, product: str) -> bool:
        """Whether the version is known to have learnt from another basin, another range or another product than this,
        or to take attributes that are assumed."""
        known = self.training_note is not None
        like = self.seen_in_training and not self.outside_training and self.trained_on == product
        return known and not (like and not self.attributes_assumed)


LEARNT_FROM = tuple(field.name for field in fields(TrainingDomain))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary(TrainingDomain):
    """A run's summary of a basin. Every field has a default: that of a basin for which nothing was computed.

    Attributes:
        traces: how many traces of weather drive each member after T0; None where they are no traces.
        flow_at_t0_mm: the discharge of T0 itself, the mean of the members, mm/day; None where the state has none.
        discharge_mm: the median of members (and traces), summed over the days ahead.
        normal_mm: the normal of the basin's own record, summed over the days ahead; None for `normal_reason`.
        storage_mm: all water in the cells at T0, the mean of the members; None where the network's cells hold none.
        snow_mm: what reads as snow at T0, the mean of the members; None for `snow_reason`.
        snow: whose cells that is read from, how they were judged, and how far the members lie apart; None without it.
        snow_normal_mm: its normal, by the past that the version simulates; None for `snow_normal_reason`.
        peak_mm_per_day, peak_lead: its highest day, and the days from T0 to it.
        snow_reason: why the run has no snow; None where it has.
        filled_forcing: how many missing values were interpolated, or filled by their source's stated rule, by
            variable; those without are left out.
        skipped_days: how many days the network skipped for lack of forcing.
        product_credit: whose the weather product is, where a feed brought some of it.
        calibration: what made its calibrated quantiles; None where it has none.
        calibration_reason: why it has none.
        age_reason: why the age of its water is not told; None where it is.
        bridges: that its weather went over to the product that the version takes, in their order; none where it was
            taken as it is.
    """

    __pydantic_config__ = CLOSED

    traces: int | None = None
    flow_at_t0_mm: float | None = None
    discharge_mm: float | None = None
    normal_mm: float | None = None
    normal_reason: str | None = None
    storage_mm: float | None = None
    snow_mm: float | None = None
    snow: RunSnow | None = None
    snow_normal_mm: float | None = None
    snow_normal_reason: str | None = None
    peak_mm_per_day: float | None = None
    peak_lead: int | None = None
    snow_reason: str | None = None
    filled_forcing: Mapping[str, int] = field(default_factory=dict)
    skipped_days: int = 0
    product_credit: Credit | None = None
    calibration: RunCalibration | None = None
    calibration_reason: str | None = None
    age_reason: str | None = None
    bridges: tuple[RunBridge, ...] = ()
