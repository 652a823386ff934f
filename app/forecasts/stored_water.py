"""Snow of a run, with its origin, skill and normal."""

from collections.abc import Mapping

from pydantic import Field
from sqlalchemy.orm import Session

from app.http import json_numbers
from app.http.base_schema import Model, Period, column
from app.http.json_numbers import rounded, rounded_or_none
from hydrology.base import calendar
from hydrology.base.absent import Absent, absent, known, text
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import MIN_MM
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types
from records.runs.run_summary import NOT_STORED, KnownSkill, MappingKind, ReferenceSnow, RegionalBecause, RunSnow
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

    mapping: MappingKind = Field(
        description="Choice of the cells: `basin`, against reference snow of this basin; `regional`, over many "
        "other basins; `store`, the model's own snow stores."
    )
    mapping_note: str = Field(description="The same in a sentence, with the reason where it is `regional`.")
    p05: list[float] = Field(description=column("The 5 % quantile of the members (and traces), mm"))
    p95: list[float] = Field(description=column("The 95 % quantile of the members (and traces), mm"))
    volume_m3: list[float] | None = Field(description=column("The mean over the basin's area, m3"))
    at_t0: SnowAtT0
    skill: KnownSnowSkill | None


class Storage(Model):
    """Water in the basin at the end of each day, mm, the mean of the members."""

    at_t0: float | None = Field(
        description="All water in the model's store at the end of T0, mm, before the first day ahead. Null where "
        "the run did not store it."
    )
    total: list[float] = Field(description=column("All water in the model's store, mm"))
    snow: list[float] | None = Field(
        description=column("Water in the cells read as snow, mm. The model was not trained on snow")
    )
    snow_read: SnowRead | None = Field(description="Origin and spread of `snow`.")


HARDLY_ANY = absent(Reason.NORMAL_TOO_SMALL, mm=MIN_MM)
OF_THE_BASIN = "Snow is read by cells chosen against reference snow of this basin."
OF_THE_STORE = "Snow is what the model's own snow stores hold."
REGIONAL: Mapping[RegionalBecause, str] = {
    "no-reference": "Snow is read by cells chosen over other basins: when the run was computed, no reference snow of "
    "this basin was stored.",
    "not-chosen": "Snow is read by cells chosen over other basins: when the run was computed, reference snow of this "
    "basin was stored, but no cells had been chosen against it, which an evaluation does (freshet evaluate).",
}


def snow_read(series: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin) -> SnowRead | None:
    """Describe a run's snow; None where the run has none."""
    shown = basin.summary.snow
    if isinstance(shown, Absent) or run_types.SNOW_SPREAD not in series:
        return None
    low, high = series[run_types.SNOW_SPREAD].values
    mean = run_arrays.over_members(series["snow"], basin.summary.parts)
    return SnowRead(
        mapping=shown.mapping,
        mapping_note=_note(shown),
        p05=json_numbers.column(low),
        p95=json_numbers.column(high),
        volume_m3=None if basin.area_m2 is None else json_numbers.column(mean / 1000 * basin.area_m2),
        at_t0=_at_t0(shown),
        skill=None if isinstance(shown.skill, Absent) else known_skill(shown.skill),
    )


def _note(shown: RunSnow) -> str:
    if shown.regional_because is not None:
        return REGIONAL[shown.regional_because]
    return OF_THE_STORE if shown.mapping == "store" else OF_THE_BASIN


