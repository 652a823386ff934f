"""Water stored in a basin by a run, and the part read as snow, with its origin, skill and normal."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy.orm import Session

from app.http import json_numbers
from app.http.base_schema import Model, Number, Series, column, maybe
from app.http.shown import As
from hydrology.base.absent import NOT_STORED, Absent, absent, text
from hydrology.base.reasons import Reason
from records.forecasts.latest import Latest
from records.runs.run_arrays import RunSeries, over_members
from records.runs.run_summary import (
    KnownSkill,
    MappingKind,
    ReferenceSnow,
    RegionalBecause,
    RunSnow,
    percent_or_why,
)
from records.runs.run_types import SNOW_SPREAD, RunBasin
from records.versions import versions

_REFERENCE = As("SnowReference", rename=(("normal_mm", "normal"),))
_SKILL = As("KnownSnowSkill", rename=(("bare_mm", "where_none_mm"),))


class SnowAtT0(Model):
    """The snow of T0, mm."""

    mean: Number = Field(description="Of the members.")
    p05: Number = Field(description="Their 5 % quantile.")
    p95: Number = Field(description="Their 95 % quantile.")
    normal: Number | None = Field(description="The mean of that day in other years, as the model version simulates it.")
    percent_of_normal: Number | None = Field(description="The mean in % of it.")
    snow17: Number | None = Field(
        default=None,
        description="Snow water of the Snow-17 model, driven by the basin's own weather, for comparison. Only where "
        "the mapping is `regional`.",
    )
    snow17_percent_of_normal: Number | None = Field(
        default=None, description="The same in % of what Snow-17 has in other years. Only where `snow17` is."
    )
    reference: Annotated[ReferenceSnow, _REFERENCE] | None = Field(description="The basin's stored reference of T0.")
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
    skill: Annotated[KnownSkill, _SKILL] | None


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
        "at_t0": NOT_STORED if basin.summary.storage_mm is None else json_numbers.rounded(basin.summary.storage_mm),
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
        p05=maybe(low),
        p95=maybe(high),
        volume_m3=maybe(absent(Reason.NO_AREA_AT_RUN) if area is None else mean / 1000 * area),
        at_t0=_at_t0(shown),
        skill=maybe(shown.skill),
    )


def _note(shown: RunSnow) -> str:
    if shown.regional_because is not None:
        return REGIONAL[shown.regional_because]
    return OF_THE_STORE if shown.mapping == "store" else OF_THE_BASIN


def _at_t0(shown: RunSnow) -> SnowAtT0:
    judged = shown.against_normal
    of_snow17 = {}
    if shown.mapping == "regional":
        mm, percent = shown.snow17_mm, None if shown.snow17 is None else shown.snow17.percent
        normal = mm if isinstance(mm, Absent) else shown.snow17_normal_mm or NOT_STORED
        of_snow17 = {"snow17": mm, "snow17_percent_of_normal": percent_or_why(percent, normal)}
    return SnowAtT0(
        mean=shown.mean_mm,
        p05=shown.p05_mm,
        p95=shown.p95_mm,
        normal=maybe(shown.normal_mm),
        percent_of_normal=maybe(percent_or_why(judged.percent, shown.normal_mm)),
        **maybe(of_snow17),
        reference=maybe(shown.reference),
        uncertain=judged.uncertain is not None,
        uncertain_reason=text(judged.uncertain),
        in_words=judged.in_words,
    )


def why_no_account(basin: RunBasin, conserving: bool) -> Absent:
    """Return why a run has no water balance of a basin."""
    return basin.why_missing if conserving else basin.reason or absent(Reason.NOT_CONSERVING)


def is_conserving(session: Session, latest: Latest) -> bool:
    return versions.conserving(session, [latest.run.version_id])[latest.run.version_id]


def why_no_water(session: Session, latest: Latest) -> Absent:
    """Return why a run has no account of a basin's water."""
    return why_no_account(latest.basin, is_conserving(session, latest))
