"""Normal flow of the days ahead, and the snow of T0 with its normals: by a version, by references, and by Snow-17."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Days, Period, days_between, same_day
from hydrology.base.products import DISCHARGE
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries
from hydrology.base.units import area_by, to_mm_per_day
from hydrology.climatology.normals import MIN_YEARS, NEAR_DAYS, normal_means, too_few_years
from hydrology.snow.against_normal import SnowEstimate
from hydrology.snow.snow17 import snow17
from jobspec.network import TEMPERATURES
from jobspec.training import InputsConfig
from models.forcing import mean_temperature
from models.nets.layers import BLOCK
from operations.basin_data.dataset import BasinForcing
from records.basins.ownership import Basin
from records.runs.run_summary import ReferenceSnow
from records.series import series
from records.series.year_rows import DamagedSeries, calendar_years, years_of
from records.simulations import simulated_series
from records.simulations.snow_cells import REFERENCES, SnowMapping


def observed_normals(
    session: Session, basins: Mapping[str, Basin], area_products: Sequence[str], days: Days
) -> dict[str, Array | Absent]:
    """Return normal flow, (days,) in mm/day, or why it is unknown; by the products' area (`units.area_by`)."""
    normals: dict[str, Array | Absent] = {name: absent(Reason.NO_DISCHARGE, basin=name) for name in basins}
    for name, record in _records(series.read_variable(session, [*basins], DISCHARGE)):
        if isinstance(record, Absent):
            normals[name] = record
        else:
            means = normal_means(record.values, record.period, days)
            normals[name] = _in_mm(basins[name], record.unit, means, area_products)
    return normals


def snow_normals(
    session: Session, version: str, chosen: Mapping[str, SnowMapping | Absent], t0: Day
) -> dict[str, float | Absent]:
    """Return each basin's normal snow at T0, mm, by a version's past simulation; or why it is unknown."""
    normals: dict[str, float | Absent] = {}
    for first in range(0, len(chosen), BLOCK):
        block = dict([*chosen.items()][first : first + BLOCK])
        for name, water in simulated_series.snow_of_basins(session, version, block).items():
            normals[name] = water if isinstance(water, Absent) else _at(t0, water.values, water.period)
    return normals


def reference_snow(session: Session, names: Sequence[str], t0: Day) -> dict[str, ReferenceSnow | Absent]:
    """Return each basin's reference snow at T0, mm, with its normal; or why it is unknown."""
    found: dict[str, ReferenceSnow | Absent] = {
        name: absent(Reason.NO_REFERENCE_SNOW_AT_T0, t0=str(t0)) for name in names
    }
    without = list(names)
    for product in REFERENCES:
        spans = series.spans(session, without, product, "swe")
        without = [name for name in without if name not in spans]
        reaching = [name for name, years in spans.items() if years.first <= t0 <= years.last]
        for name, record in _records(series.read_variable(session, reaching, "swe", product)):
            if isinstance(record, Absent):
                found[name] = record
            elif not isnan(mm := float(record.values[days_between(record.start, t0)])):
                normal = _at(t0, record.values, record.period)
                found[name] = ReferenceSnow(product=product, mm=mm, normal_mm=normal)
    return found


def _at(t0: Day, values: npt.NDArray[np.floating], record: Period) -> float | Absent:
    (normal,) = normal_means(values, record, np.array([t0])).tolist()
    return too_few_years(1, 1) if isnan(normal) else normal


def _records(
    found: Iterable[tuple[str, DailySeries | DamagedSeries | None]],
) -> Iterator[tuple[str, DailySeries | Absent]]:
    """Yield basins with their record over whole years, or why it cannot be read."""
    for name, record in found:
        if isinstance(record, DamagedSeries):
            yield name, absent(Reason.FAILED, message=str(record))
        elif record is not None:
            years = years_of(record.period)
            yield name, record.over(calendar_years(years[0], years[-1]))


def _in_mm(basin: Basin, unit: str, means: Array, area_products: Sequence[str]) -> Array | Absent:
    if lacking := int(np.isnan(means).sum()):
        return too_few_years(lacking, len(means))
    area = area_by(basin.areas, area_products)
    if area is None:
        return means if unit == "mm/day" else absent(Reason.NO_AREA_FOR_DEPTH, basin=basin.id)
    return to_mm_per_day(means, unit=unit, area=area)


