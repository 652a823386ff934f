"""Snow of a run, with its origin, skill and normal."""

from collections.abc import Mapping

from app.forecasts.schemas import KnownSnowSkill, SnowAtT0, SnowRead, SnowReference
from app.http.base_schema import Period as PeriodModel
from app.http.json_numbers import column, rounded, rounded_or_none
from hydrology.base.absent import Absent, absent, known, text
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import MIN_MM
from records.runs import run_arrays, run_types
from records.runs.run_summary import NOT_STORED, KnownSkill, ReferenceSnow, RegionalBecause, RunSnow

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
        p05=column(low),
        p95=column(high),
        volume_m3=None if basin.area_m2 is None else column(mean / 1000 * basin.area_m2),
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
    period = Period.parse(skill.period)
    return KnownSnowSkill(
        version=skill.version,
        products=list(skill.products),
        period=PeriodModel.between(period.first, period.last),
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
