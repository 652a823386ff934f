"""From the records to the arrays that a network takes: forcing whole, discharge in mm/day, attributes complete.

A basin that cannot serve is left out with a sentence that says why. Precipitation is never guessed. Short gaps
of the other forcings are interpolated, and the days are told.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.calendar import Day, Days, Period
from hydrology.units import Area, to_mm_per_day
from models.arrays import Array, Forcing
from models.config import InputsConfig
from operations.basins import gauge_product
from records import basins, series

LONGEST_FILLED_GAP = 5  # days


@dataclass(frozen=True, slots=True)
class BasinForcing:
    """The forcing of one basin, as far as it reaches without a gap.

    Attributes:
        forcing: (1, days, ...) from the first day of the record.
        filled: the days that were interpolated, by variable.
        stop: why it ends before the record does; None where it does not.
        stamp: of the series it was read from (`series.stamp`).
    """

    forcing: Forcing
    filled: dict[str, Days]
    stop: str | None
    stamp: int

    @property
    def period(self) -> Period:
        """The days that can be used."""
        return self.forcing.period

    def filled_until(self, last: Day) -> dict[str, int]:
        """Return how many days up to the last one were interpolated, by variable."""
        counts = {name: int((days <= last).sum()) for name, days in self.filled.items()}
        return {name: count for name, count in counts.items() if count}


def load_forcing(session: Session, basin: str, inputs: InputsConfig) -> BasinForcing | str:
    """Return a basin's forcing up to its first unusable day, or why it has none."""
    names = (inputs.mass, *inputs.auxiliary)
    extents = series.extent(session, [basin], inputs.product, names)
    if missing := [name for name in names if (basin, name) not in extents]:
        others = ", ".join(sorted({entry.product for entry in series.catalogue(session, basin)})) or "nothing"
        return (
            f"{basin} has no {', '.join(missing)} of the forcing product {inputs.product}, which this model takes "
            f"(kept of this basin: {others}): ingest that product, or choose a model of another one."
        )
    static = basins.attributes_of(session, [basin], inputs.static)[0]
    if unknown := [name for name, value in zip(inputs.static, static, strict=True) if np.isnan(value)]:
        return f"{basin} has no attribute {', '.join(unknown)}: ingest its attributes."
    record = Period(max(extents[basin, name].first for name in names), max(extents[basin, name].last for name in names))
    values = series.read_many(session, [basin], inputs.product, names, record)[0]
    filled = {name: record.first + fill_short_gaps(values[:, at]) for at, name in enumerate(names[1:], start=1)}
    usable, stop = _until_unusable(basin, inputs, record, values)
    if not usable:
        return str(stop)
    mass, auxiliary = values[None, :usable, 0], values[None, :usable, 1:]
    forcing = Forcing(record.first, mass, auxiliary, static[None].astype(np.float32))
    return BasinForcing(forcing, filled, stop, series.stamp(session, basin, inputs.product))


def _until_unusable(basin: str, inputs: InputsConfig, record: Period, values: Array) -> tuple[int, str | None]:
    """Return how many days come before the first that cannot be used, and why it cannot."""
    names = (inputs.mass, *inputs.auxiliary)
    unusable = ~np.isfinite(values)
    unusable[:, 0] |= values[:, 0] < 0
    bad_days = np.flatnonzero(unusable.any(axis=1))
    if not len(bad_days):
        return len(values), None
    at = int(bad_days[0])
    which = ", ".join(name for name, bad in zip(names, unusable[at], strict=True) if bad)
    what = "is negative" if values[at, 0] < 0 else "is missing"
    return at, (
        f"{basin}: {which} of {inputs.product} {what} on {record.first + at}, and a day's forcing is never guessed: "
        "ingest the day."
    )


def fill_short_gaps(values: Array) -> npt.NDArray[np.int64]:
    """Interpolate gaps of up to LONGEST_FILLED_GAP days between known days, in place; return the days filled."""
    missing = np.flatnonzero(np.isnan(values))
    filled = [np.zeros(0, dtype=np.int64)]
    for gap in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
        if not 0 < len(gap) <= LONGEST_FILLED_GAP or gap[0] == 0 or gap[-1] == len(values) - 1:
            continue
        before, after = gap[0] - 1, gap[-1] + 1
        values[gap] = np.interp(gap, [before, after], [values[before], values[after]])
        filled.append(gap)
    return np.concatenate(filled)


def load_discharge(session: Session, basin: str, area_name: str, period: Period) -> Array | str:
    """Return a basin's observed discharge over a period in mm/day, NaN where missing, or why there is none."""
    observed = series.read(session, basin, gauge_product(basin), "discharge", period)
    if observed is None:
        return f"{basin} has no observed discharge in {period}: ingest its streamflow."
    areas = basins.get(session, basin).areas
    if area_name not in areas:
        return f"{basin} has no area named {area_name}, by which its discharge is converted: ingest {area_name}."
    area = Area(area_name, areas[area_name])
    return to_mm_per_day(observed.values, unit=observed.unit, area=area).astype(np.float32)


def stacked(forcings: Sequence[Forcing]) -> Forcing:
    """Return forcings of the same days as one."""
    first = forcings[0]
    return Forcing(
        first.first,
        np.concatenate([one.mass for one in forcings]),
        np.concatenate([one.auxiliary for one in forcings]),
        np.concatenate([one.static for one in forcings]),
    )


def content_hash(*arrays: npt.NDArray[np.float32]) -> str:
    """Return the SHA-256 of some arrays, one NaN like any other."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(str(array.shape).encode())
        digest.update(np.where(np.isnan(array), np.float32("nan"), array).astype("<f4").tobytes())
    return digest.hexdigest()
