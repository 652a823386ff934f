"""Daily series from the records to their answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.columns import gappy_column
from app.conditional import entity_tag
from app.forecasts import schemas as forecasts
from app.observations.schemas import Extent, Observations
from app.problems import Fault, InvalidRequest
from hydrology import units as convert
from hydrology.calendar import Day, Period, as_date
from hydrology.errors import NotFound
from hydrology.series import DailySeries, Flag
from records import basins, series

Units = Literal["cfs", "m3/s", "mm/day"]
DISCHARGE = "discharge"
LONGEST_DAYS = 3_660
USUAL_DAYS = 365
LEGEND: Mapping[Flag, str] = {
    Flag.APPROVED: "approved: the source has approved the value for publication",
    Flag.ESTIMATED: "estimated: the source has estimated the value",
    Flag.BELOW_LIMIT: "below limit: the value is the limit below which the source cannot measure",
    Flag.MISSING: "missing: the source names the day and has no value for it",
    Flag.ABSENT: "absent: no source speaks of the day",
    Flag.FILLED: "filled: a missing value was filled in",
    Flag.SUSPECT: "suspect: the value is doubtful",
}


class NoObservations(NotFound):
    """Nothing of that product, variable or period is kept for the basin."""

    kind = "no-observations"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a basin's series; None is the usual.

    Attributes:
        variable: one, or all of the product.
        start, end: the first and last day.
        units: of discharge.
        area: the name of the area that depths are taken over.
    """

    product: str
    variable: str | None
    start: Day | None
    end: Day | None
    units: Units | None
    area: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """What a request comes to: the series that it names, their days, and the area for conversions."""

    basin: str
    entries: Sequence[series.Entry]
    period: Period
    units: Units | None
    area: convert.Area | None


def part(session: Session, basin: str, asked: Asked) -> Part:
    """Return what is asked for, with what was left open filled in.

    Raises:
        UnknownBasin: there is no such basin.
        NoObservations: nothing of it is kept; the sentence names what is.
        UnknownArea: the basin has no area of that name.
        InvalidRequest: the period is too long or turned round, or the unit does not fit.
    """
    catalogue = series.catalogue(session, basin)
    entries = [one for one in catalogue if one.product == asked.product and asked.variable in (None, one.variable)]
    if not entries:
        kept = "; ".join(f"{one.product}: {one.variable} {one.period}" for one in catalogue) or "nothing yet"
        what = "No series" if asked.variable is None else f"No {asked.variable}"
        raise NoObservations(f"{what} of {asked.product} is kept for {basin}: choose what is ({kept}).")
    area = _area(session, basin, asked, entries)
    return Part(basin, entries, _period(basin, asked, entries), asked.units, area)


def tag_of(session: Session, wanted: Part) -> str:
    """Return the entity tag: the stamp of the product grows with every write to it."""
    area = wanted.area and (wanted.area.name, wanted.area.m2)
    product = wanted.entries[0].product
    stamp = series.stamp(session, wanted.basin, product)
    names = [one.variable for one in wanted.entries]
    said = (wanted.basin, product, stamp, names, str(wanted.period), wanted.units, area)
    return entity_tag(*said)


def tell(session: Session, wanted: Part) -> Observations:
    """Return the answer."""
    period, area = wanted.period, wanted.area
    told = {one.variable: _told(session, wanted, one) for one in wanted.entries}
    lacking = {name: int(np.isnan(one.values).sum()) for name, one in told.items()}
    missing = {
        f"values.{name}": f"{days} of {len(period)} days have no value: their flags say why."
        for name, days in lacking.items()
        if days
    }
    if area is None:
        missing["area"] = "No value was converted with an area."
    return Observations(
        basin=wanted.basin,
        basin_kind=kind_of(wanted.basin),
        product=wanted.entries[0].product,
        units={name: one.unit for name, one in told.items()},
        area=None if area is None else forecasts.Area(name=area.name, km2=area.m2 / 1e6),
        kept={
            one.variable: Extent(first_day=as_date(one.period.first), last_day=as_date(one.period.last))
            for one in wanted.entries
        },
        time=period.days.tolist(),
        values={name: gappy_column(one.values) for name, one in told.items()},
        flags={name: one.flags.tolist() for name, one in told.items()},
        flag_legend={str(int(flag)): words for flag, words in LEGEND.items()},
        missing=missing,
    )


def _told(session: Session, wanted: Part, entry: series.Entry) -> DailySeries:
    """Return a series over the period in the unit to tell it in."""
    kept = series.read(session, wanted.basin, entry.product, entry.variable, wanted.period)
    if kept is None:
        length = len(wanted.period)
        nothing, absent = np.full(length, np.nan, np.float32), np.full(length, Flag.ABSENT, np.uint8)
        kept = DailySeries(wanted.period.first, nothing, absent, entry.unit)
    units = wanted.units
    if entry.variable != DISCHARGE or units is None or units == kept.unit:
        return kept
    return DailySeries(kept.start, _converted(kept, units, wanted.area), kept.flags, units)


def _converted(kept: DailySeries, units: Units, area: convert.Area | None) -> npt.NDArray[np.float64]:
    if area is None:
        return convert.cfs_to_m3s(kept.values) if units == "m3/s" else convert.m3s_to_cfs(kept.values)
    depth = convert.to_mm_per_day(kept.values, unit=kept.unit, area=area)
    match units:
        case "mm/day":
            return depth
        case "m3/s":
            return convert.mm_per_day_to_m3s(depth, area=area)
    return convert.mm_per_day_to_cfs(depth, area=area)


def _area(session: Session, basin: str, asked: Asked, entries: Sequence[series.Entry]) -> convert.Area | None:
    stored = next((one.unit for one in entries if one.variable == DISCHARGE), None)
    if asked.units is not None and stored is None:
        raise _refused("units", "only discharge can be told in other units, and none is asked for: leave it out.")
    over_area = asked.units not in (None, stored) and "mm/day" in (asked.units, stored)
    if not over_area and asked.area is not None:
        raise _refused("area", "nothing is converted with an area here: leave it out, or ask for units=mm/day.")
    if not over_area:
        return None
    if asked.area is None:
        names = ", ".join(sorted(basins.get(session, basin).areas)) or "the basin has none"
        raise _refused("area", f"between {stored} and {asked.units} an area is needed: name one ({names}).")
    return convert.Area(asked.area, basins.area_of(session, basin, asked.area))


def _period(basin: str, asked: Asked, entries: Sequence[series.Entry]) -> Period:
    kept = Period(min(one.period.first for one in entries), max(one.period.last for one in entries))
    last = kept.last if asked.end is None else asked.end
    usual = max(kept.first, last - np.timedelta64(USUAL_DAYS - 1, "D"))
    first = usual if asked.start is None else asked.start
    if asked.start is not None and asked.end is not None and last < first:
        raise _refused("end", "the period ends before it begins: swap start and end.")
    period = Period(first, last)
    if first > last or kept.overlap(period) is None:
        raise NoObservations(f"Nothing of {asked.product} is kept for {basin} in those days: choose some of {kept}.")
    if len(period) > LONGEST_DAYS:
        raise _refused(
            "start" if asked.end is None else "end",
            f"{period} are {len(period)} days, and one answer holds at most {LONGEST_DAYS}: ask for a part at a time.",
        )
    return period


def _refused(field: str, detail: str) -> InvalidRequest:
    return InvalidRequest([Fault(location="query", field=field, detail=detail)])
