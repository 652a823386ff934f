"""Levels of a version's own climatology: of its simulation of all past days with observed weather.

The water in the basin on those days is stored beside them, so that a forecast's storage can be compared with it. A
version with a low bias exceeds a level of the record too seldom; it exceeds its own ten-year level once in ten years,
whatever its bias."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from hydrology.base.reasons import Reason
from hydrology.base.units import area_by, converted
from hydrology.extremes.levels import of_record
from hydrology.water.storage import SPIN_UP_DAYS
from models.nets.layers import BLOCK
from operations.basin_data.climate import mean_pet
from operations.basin_data.dataset import BasinForcing, by_record, forcings_of
from operations.verification.past_simulation import Past, mean_past, simulate_past
from operations.verification.snow_cells import readable_snow
from operations.versions.load_networks import LoadedVersion, load_version
from records.basins import basins as basin_records
from records.basins.ownership import Basin
from records.database.engine import Database
from records.database.work import Work
from records.simulations import simulated_series
from records.simulations.simulated_series import SimulatedLoss, SimulatedWater, WaterVariable
from records.simulations.snow_cells import SnowMapping
from records.versions import promotions

log = structlog.get_logger()

DAYS_A_YEAR = 365.25


@dataclass(frozen=True, slots=True)
class LevelsComputed:
    version_id: str
    basins: tuple[str, ...]
    left_out: dict[str, Absent]


def compute(work: Work, version_id: str | None = None, basins: Sequence[str] = ()) -> list[LevelsComputed]:
    """Simulate all days of weather with a version; store its levels and water, replacing those before.

    The simulation begins with an empty store on the first day of a basin's record; the days on which the store fills
    are left out (`SPIN_UP_DAYS`). The flow is the members' mean. By default it is each version that is current, in the
    basins that it is current for, else those that it is meant for (`promotions.basins_of`).
    """
    with work.database.reading() as session:
        by_version = _asked(session, version_id, basins)
    return [_compute(work, version, names) for version, names in by_version.items()]


def _asked(session: Session, version: str | None, basins: Sequence[str]) -> dict[str, Sequence[str]]:
    in_use = promotions.in_use(session)
    if version is not None:
        return {version: basins or in_use.get(version) or promotions.basins_of(session, version)}
    wanted = {of: [name for name in names if not basins or name in basins] for of, names in in_use.items()}
    return {of: names for of, names in wanted.items() if names}


def _compute(work: Work, version_id: str, basins: Sequence[str]) -> LevelsComputed:
    with work.database.reading() as session:
        loaded = load_version(session, version_id)
        snow = readable_snow(session, version_id, basins)
    done: list[str] = []
    left_out: dict[str, Absent] = {}
    for first in range(0, len(basins), BLOCK):
        for basin, forcing, past in _simulated(work.database, loaded, basins[first : first + BLOCK], snow, left_out):
            levels = _levels(work, loaded, basin, forcing, past.flow)
            if isinstance(levels, Absent):
                left_out[basin] = levels
                continue
            with work.database.transaction() as session:
                loss = _loss(basin_records.get(session, basin), loaded, forcing, past)
                simulated_series.replace(session, levels, _water(levels, past, snow.get(basin)), loss)
            done.append(basin)
        work.show(len(done) + len(left_out), len(basins))
    if not done:
        raise DataProblem(f"No basin can be simulated. {first_texts(left_out)}")
    log.info("model_levels.done", version=version_id, basins=len(done), left_out=len(left_out))
    return LevelsComputed(version_id, tuple(done), left_out)


def _simulated(
    database: Database,
    loaded: LoadedVersion,
    basins: Sequence[str],
    snow: Mapping[str, SnowMapping],
    left_out: dict[str, Absent],
) -> Iterator[tuple[str, BasinForcing, Past]]:
    """Yield each basin's simulation; of a combined version over the days that its products have in common."""
    if loaded.version.combines:
        yield from _of_parts(database, loaded, basins, left_out)
        return
    with database.reading() as session:
        forcings = forcings_of(session, loaded, basins)
    left_out |= {basin: reason for basin, reason in forcings.items() if isinstance(reason, Absent)}
    ready = {basin: forcing for basin, forcing in forcings.items() if not isinstance(forcing, Absent)}
    for _, names, joined in by_record(ready):
        past = simulate_past(loaded, joined, [snow.get(basin) for basin in names])
        yield from ((basin, ready[basin], of_basin) for basin, of_basin in zip(names, past, strict=True))


