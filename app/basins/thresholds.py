"""/v1/basins/{basin}/thresholds: levels of discharge, from its record and set by operators."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from app.basins import threshold_schemas as schemas
from app.basins.observations import credit_of
from app.basins.run_levels import Stage, stage_of
from app.basins.schemas import kind_of
from app.exports.answers import JsonAnswer, body_of, documented_responses
from app.http.dependencies import AreaName, KnownBasin, Reading, ServiceClock, area_between
from app.http.entity_tags import entity_tag
from app.http.json_numbers import gappy_column
from hydrology.base import units as convert
from hydrology.base.absent import Absent, absent, text, texts
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day
from hydrology.base.reasons import Reason
from hydrology.extremes import levels
from hydrology.extremes.frequency import INTERVAL, SAMPLES
from hydrology.extremes.signatures import RUNOFF_RATIO, WHAT
from records.basins import ratings
from records.basins.basins import UnknownArea, UnknownBasin
from records.basins.ratings import StoredRating
from records.levels import basin_levels, categories_and_doubts
from records.series import series
from records.simulations import simulated_series
from records.versions import promotions

router = APIRouter(prefix="/basins", tags=["thresholds"])

DischargeUnits = Annotated[convert.Units, Query(description="The unit of every discharge.")]
_LIMITS = (
    f"{INTERVAL:.0%}, confidence limits of the expected moments algorithm, to first order: the error of the skew is "
    "part of them, the choice of low outliers is not."
)
_INTERVAL = (
    f"{INTERVAL:.0%}, of {SAMPLES} samples drawn from the distribution and fitted anew. With a short record it covers "
    "the true level less often than stated."
)
_WHY = {
    "record.levels.return_period_years": "A share of the days has none.",
    "record.levels.exceeded_percent": "A return period has none.",
    "record.interval": "The levels are counted: they have none.",
    "record.low_outliers": "The method tests for none, or the record is too short to.",
    "record.trend": "It is of annual floods, of at least three years.",
    "record.period": "No year has enough days.",
}
_WHY_NO_ESTIMATE = dict.fromkeys(
    ("signatures_tested_in", *(f"signatures.{name}" for name in ("estimate", "low", "high", "typical_error_percent"))),
    "How far such a simulation is from the river is known of the shipped ensemble alone.",
)
_WHY_NO_CATEGORY = {
    **dict.fromkeys(("category", "source", "source_day", "discharge_by"), "The level is not an official category."),
    "official_stage_ft": "The level has no stage of its own.",
    **dict.fromkeys(("impact", "instruction"), "Nothing is stated."),
    "in_doubt": "Nothing about it seems wrong, or somebody has confirmed it.",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a basin's levels: the unit, the area used to convert, and the day of the rating."""

    basin: str
    units: convert.Units
    area: convert.Area | None
    on: Day


def levels_request(session: Session, basin: str, units: convert.Units, area: str | None, on: Day) -> Request:
    """Resolve a request for a basin's levels; `on` chooses the rating."""
    stored = series.unit_of(session, basin, gauge_product(basin), "discharge")
    saved = [basin_levels.FIXED_UNIT] if basin_levels.of_basin(session, basin) else []
    saved += [] if stored is None else [stored]
    return Request(basin, units, area_between(session, basin, saved, units, area), on)


def tag_of(session: Session, asked: Request) -> str:
    """Return the entity tag, from the record's stamp, which grows with every write."""
    product = gauge_product(asked.basin)
    credit = credit_of(session, product)
    doubts = categories_and_doubts.in_doubt(session, asked.basin, asked.on)
    fixed = [
        fixed_threshold(one, None, doubts).model_dump(mode="json")
        for one in basin_levels.of_basin(session, asked.basin)
    ]
    area = asked.area and (asked.area.name, asked.area.m2)
    stamp = series.stamp(session, asked.basin, product)
    model = _model_levels(session, asked.basin)
    of_model = str(model) if isinstance(model, Absent) else (model.version_id, str(model.computed_at))
    requested = [asked.basin, asked.units, area]
    floods = frequency_of(session, asked.basin).model_dump(mode="json")
    rating = ratings.newest(session, asked.basin, asked.on)
    rated = rating and rating.version
    return entity_tag(requested, stamp, fixed, credit and credit.model_dump(), of_model, floods, rated)


