"""Levels of a version's own climatology: of its simulation of all past days with observed weather.

The water in the basin on those days is stored beside them, so that a forecast's storage can be compared with it. A
version with a low bias exceeds a level of the record too seldom; it exceeds its own ten-year level once in ten years,
whatever its bias."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.base.units import area_by, converted
from hydrology.extremes.levels import of_record
from hydrology.extremes.signatures import signatures
from hydrology.water.storage import SPIN_UP_DAYS
from models.forcing import Forcing
from models.pretrained.signature_errors import shipped_signature_errors
from operations.basin_data.climate import mean_pet
from operations.basin_data.dataset import BasinForcing, by_record, forcings_of
from operations.verification.past_simulation import Past, StoredPart, in_blocks, mean_past, simulate_past
from operations.versions.load_networks import LoadedVersion, load_version
from records.basins import basins as basin_records
from records.database.work import Work
from records.simulations import simulated_series
from records.simulations.simulated_series import SimulatedLoss, SimulatedWater, WaterVariable
from records.simulations.snow_cells import SnowMapping, mappings
from records.versions import promotions
from records.versions.versions import Version

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
        by_version = asked_basins(session, version_id, basins)
    return [conclude(version, [compute_part(work, version, names)]) for version, names in by_version.items()]


def asked_basins(session: Session, version: str | None, basins: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the basins to compute by version, as `compute` chooses them."""
    in_use = promotions.in_use(session)
    if version is not None:
        return {version: basins or in_use.get(version) or promotions.basins_of(session, version)}
    wanted = {of: [name for name in names if not basins or name in basins] for of, names in in_use.items()}
    return {of: names for of, names in wanted.items() if names}


def compute_part(work: Work, version_id: str, basins: Sequence[str]) -> StoredPart:
    """Simulate and store as `compute` does, in a part of the basins of a version."""
    with work.database.reading() as session:
        loaded = load_version(session, version_id)
        found = mappings(session, version_id, basins).items()
        snow = {basin: mapping for basin, mapping in found if not isinstance(mapping, Absent)}
    past = _PastOfVersion(work, loaded, snow)
    done: list[str] = []
    for names in in_blocks(basins):
        for basin, forcing, of_basin in past.simulated(loaded, names):
            if past.store(basin, forcing, of_basin):
                done.append(basin)
        work.show(len(done) + len(past.left_out), len(basins))
    return StoredPart(done, past.left_out)


def conclude(version_id: str, parts: Sequence[StoredPart]) -> LevelsComputed:
    """Join the parts of a version."""
    whole = StoredPart.joined(parts)
    log.info("model_levels.done", version=version_id, basins=len(whole.basins), left_out=len(whole.left_out))
    return LevelsComputed(version_id, tuple(whole.basins), whole.left_out)


