"""Decides what is reported of the snow of a day against its normal, by the model and by other estimates."""

from collections.abc import Mapping
from dataclasses import dataclass

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason

MIN_MM = 1.0
"""Minimum normal for a percentage, mm: a dusting of snow in July would be a thousand percent."""
REFERENCE, SNOW17 = "reference", "Snow-17"
"""The names of other estimates."""


@dataclass(frozen=True, slots=True)
class SnowEstimate:
    """Snow of a day by one source, mm, and its own normal of that day; None where it is not known."""

    mm: float
    normal_mm: float | None

    @property
    def percent(self) -> float | None:
        """The snow in % of normal; None without a normal of `MIN_MM`."""
        return None if self.normal_mm is None or self.normal_mm < MIN_MM else 100 * self.mm / self.normal_mm


@dataclass(frozen=True, slots=True)
class ModelSnow(SnowEstimate):
    """Snow of the model, the mean of its members; `low` and `high` are the ends of their range, mm."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SnowAgainstNormal:
    """What is reported of the snow of a day, in % of normal; None where the model has no normal.

    `uncertain` is why it is, None where no other estimate lies outside the range of the members. `in_words` has the
    percentage; where it is uncertain, those of the estimates that differ; without one, mm.
    """

    percent: float | None
    uncertain: Absent | None
    in_words: str


def snow_against_normal(model: ModelSnow, others: Mapping[str, SnowEstimate]) -> SnowAgainstNormal:
    """Compare the model's snow with normal, and with other estimates, the most trusted first.

    Estimates are compared in % of their own normals, whose biases cancel; in mm where one of the two has none. Less
    than `MIN_MM` by both is agreement.
    """
    apart = {name: other for name, other in others.items() if _is_outside(model, other)}
    if not apart:
        return SnowAgainstNormal(model.percent, None, _in_words(model))
    listed = [f"{name} {_amount(model, other, other)}" for name, other in apart.items()]
    first = next(iter(apart.values()))
    estimates = ", ".join([f"model {_amount(model, first, model)}", *listed])
    low, high = (_amount(model, first, SnowEstimate(mm, model.normal_mm)) for mm in (model.low, model.high))
    why = absent(Reason.SNOW_UNCERTAIN, estimates=estimates, low=low, high=high)
    return SnowAgainstNormal(model.percent, why, f"uncertain: {estimates}")


def _is_outside(model: ModelSnow, other: SnowEstimate) -> bool:
    if max(model.mm, other.mm) < MIN_MM:
        return False
    ends = (SnowEstimate(mm, model.normal_mm) for mm in (model.low, model.high))
    low, high = (round(_compared(model, other, end)) for end in ends)
    return not low <= round(_compared(model, other, other)) <= high


def _compared(model: SnowEstimate, other: SnowEstimate, of: SnowEstimate) -> float:
    """Return an estimate in the unit in which the model and another are compared."""
    in_percent = model.percent is not None and other.percent is not None
    return of.percent if in_percent and of.percent is not None else of.mm


def _amount(model: SnowEstimate, other: SnowEstimate, of: SnowEstimate) -> str:
    unit = "mm" if model.percent is None or other.percent is None else "%"
    return f"{_compared(model, other, of):.0f} {unit}"


def _in_words(model: SnowEstimate) -> str:
    if model.percent is not None:
        return f"{model.percent:.0f} % of normal"
    return "less than 1 mm" if model.mm < MIN_MM else f"{model.mm:.0f} mm"