def thresholds_of(session: Session, asked: Request) -> schemas.Thresholds:
    product = gauge_product(asked.basin)
    record = basin_levels.of_record(session, asked.basin)
    rating = ratings.newest(session, asked.basin, asked.on)
    into = LevelConverter(record.unit or asked.units, asked.units, asked.area, rating)
    statistics = [_statistic(into, statistic, record.floods) for statistic in record.statistics]
    model = _model_levels(session, asked.basin)
    of_model = model if isinstance(model, Absent) else _of_model(asked, model, rating, record.floods)
    credit = credit_of(session, product)
    missing = {
        name: why
        for name, why in _WHY.items()
        if name != "record.period" or any(statistic.period is None for statistic in statistics)
    }
    floods = frequency_of(session, asked.basin)
    doubts = categories_and_doubts.in_doubt(session, asked.basin, asked.on)
    stored = basin_levels.of_basin(session, asked.basin)
    into_units = LevelConverter(basin_levels.FIXED_UNIT, asked.units, asked.area, rating)
    flows = into_units.converted([one.discharge for one in stored]) if stored else []
    fixed = [
        fixed_threshold(one, rating, doubts).model_copy(update={"discharge": flow})
        for one, flow in zip(stored, flows, strict=True)
    ]
    if any(None in one.model_dump().values() for one in fixed):
        missing |= {f"fixed.{name}": why for name, why in _WHY_NO_CATEGORY.items()}
    if not isinstance(of_model, Absent) and of_model.signatures_tested_in is None:
        missing |= {f"model.{name}": why for name, why in _WHY_NO_ESTIMATE.items()}
    return schemas.Thresholds.from_records(
        asked,
        basin_kind=kind_of(session, asked.basin),
        product=product,
        credit=credit,
        flood_frequency=floods,
        record=statistics,
        model=of_model,
        fixed=fixed,
        missing=missing,
    )


def frequency_of(session: Session, basin: str) -> schemas.FloodFrequency:
    floods: schemas.FloodFrequency = schemas.FloodFrequency.from_records(
        basin_levels.flood_frequencies(session, [basin])[basin]
    )
    return floods


def fixed_threshold(
    threshold: basin_levels.SetLevel, rating: StoredRating | None, doubts: Mapping[str, str]
) -> schemas.FixedThreshold:
    """Return an operator's level, m3/s, and the doubts about it."""
    official, by_source = threshold.official_stage, threshold.official_flow == threshold.discharge
    return schemas.FixedThreshold.from_records(
        threshold,
        official_stage_ft=None if official is None else round(official / convert.M_PER_FT, 3),
        discharge_by=None if threshold.category is None else "source" if by_source else "rating",
        stage=stage_of(rating, threshold.discharge),
        in_doubt=doubts.get(threshold.name),
    )


def level_of(session: Session, basin: str, name: str, on: Day) -> schemas.FixedThreshold:
    """Return a level set by an operator, m3/s."""
    doubts = categories_and_doubts.in_doubt(session, basin, on)
    return fixed_threshold(basin_levels.get(session, basin, name), ratings.newest(session, basin, on), doubts)


def categories_of(session: Session, basin: str, left_out: Mapping[str, Absent], on: Day) -> schemas.FloodCategories:
    rating, doubts = ratings.newest(session, basin, on), categories_and_doubts.in_doubt(session, basin, on)
    levels = [
        fixed_threshold(one, rating, doubts)
        for one in basin_levels.of_basin(session, basin)
        if one.category is not None
    ]
    levels.sort(key=lambda level: level.discharge)
    missing = {f"levels.{name}": why for name, why in _WHY_NO_CATEGORY.items()}
    return schemas.FloodCategories(basin=basin, levels=levels, left_out=texts(left_out), missing=missing)


def _model_levels(session: Session, basin: str) -> simulated_series.ModelLevels | Absent:
    version = promotions.current(session, [basin]).get(basin)
    if version is None:
        return absent(Reason.NO_CURRENT_VERSION_OF_BASIN)
    return simulated_series.get(session, version, basin) or absent(Reason.NO_SIMULATED_LEVELS, version=version)


