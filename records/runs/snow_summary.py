"""A run's snow of a basin, stored as JSON with its arrays: it outlives the next evaluation."""

from dataclasses import dataclass
from typing import Literal

from hydrology.base.absent import Absent
from records.database.json_columns import CLOSED

MappingKind = Literal["basin", "regional"]
"""Origin of the snow cells: chosen against the basin's own reference, or over many other basins together."""
RegionalBecause = Literal["no-reference", "not-chosen"]
"""Why cells chosen over other basins are used: the basin has no stored reference snow, or no cells have been chosen
against it yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSkill:
    """Skill of snow cells, on days (and, for a regional mapping, in basins) outside the choice.

    Attributes:
        version: the version whose cells were scored: the same version, or its twin.
        products: the reference snow.
        period: the days, FIRST..LAST.
        basins: number of other basins that these are medians over; None for the basin's own skill.
        r: Pearson's.
        bias_pct: above 0: too much snow.
        bare_mm: what reads as snow in the mean of the days on which the reference has none; None where there are no
            such days.
    """

    __pydantic_config__ = CLOSED

    version: str
    products: tuple[str, ...]
    period: str
    basins: int | None
    r: float
    bias_pct: float
    bare_mm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSnow:
    """The snow of T0, mm.

    Attributes:
        mean_mm, p05_mm, p95_mm: what reads as snow: the mean and the quantiles of the members.
        normal_mm: its normal, by the past that the version simulates.
        skill: of the mapping.
        snow17_mm: what Snow-17 has by the basin's own weather, a second opinion where the mapping is regional; None
            where it is the basin's own.
        regional_because: why the mapping is regional; None where it is the basin's own.
    """

    __pydantic_config__ = CLOSED

    mapping: MappingKind
    mean_mm: float
    p05_mm: float
    p95_mm: float
    normal_mm: float | Absent
    skill: KnownSkill | Absent
    snow17_mm: float | Absent | None = None
    regional_because: RegionalBecause | None = None
