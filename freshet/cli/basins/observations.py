"""`freshet observations`: the stored daily series of a basin, now or as of an earlier time."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated

import numpy as np
from sqlalchemy.orm import Session

from freshet.cli.context import reading
from freshet.cli.options import Basin, option
from freshet.cli.output import Json, answer, table
from hydrology.base.calendar import Period, instant
from hydrology.base.errors import InvalidInput
from hydrology.base.series import DailySeries
from hydrology.base.units import STANDARD, Area, ObservedUnits, converted, observed_unit
from records.basins import basins
from records.series import revisions, series
from records.series.series import NoObservations
from records.versions.basin_areas import areas_in_use

USUAL_DAYS = 30


def observations(
    basin: Basin,
    product: Annotated[str, option("NAME", "`freshet basins BASIN` lists them.")],
    variable: Annotated[str, option("NAME", "discharge, precipitation, ...")] = "discharge",
    period: Annotated[str | None, option("FIRST..LAST", f"The days. Default: the last {USUAL_DAYS}.")] = None,
    known_at: Annotated[str | None, option("INSTANT", "As it was known then: 2008-04-21T06:00:00Z.")] = None,
    units: Annotated[
        ObservedUnits, option("UNIT", "Unit of discharge: m3/s, mm/day, cfs, or source (as stored).")
    ] = STANDARD,
    area: Annotated[
        str | None, option("NAME", "Drainage area for depths, where the basin has several (`freshet basins`).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a daily series of a basin, as known now or at an earlier instant."""
    days = None if period is None else Period.parse(period)
    at = None if known_at is None else instant(known_at)
    with reading() as session:
        daily = _read(session, basin, product, variable, days, at)
        if variable == "discharge":
            daily = _in_units(session, basin, daily, observed_unit(units) or daily.unit, area)
    if days is None:
        daily = daily.over(
            Period(max(daily.start, daily.period.last - np.timedelta64(USUAL_DAYS - 1, "D")), daily.period.last)
        )
    values = [None if np.isnan(value) else float(value) for value in daily.values]
    payload = {
        "basin": basin,
        "product": product,
        "variable": variable,
        "unit": daily.unit,
        "known_at": at,
        "time": list(daily.days),
        "values": values,
        "flags": daily.flags.tolist(),
    }
    rows = list(zip(daily.days, values, daily.flags.tolist(), strict=True))
    title = f"{basin} {product} {variable}{f', as it was known at {known_at}' if known_at else ''}"
    answer(payload, as_json, table(("day", daily.unit, "flags"), rows, title))


def _in_units(session: Session, basin: str, daily: DailySeries, into: str, area: str | None) -> DailySeries:
    """Return a series of discharge in a unit.

    Raises:
        UnknownArea: the basin has no area of that name.
        InvalidInput: an area is needed and the basin has none.
    """
    used = None
    if into != daily.unit and "mm/day" in (into, daily.unit):
        stored = basins.get(session, basin)
        named = None if area is None else Area(area, basins.area_of(session, basin, area))
        used = named or areas_in_use(session, [stored])[basin]
        if used is None:
            names = ", ".join(sorted(stored.areas)) or "the basin has none"
            raise InvalidInput(
                f"Between {daily.unit} and {into} an area is needed: name one with --area ({names}), or take "
                "--units source."
            )
    return replace(daily, values=converted(daily.values, unit=daily.unit, into=into, area=used), unit=into)


def _read(
    session: Session, basin: str, product: str, variable: str, days: Period | None, at: datetime | None
) -> DailySeries:
    """Return a series.

    Raises:
        UnknownBasin: there is no such basin.
        NoObservations: nothing of it is known.
    """
    stored = {(entry.product, entry.variable) for entry in series.catalogue(session, basin)}
    key = (session, basin, product, variable)
    daily = series.read(*key, days) if at is None else revisions.as_known_at(*key, at, days)
    if daily is None:
        choices = ", ".join(sorted(f"{product} {variable}" for product, variable in stored)) or "nothing"
        raise NoObservations(
            f"No {variable} of {product} is known of {basin} there: choose other days, or a stored series  ({choices})."
        )
    return daily
