"""Water stored in a basin by a run, and the part read as snow, with its origin, skill and normal."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy.orm import Session

from app.http import json_numbers
from app.http.base_schema import Model, Period, Series, column, maybe
from app.http.json_numbers import rounded
from hydrology.base import calendar
from hydrology.base.absent import Absent, absent, text
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import MIN_MM
from records.forecasts.latest import Latest
from records.runs.run_arrays import RunSeries, over_members
from records.runs.run_summary import NOT_STORED, KnownSkill, MappingKind, ReferenceSnow, RegionalBecause, RunSnow
from records.runs.run_types import SNOW_SPREAD, RunBasin
from records.versions import versions


class SnowReference(Model):
    """Reference snow of T0 by a stored product, mm."""

    product: str
    mm: float
    normal: float | None = Field(description="The mean of that day in the product's other years.")
    percent_of_normal: float | None = Field(description="The reference in % of it.")


class KnownSnowSkill(Model):
    """Skill of snow cells of this kind on days (and, where `basins` is given, in basins) not used to choose them."""

    version: str = Field(description="The version whose cells were scored: the run's model version, or its twin.")
    products: list[str] = Field(description="The reference snow.")
    period: Period = Field(description="The days.")
    basins: int | None = Field(
        description="Number of other basins with similar snow behind these medians; null where they are of this basin."
    )
    r: float = Field(description="Pearson's correlation with the reference.")
    bias_pct: float = Field(description="In %; above 0: too much snow.")
    where_none_mm: float | None = Field(
        description="Mean snow read, mm, on days on which the reference has none: snow of that "
        "size may be noise. Null where there are no such days, or where it was not scored."
    )


class SnowAtT0(Model):
    """The snow of T0, mm."""

    mean: float = Field(description="Of the members.")
    p05: float = Field(description="Their 5 % quantile.")
    p95: float = Field(description="Their 95 % quantile.")
    normal: float | None = Field(description="The mean of that day in other years, as the model version simulates it.")
    percent_of_normal: float | None = Field(description="The mean in % of it.")
    snow17: float | None = Field(
        default=None,
        description="Snow water of the Snow-17 model, driven by the basin's own weather, for comparison. Only where "
        "the mapping is `regional`.",
    )
    snow17_percent_of_normal: float | None = Field(
        default=None, description="The same in % of what Snow-17 has in other years. Only where `snow17` is."
    )
    reference: SnowReference | None = Field(description="The basin's stored reference of T0.")
    uncertain: bool = Field(
        description="Whether `reference` or `snow17` lies outside the range of the members, `p05` to `p95`: compared "
        "in % of their own normals, in mm where one has none."
    )
    uncertain_reason: str | None = Field(description="The estimates that differ; null where it is not uncertain.")
    in_words: str = Field(description="In % of normal, or what is uncertain.", examples=["85 % of normal"])


class SnowRead(Model):
    """Origin and spread of the snow, read from cells that follow it: the model was not trained on snow."""

    mapping: Annotated[
        MappingKind,
        Series(
            "choice of the snow cells: in this basin, or over others (regional)",
            column="snow_mapping",
            alone=True,
            after="p95",
        ),
    ] = Field(
        description="Choice of the cells: `basin`, against reference snow of this basin; `regional`, over many "
        "other basins; `store`, the model's own snow stores."
    )
    mapping_note: str = Field(description="The same in a sentence, with the reason where it is `regional`.")
    p05: Annotated[list[float], Series("5 % quantile of the members (and traces) of it", "mm")] = Field(
        description=column("The 5 % quantile of the members (and traces), mm")
    )
    p95: Annotated[list[float], Series("95 % quantile of the members (and traces) of it", "mm")] = Field(
        description=column("The 95 % quantile of the members (and traces), mm")
    )
    volume_m3: list[float] | None = Field(description=column("The mean over the basin's area, m3"))
    at_t0: SnowAtT0
    skill: KnownSnowSkill | None


class Storage(Model):
    """Water in the basin at the end of each day, mm, the mean of the members."""

    at_t0: float | None = Field(
        description="All water in the model's store at the end of T0, mm, before the first day ahead. Null where "
        "the run did not store it."
    )
    total: Annotated[list[float], Series("all water in the model's store at the end of the day", "mm")] = Field(
        description=column("All water in the model's store, mm")
    )
    snow: Annotated[
        list[float] | None, Series("water in the cells read as snow; the model was not trained on snow", "mm")
    ] = Field(description=column("Water in the cells read as snow, mm. The model was not trained on snow"))
    snow_read: Annotated[SnowRead | None, Series("{}", column="snow_{}")] = Field(
        description="Origin and spread of `snow`."
    )


HARDLY_ANY = absent(Reason.NORMAL_TOO_SMALL, mm=MIN_MM)
OF_THE_BASIN = "Snow is read by cells chosen against reference snow of this basin."
OF_THE_STORE = "Snow is what the model's own snow stores hold."
REGIONAL: Mapping[RegionalBecause, str] = {
    "no-reference": "Snow is read by cells chosen over other basins: when the run was computed, no reference snow of "
    "this basin was stored.",
    "not-chosen": "Snow is read by cells chosen over other basins: when the run was computed, reference snow of this "
    "basin was stored, but no cells had been chosen against it, which an evaluation does (freshet evaluate).",
}


def stored_water(series: Mapping[str, RunSeries], basin: RunBasin) -> dict[str, Any]:
    """Return the fields of `Storage`, an `Absent` where they are not known, of a run that stores the water."""
    return {
        "at_t0": NOT_STORED if basin.summary.storage_mm is None else rounded(basin.summary.storage_mm),
        "total": mean_of_members(series["storage"], basin),
        "snow": mean_of_members(series["snow"], basin) if "snow" in series else basin.why(basin.summary.snow),
        "snow_read": _snow_read(series, basin),
    }


def mean_of_members(series: RunSeries, basin: RunBasin) -> list[float]:
    """Return the mean of members (and traces) of each day."""
    return json_numbers.column(over_members(series, basin.summary.parts))


def _snow_read(series: Mapping[str, RunSeries], basin: RunBasin) -> SnowRead | Absent:
    shown = basin.summary.snow
    if isinstance(shown, Absent) or SNOW_SPREAD not in series:
        return basin.why(shown)
    low, high = series[SNOW_SPREAD].values
    mean, area = over_members(series["snow"], basin.summary.parts), basin.area_m2
    return SnowRead(
        mapping=shown.mapping,
        mapping_note=_note(shown),
        p05=json_numbers.column(low),
        p95=json_numbers.column(high),
        volume_m3=maybe(absent(Reason.NO_AREA_AT_RUN) if area is None else mean / 1000 * area, json_numbers.column),
        at_t0=_at_t0(shown),
        skill=maybe(shown.skill, _known_skill),
    )


def _note(shown: RunSnow) -> str:
    if shown.regional_because is not None:
        return REGIONAL[shown.regional_because]
    return OF_THE_STORE if shown.mapping == "store" else OF_THE_BASIN


def _known_skill(skill: KnownSkill) -> KnownSnowSkill:
    period = calendar.Period.parse(skill.period)
    return KnownSnowSkill(
        version=skill.version,
        products=list(skill.products),
        period=Period.between(period.first, period.last),
        basins=skill.basins,
        r=rounded(skill.r),
        bias_pct=rounded(skill.bias_pct),
        where_none_mm=None if skill.bare_mm is None else rounded(skill.bare_mm),
    )


def _at_t0(shown: RunSnow) -> SnowAtT0:
    judged = shown.against_normal
    of_snow17 = {}
    if shown.mapping == "regional":
        mm, estimate = shown.snow17_mm, shown.snow17
        normal = mm if isinstance(mm, Absent) else shown.snow17_normal_mm or NOT_STORED
        of_snow17 = {
            "snow17": None if mm is None else maybe(mm, rounded),
            "snow17_percent_of_normal": maybe(
                _percent(None if estimate is None else estimate.percent, normal), rounded
            ),
        }
    return SnowAtT0(
        mean=rounded(shown.mean_mm),
        p05=rounded(shown.p05_mm),
        p95=rounded(shown.p95_mm),
        normal=maybe(shown.normal_mm, rounded),
        percent_of_normal=maybe(_percent(judged.percent, shown.normal_mm), rounded),
        **of_snow17,
        reference=maybe(shown.reference, _reference),
        uncertain=judged.uncertain is not None,
        uncertain_reason=text(judged.uncertain),
        in_words=judged.in_words,
    )


def _reference(reference: ReferenceSnow) -> SnowReference:
    return SnowReference(
        product=reference.product,
        mm=rounded(reference.mm),
        normal=maybe(reference.normal_mm, rounded),
        percent_of_normal=maybe(_percent(reference.estimate.percent, reference.normal_mm), rounded),
    )


def _percent(percent: float | None, normal: float | Absent) -> float | Absent:
    if percent is not None:
        return percent
    return normal if isinstance(normal, Absent) else HARDLY_ANY


def why_no_account(basin: RunBasin, conserving: bool) -> Absent:
    """Return why a run has no water balance of a basin."""
    return basin.why_missing if conserving else basin.reason or absent(Reason.NOT_CONSERVING)


def is_conserving(session: Session, latest: Latest) -> bool:
    """Return whether the version of a run conserves mass."""
    return versions.conserving(session, [latest.run.version_id])[latest.run.version_id]


def why_no_water(session: Session, latest: Latest) -> Absent:
    """Return why a run has no account of a basin's water."""
    return why_no_account(latest.basin, is_conserving(session, latest))