@dataclass(frozen=True, slots=True)
class _PastOfVersion:
    """Simulates and stores a version's past, with its snow cells by basin; `left_out` receives why a basin has none."""

    work: Work
    loaded: LoadedVersion
    snow: Mapping[str, SnowMapping]
    left_out: dict[str, Absent] = field(default_factory=dict)

    def simulated(self, loaded: LoadedVersion, basins: Sequence[str]) -> Iterator[tuple[str, BasinForcing, Past]]:
        """Yield each basin's simulation; of a combined version over the days that its products have in common."""
        if loaded.version.combines:
            yield from self._of_parts(loaded, basins)
            return
        with self.work.database.reading() as session:
            forcings = forcings_of(session, loaded, basins)
        self.left_out.update({basin: reason for basin, reason in forcings.items() if isinstance(reason, Absent)})
        ready = {basin: forcing for basin, forcing in forcings.items() if not isinstance(forcing, Absent)}
        for _, names, joined in by_record(ready):
            snow = [None if self.loaded.version.combines else self.snow.get(basin) for basin in names]
            past = simulate_past(loaded, joined, snow)
            yield from ((basin, ready[basin], of_basin) for basin, of_basin in zip(names, past, strict=True))

    def _of_parts(self, loaded: LoadedVersion, basins: Sequence[str]) -> Iterator[tuple[str, BasinForcing, Past]]:
        """Yield the weighted mean of a combined version's parts. Snow and loss are the parts' own."""
        found: dict[str, list[tuple[float, BasinForcing, Past]]] = {}
        for one in loaded.parts:
            for basin, forcing, past in self.simulated(one.loaded, basins):
                found.setdefault(basin, []).append((one.part.in_basin(basin).weight, forcing, past))
        for basin, of_parts in found.items():
            days: Period | None = of_parts[0][1].period
            for _, forcing, _ in of_parts:
                days = None if days is None else days.overlap(forcing.period)
            if days is None:
                self.left_out[basin] = absent(Reason.NO_COMMON_RECORD, basin=basin)
                continue
            self.left_out.pop(basin, None)
            first = of_parts[0][1]
            past = mean_past([(weight, forcing.period, past) for weight, forcing, past in of_parts], days)
            yield basin, replace(first, forcing=first.forcing.over(days)), past

    def store(self, name: str, forcing: BasinForcing, past: Past) -> bool:
        """Store the levels, water and loss of a basin; return whether it has levels."""
        version = self.loaded.version
        with self.work.database.reading() as session:
            basin = basin_records.get(session, name)
        area = area_by(basin.areas, version.area_products)
        if area is None:
            self.left_out[name] = absent(Reason.NO_AREA_OF_BASIN, basin=name)
            return False
        if len(past.flow) <= SPIN_UP_DAYS:
            record = str(forcing.period)
            self.left_out[name] = absent(Reason.RECORD_FILLS_STORE, basin=name, record=record, days=SPIN_UP_DAYS)
            return False
        days = Period(forcing.period.first + SPIN_UP_DAYS, forcing.period.last)
        discharge = converted(past.flow[SPIN_UP_DAYS:], unit="mm/day", into=simulated_series.UNIT, area=area)
        levels = simulated_series.ModelLevels(
            version_id=version.id,
            basin_id=name,
            first_day=days.first,
            last_day=days.last,
            area_name=area.name,
            area_m2=area.m2,
            attributes_assumed=list(forcing.assumed),
            statistics=of_record(np.maximum(discharge, 0), days.days),
            signatures=_signatures(version, past.flow[SPIN_UP_DAYS:], forcing.forcing.over(days), days),
            computed_at=self.work.clock.wall(),
        )
        water = dict[WaterVariable, SimulatedWater]()
        if past.storage is not None:
            water["storage"] = SimulatedWater(days, past.storage[SPIN_UP_DAYS:].astype(np.float32))
        if past.snow is not None and (chosen := self.snow.get(name)) is not None:
            water["snow"] = SimulatedWater(days, past.snow[SPIN_UP_DAYS:].astype(np.float32), dict(chosen.cells))
        loss = None
        if past.loss is not None:
            pet = mean_pet(basin, forcing.forcing.over(days), self.loaded.config.inputs)
            members = {label: DAYS_A_YEAR * of_member for label, of_member in past.loss.items()}
            loss = SimulatedLoss(members=members, pet=pet if isinstance(pet, Absent) else DAYS_A_YEAR * pet)
        with self.work.database.transaction() as session:
            simulated_series.replace(session, levels, water, loss)
        return True


def _signatures(version: Version, flow: Array, forcing: Forcing, days: Period) -> simulated_series.RiverSignatures:
    """Return the signatures of simulated flow, mm/day, and estimates by the errors that the version comes with."""
    simulated = signatures(flow, days.days, float(forcing.mass.mean()))
    shipped = version.properties.pretrained
    errors = None if shipped is None else shipped_signature_errors().get(shipped.name)
    return simulated_series.RiverSignatures(
        simulated=simulated,
        estimates={} if errors is None else errors.estimates(simulated),
        tested_in=None if errors is None else errors.basins,
    )