DAYS = 730
"""It starts on bare ground this many days before T0, so that a summer lies between."""
ELEVATION = "elev_mean"


@dataclass(frozen=True, slots=True)
class _Weather:
    """Precipitation and mean temperature of a basin's record, (2, days), NaN on days that lack any forcing."""

    record: Period
    values: Array
    elevation: float

    def until(self, last: Day, days: int) -> Array:
        """Return the values of a number of days until a last one, (2, days), fewer where the record is shorter."""
        end = days_between(self.record.first, last) + 1
        return self.values[:, max(end - days, 0) : max(end, 0)]

    def of_other_years(self, t0: Day) -> Iterator[Array]:
        years = np.arange(self.record.first.astype("datetime64[Y]"), self.record.last.astype("datetime64[Y]") + 1)
        for same in same_day(t0, years[years != t0.astype("datetime64[Y]")]):
            part = self.until(same + NEAR_DAYS, DAYS + NEAR_DAYS)
            if part.shape[1] == DAYS + NEAR_DAYS and not np.isnan(part).any():
                yield part


def snow17_at(
    t0: Day, basins: Mapping[str, Basin], forcings: Mapping[str, BasinForcing], inputs: InputsConfig
) -> dict[str, SnowEstimate | Absent]:
    """Return the snow of basins at T0 by Snow-17, mm, or why it is unknown.

    The parameters are Snow-17's usual ones. The normal is the mean within `NEAR_DAYS` of the day in the other years,
    each simulated from bare ground as T0's is; None with fewer than `MIN_YEARS` of them.
    """
    outcomes: dict[str, SnowEstimate | Absent] = {}
    ready: dict[str, _Weather] = {}
    for name, basin in basins.items():
        weather = _weather(basin, forcings[name], inputs, t0)
        if isinstance(weather, Absent):
            outcomes[name] = weather
        else:
            ready[name] = weather
    names = [*ready]
    for first in range(0, len(names), BLOCK):
        outcomes |= _estimates({name: ready[name] for name in names[first : first + BLOCK]}, t0)
    return outcomes


def _estimates(ready: Mapping[str, _Weather], t0: Day) -> dict[str, SnowEstimate]:
    """Simulate the snow of T0 and of the same day in other years at once, each from bare ground `DAYS` before."""
    years = {name: [*weather.of_other_years(t0)] for name, weather in ready.items()}
    near = ((0, 0), (0, NEAR_DAYS))  # without weather: what is simulated there is not read
    columns = [np.pad(weather.until(t0, DAYS), near) for weather in ready.values()]
    columns += [part for of in years.values() for part in of]
    elevations = [weather.elevation for weather in ready.values()]
    elevations += [ready[name].elevation for name, of in years.items() for _ in of]
    precipitation, temperature = np.stack(columns, axis=-1)
    days = Period(t0 - DAYS + 1, t0 + NEAR_DAYS).days
    snow = snow17(precipitation, temperature, days, elevation=np.array(elevations)).swe
    means = iter(snow[-2 * NEAR_DAYS - 1 :, len(ready) :].mean(axis=0).tolist())
    of_years = {name: [next(means) for _ in of] for name, of in years.items()}
    return {
        name: SnowEstimate(mm, float(np.mean(of)) if len(of) >= MIN_YEARS else None)
        for (name, of), mm in zip(of_years.items(), snow[DAYS - 1, : len(ready)].tolist(), strict=True)
    }


def _weather(basin: Basin, forcing: BasinForcing, inputs: InputsConfig, t0: Day) -> _Weather | Absent:
    if lacking := [name for name in TEMPERATURES if name not in inputs.auxiliary]:
        return absent(Reason.SNOW17_LACKS_VARIABLES, variables=" and ".join(lacking))
    if (elevation := basin.attributes.get(ELEVATION)) is None:
        return absent(Reason.SNOW17_LACKS_ELEVATION, attribute=ELEVATION)
    if forcing.period.first > t0 - DAYS + 1:
        return absent(Reason.SNOW17_RECORD_TOO_SHORT, days=DAYS, first=str(forcing.period.first))
    known = forcing.forcing
    values = np.stack([known.mass[0].astype(np.float64), mean_temperature(known, inputs)[0]])
    values[:, known.missing[0]] = np.nan
    weather = _Weather(forcing.period, values, elevation)
    return absent(Reason.SNOW17_WEATHER_GAP, days=DAYS) if np.isnan(weather.until(t0, DAYS)).any() else weather