def _of_parts(
    database: Database, loaded: LoadedVersion, basins: Sequence[str], left_out: dict[str, Absent]
) -> Iterator[tuple[str, BasinForcing, Past]]:
    """Yield the weighted mean of the simulations of a combined version's parts. Snow and loss are the parts' own."""
    found: dict[str, list[tuple[float, BasinForcing, Past]]] = {}
    for one in loaded.parts:
        for basin, forcing, past in _simulated(database, one.loaded, basins, {}, left_out):
            found.setdefault(basin, []).append((one.part.in_basin(basin).weight, forcing, past))
    for basin, of_parts in found.items():
        days: Period | None = of_parts[0][1].period
        for _, forcing, _ in of_parts:
            days = None if days is None else days.overlap(forcing.period)
        if days is None:
            left_out[basin] = absent(Reason.NO_COMMON_RECORD, basin=basin)
            continue
        left_out.pop(basin, None)
        first = of_parts[0][1]
        past = mean_past([(weight, forcing.period, past) for weight, forcing, past in of_parts], days)
        yield basin, replace(first, forcing=first.forcing.over(days)), past


def _water(
    levels: simulated_series.ModelLevels, past: Past, chosen: SnowMapping | None
) -> dict[WaterVariable, SimulatedWater]:
    days, water = Period(levels.first_day, levels.last_day), dict[WaterVariable, SimulatedWater]()
    if past.storage is not None:
        water["storage"] = SimulatedWater(days, past.storage[SPIN_UP_DAYS:].astype(np.float32))
    if past.snow is not None and chosen is not None:
        water["snow"] = SimulatedWater(days, past.snow[SPIN_UP_DAYS:].astype(np.float32), dict(chosen.cells))
    return water


def _loss(basin: Basin, loaded: LoadedVersion, forcing: BasinForcing, past: Past) -> SimulatedLoss | None:
    if past.loss is None:
        return None
    days = Period(forcing.period.first + SPIN_UP_DAYS, forcing.period.last)
    pet = mean_pet(basin, forcing.forcing.over(days), loaded.config.inputs)
    return SimulatedLoss(
        members={label: DAYS_A_YEAR * loss for label, loss in past.loss.items()},
        pet=pet if isinstance(pet, Absent) else DAYS_A_YEAR * pet,
    )


def _levels(
    work: Work, loaded: LoadedVersion, basin: str, forcing: BasinForcing, flow: npt.NDArray[np.float64]
) -> simulated_series.ModelLevels | Absent:
    with work.database.reading() as session:
        area = area_by(basin_records.get(session, basin).areas, loaded.version.area_products)
    if area is None:
        return absent(Reason.NO_AREA_OF_BASIN, basin=basin)
    if len(flow) <= SPIN_UP_DAYS:
        record = str(forcing.period)
        return absent(Reason.RECORD_FILLS_STORE, basin=basin, record=record, days=SPIN_UP_DAYS)
    days = Period(forcing.period.first + SPIN_UP_DAYS, forcing.period.last)
    discharge = converted(flow[SPIN_UP_DAYS:], unit="mm/day", into=simulated_series.UNIT, area=area)
    return simulated_series.ModelLevels(
        version_id=loaded.version.id,
        basin_id=basin,
        first_day=days.first,
        last_day=days.last,
        area_name=area.name,
        area_m2=area.m2,
        attributes_assumed=list(forcing.assumed),
        statistics=of_record(np.maximum(discharge, 0), days.days),
        computed_at=work.clock.wall(),
    )
