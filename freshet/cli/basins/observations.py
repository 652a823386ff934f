"""`freshet observations`: the stored daily series of a basin, now or as of an earlier time."""

from typing import Annotated

from freshet.cli.answers import series
from freshet.cli.options import Basin, option
from freshet.cli.reading import Reading, Shown, reads_series
from hydrology.base.calendar import Period, instant
from hydrology.base.units import STANDARD, ObservedUnits


@reads_series
def observations(
    at: Reading,
    basin: Basin,
    product: Annotated[str, option("NAME", "`freshet basins BASIN` lists them.")],
    variable: Annotated[str, option("NAME", "discharge, precipitation, ...")] = "discharge",
    period: Annotated[str | None, option("FIRST..LAST", "The days. Default: the last year.")] = None,
    known_at: Annotated[str | None, option("INSTANT", "As it was known then: 2008-04-21T06:00:00Z.")] = None,
    units: Annotated[
        ObservedUnits, option("UNIT", "Unit of discharge: m3/s, mm/day, cfs, or source (as stored).")
    ] = STANDARD,
    area: Annotated[
        str | None, option("NAME", "Drainage area for depths, where the basin has several (`freshet basins`).")
    ] = None,
) -> Shown:
    """Show a daily series of a basin, as known now or at an earlier instant."""
    from app.basins.observations import observation_query, observations_of, table_of
    from app.basins.queries import SeriesRequest
    from records.basins.basins import sites

    days = None if period is None else Period.parse(period)
    asked = SeriesRequest(
        product=product,
        variable=variable,
        start=None if days is None else days.first,
        end=None if days is None else days.last,
        units=units if variable == "discharge" else None,
        area=area,
        known_at=None if known_at is None else instant(known_at),
    )
    found = observations_of(at.session, observation_query(at.session, basin, asked))
    columns = {found.units[variable]: f"values.{variable}", "flags": f"flags.{variable}"}
    title = f"{basin} {product} {variable}{f', as it was known at {known_at}' if known_at else ''}"
    return Shown(
        found,
        lambda: series(found, columns, title),
        lambda: table_of(found, sites(at.session, [basin])),
    )