def missing_in_snow(read: SnowRead | None, basin: run_types.RunBasin, field: str) -> dict[str, Absent]:
    """Return why parts of the snow are null, by name.

    Args:
        field: its name in the answer.
    """
    shown = basin.summary.snow
    if read is None or isinstance(shown, Absent):
        return {field: basin.why(shown)}
    at_t0, reference = read.at_t0, shown.reference
    of_reference = reference if isinstance(reference, Absent) else reference.normal_mm
    values = {
        "volume_m3": absent(Reason.NO_AREA_AT_RUN) if read.volume_m3 is None else None,
        "skill": shown.skill,
        "at_t0.normal": shown.normal_mm,
        "at_t0.percent_of_normal": _why_no_percent(at_t0.percent_of_normal, shown.normal_mm),
        "at_t0.snow17": shown.snow17_mm,
        "at_t0.reference": reference,
    }
    if at_t0.reference is not None:
        percent = _why_no_percent(at_t0.reference.percent_of_normal, of_reference)
        values |= {"at_t0.reference.normal": of_reference, "at_t0.reference.percent_of_normal": percent}
    if shown.mapping == "regional":
        normal17 = shown.snow17_mm if isinstance(shown.snow17_mm, Absent) else shown.snow17_normal_mm or NOT_STORED
        values["at_t0.snow17_percent_of_normal"] = _why_no_percent(at_t0.snow17_percent_of_normal, normal17)
    return {f"{field}.{name}": value for name, value in values.items() if isinstance(value, Absent)}


def _why_no_percent(percent: float | None, normal: float | Absent) -> Absent | None:
    if percent is not None:
        return None
    return normal if isinstance(normal, Absent) else HARDLY_ANY


def known_skill(skill: KnownSkill) -> KnownSnowSkill:
    """Return the skill of snow cells."""
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
    judged, normal, snow17 = shown.against_normal, known(shown.normal_mm), shown.snow17
    at_t0 = SnowAtT0(
        mean=rounded(shown.mean_mm),
        p05=rounded(shown.p05_mm),
        p95=rounded(shown.p95_mm),
        normal=rounded_or_none(normal),
        percent_of_normal=rounded_or_none(judged.percent),
        reference=None if isinstance(shown.reference, Absent) else _reference(shown.reference),
        uncertain=judged.uncertain is not None,
        uncertain_reason=text(judged.uncertain),
        in_words=judged.in_words,
    )
    if shown.mapping != "regional":
        return at_t0
    percent = None if snow17 is None else snow17.percent
    added = {
        "snow17": None if snow17 is None else rounded(snow17.mm),
        "snow17_percent_of_normal": rounded_or_none(percent),
    }
    return at_t0.model_copy(update=added)


def _reference(reference: ReferenceSnow) -> SnowReference:
    estimate = reference.estimate
    return SnowReference(
        product=reference.product,
        mm=rounded(estimate.mm),
        normal=rounded_or_none(estimate.normal_mm),
        percent_of_normal=rounded_or_none(estimate.percent),
    )


def why_no_snow(basin: run_types.RunBasin) -> Absent:
    """Return why a run that has the storage has no snow."""
    return basin.why(basin.summary.snow)


def storage_of(series: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin) -> Storage | None:
    """Return the mean of members (and traces) of the water in the basin; None where the run stores none."""
    if "storage" not in series:
        return None
    snow = _mean(series["snow"], basin) if "snow" in series else None
    at_t0 = basin.summary.storage_mm
    return Storage(
        at_t0=None if at_t0 is None else rounded(at_t0),
        total=_mean(series["storage"], basin),
        snow=snow,
        snow_read=snow_read(series, basin),
    )


def _mean(series: run_arrays.RunSeries, basin: run_types.RunBasin) -> list[float]:
    return json_numbers.column(run_arrays.over_members(series, basin.summary.parts))


def why_no_account(basin: run_types.RunBasin, conserving: bool) -> Absent:
    """Return why a run has no water balance of a basin."""
    return basin.why_missing if conserving else basin.reason or absent(Reason.NOT_CONSERVING)


def is_conserving(session: Session, latest: Latest) -> bool:
    """Return whether the version of a run conserves mass."""
    return versions.conserving(session, [latest.run.version_id])[latest.run.version_id]


def why_no_water(session: Session, latest: Latest) -> Absent:
    """Return why a run has no account of a basin's water."""
    return why_no_account(latest.basin, is_conserving(session, latest))
