"""Snow of a run, with its origin, skill and normal."""

from collections.abc import Mapping

from app.forecasts.schemas import KnownSnowSkill, SnowAtT0, SnowRead
from app.http.base_schema import Period as PeriodModel
from app.http.json_numbers import column, rounded
from hydrology.base.absent import Absent, absent, known
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from records.runs import runs
from records.runs.run_summary import KnownSkill, RegionalBecause, RunSnow

MIN_MM = 1.0
"""Minimum normal for a percentage, mm: a dusting of snow in July would be a thousand percent."""
HARDLY_ANY = absent(Reason.NORMAL_TOO_SMALL, mm=MIN_MM)
OF_THE_BASIN = "Snow is read by cells chosen against reference snow of this basin."
OF_THE_STORE = "Snow is what the model's own snow stores hold."
REGIONAL: Mapping[RegionalBecause, str] = {
    "no-reference": "Snow is read by cells chosen over other basins: when the run was computed, no reference snow of "
    "this basin was stored.",
    "not-chosen": "Snow is read by cells chosen over other basins: when the run was computed, reference snow of this "
    "basin was stored, but no cells had been chosen against it, which an evaluation does (freshet evaluate).",
}


def snow_read(series: Mapping[str, runs.RunSeries], basin: runs.RunBasin) -> SnowRead | None:
    """Describe a run's snow; None where the run has none."""
    shown = basin.summary.snow
    if isinstance(shown, Absent) or runs.SNOW_SPREAD not in series:
        return None
    low, high = series[runs.SNOW_SPREAD].values
    mean = runs.over_members(series["snow"], basin.summary.parts)
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


def missing_in_snow(read: SnowRead | None, basin: runs.RunBasin, field: str) -> dict[str, Absent]:
    """Return why parts of the snow are null, by name.

    Args:
        field: its name in the answer.
    """
    shown = basin.summary.snow
    if read is None or isinstance(shown, Absent):
        return {field: basin.why(shown)}
    normal = shown.normal_mm
    values = {
        "volume_m3": absent(Reason.NO_AREA_AT_RUN) if read.volume_m3 is None else None,
        "skill": shown.skill,
        "at_t0.normal": normal,
        "at_t0.percent_of_normal": HARDLY_ANY
        if read.at_t0.percent_of_normal is None and not isinstance(normal, Absent)
        else normal,
        "at_t0.snow17": shown.snow17_mm,
    }
    return {f"{field}.{name}": value for name, value in values.items() if isinstance(value, Absent)}


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
    mean, normal = shown.mean_mm, known(shown.normal_mm)
    enough = normal is not None and normal >= MIN_MM
    at_t0 = SnowAtT0(
        mean=rounded(mean),
        p05=rounded(shown.p05_mm),
        p95=rounded(shown.p95_mm),
        normal=None if normal is None else rounded(normal),
        percent_of_normal=rounded(100 * mean / normal) if enough and normal is not None else None,
    )
    if shown.mapping != "regional":
        return at_t0
    snow17 = known(shown.snow17_mm)
    return at_t0.model_copy(update={"snow17": None if snow17 is None else rounded(snow17)})