def _of_model(
    asked: Request, model: simulated_series.ModelLevels, rating: StoredRating | None, floods: levels.FloodFrequency
) -> schemas.ModelLevels:
    area = convert.Area(model.area_name, model.area_m2)
    into = LevelConverter(simulated_series.UNIT, asked.units, area, rating, levels.OF_MODEL)
    statistics = [_statistic(into, statistic, floods) for statistic in model.statistics]
    return schemas.ModelLevels.from_records(
        model,
        area=area,
        levels=statistics,
        signatures=[*_signatures(model, asked.units)],
        signatures_tested_in=model.signatures and model.signatures.tested_in,
    )


def estimated_signatures(session: Session, basin: str, units: convert.Units) -> list[schemas.Signature]:
    """Return the signatures of a river that are estimated by its current version, or none."""
    model = _model_levels(session, basin)
    every = [] if isinstance(model, Absent) else _signatures(model, units)
    return [one for one in every if one.estimate is not None]


def _signatures(model: simulated_series.ModelLevels, units: convert.Units) -> Iterator[schemas.Signature]:
    of = model.signatures
    if of is None:
        return
    into = LevelConverter("mm/day", units, convert.Area(model.area_name, model.area_m2), None)
    for name, simulated in of.simulated.items():
        estimate = of.estimates.get(name)
        estimated = [None] * 3 if estimate is None else [estimate.value, estimate.low, estimate.high]
        flows: list[float | None] = [simulated, *estimated]
        shown = flows if name == RUNOFF_RATIO else into.converted(flows)
        yield schemas.Signature(
            name=name,
            what=WHAT[name],
            units="1" if name == RUNOFF_RATIO else into.units,
            **dict(zip(("simulated", "estimate", "low", "high"), shown, strict=True)),
            typical_error_percent=None if estimate is None else 100 * estimate.typical_error,
        )


@dataclass(frozen=True, slots=True)
class LevelConverter:
    """Conversion of levels to the requested unit, with a prefix for their names."""

    unit: str
    units: convert.Units
    area: convert.Area | None
    rating: StoredRating | None
    prefix: str = ""

    def converted(self, flows: list[Any]) -> list[float | None]:
        known = np.array(flows, dtype=np.float64)  # None becomes NaN
        return gappy_column(convert.converted(known, unit=self.unit, into=self.units, area=self.area))

    def stage(self, flow: float | None) -> Stage:
        if flow is None or (self.unit == "mm/day" and self.area is None):
            return stage_of(self.rating, None)
        return stage_of(self.rating, float(convert.converted(flow, unit=self.unit, into="m3/s", area=self.area)))


def _statistic(
    into: LevelConverter, statistic: levels.Statistic, floods: levels.FloodFrequency
) -> schemas.RecordStatistic:
    counted = statistic.kind == "flow-duration"
    return schemas.RecordStatistic.from_records(
        statistic,
        comparison=floods.compares(statistic),
        direction=basin_levels.DIRECTIONS[statistic.kind],
        what=levels.WHAT[statistic.kind],
        interval=None if counted else _LIMITS if statistic.method == "bulletin-17c" else _INTERVAL,
        levels=[_level(into, named) for named in statistic.levels],
    )


def _level(into: LevelConverter, named: levels.NamedLevel) -> schemas.RecordLevel:
    level = named.level
    discharge, low, high = into.converted([level.value, level.low, level.high])
    return schemas.RecordLevel.from_records(
        named,
        name=into.prefix + named.name,
        discharge=discharge,
        low=low,
        high=high,
        reason=text(level.reason),
        stage=into.stage(level.value),
    )


@router.get(
    "/{basin}/thresholds",
    summary="Flood, low-flow and operator levels of a basin",
    **documented_responses(schemas.Thresholds, UnknownBasin, UnknownArea),
)
def read_thresholds(
    session: Reading,
    clock: ServiceClock,
    basin: KnownBasin,
    answer: JsonAnswer,
    units: DischargeUnits = "m3/s",
    area: AreaName = None,
) -> Response:
    """The levels of the basin's own gauge record: independent floods of half a year and a year, floods of 2 to 50 years
    by one distribution and, for comparison, by another, 7-day low flows of 2 and 10 years, and flow duration levels,
    with their intervals and the number of years. A record shorter than ten years has none, and gives the reason. Also
    the levels simulated by the current model version (`model`), and those set by operators. Floods are of daily means,
    and lower than instantaneous peaks."""
    asked = levels_request(session, basin, units, area, clock.today())
    return answer.tagged(tag_of(session, asked), lambda: body_of(thresholds_of(session, asked)), None)
