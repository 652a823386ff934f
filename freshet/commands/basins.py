"""`freshet basins` and `freshet observations`: basins and their daily series."""

from collections.abc import Iterator
from typing import Annotated

from app.basins import observations as observed
from app.basins import queries, user_basins
from app.basins.schemas import BasinDetail, BasinPage, basin_detail, basin_summaries
from freshet.cli.options import Basin, argument, option
from freshet.cli.output import listing, series
from freshet.cli.reading import Reading, Shown, reads, reads_series, writes
from hydrology.base.basins import basin_id, place_in_words
from hydrology.base.calendar import Period, instant
from hydrology.base.errors import counted
from hydrology.base.units import STANDARD, ObservedUnits
from records.access.audit import Writer
from records.basins.basins import OUTLINE_COMPARED, list_basins, sites

_COLUMNS = "basin: id | name | HUC: huc | latitude | longitude"


@reads
def show_basins(
    at: Reading,
    basin: Annotated[
        str | None, argument("BASIN", "Show this basin: USGS number or full identifier.", parser=basin_id)
    ] = None,
    text: Annotated[str | None, option("TEXT", "List basins whose identifier or name contains this text.")] = None,
    huc: Annotated[
        str | None, option("DIGITS", "List basins whose hydrologic unit code begins with these digits.")
    ] = None,
) -> Shown:
    """List the basins, or show one: place, areas, series, data quality."""
    if basin is not None:
        one = basin_detail(at.session, basin)
        return Shown(one, lambda: "\n".join(basin_lines(one)))
    found = BasinPage(basins=basin_summaries(at.session, list_basins(at.session, text=text, huc=huc)), next=None)
    return Shown(found, lambda: listing(found.basins, _COLUMNS, counted(len(found.basins), "basin")))


@writes
def adopt(by: Writer, basin: Basin) -> Shown:
    """Make a basin that an operator registered official, with its levels, its rating and the version that serves it.

    Its alerts begin anew with the next forecast. `freshet basins release` gives it back.
    """
    found = user_basins.adopt_basin(by, basin)
    return Shown(found, lambda: f"{basin} is official, adopted from the key {found.owner}.")


@writes
def release(by: Writer, basin: Basin) -> Shown:
    """Give an adopted basin back to the operator who registered it, as unofficial."""
    user_basins.release_basin(by, basin)
    return Shown({"basin": basin}, lambda: f"{basin} is unofficial again.")


def basin_lines(one: BasinDetail) -> Iterator[str]:
    """Yield the facts of a basin, a line each."""
    placed = one.latitude is not None and one.longitude is not None
    place = place_in_words(one.latitude or 0.0, one.longitude or 0.0) if placed else "place not known"
    yield f"{one.id}  {one.name or ''}"
    yield f"{place}, HUC {one.huc}" if one.huc else place
    if one.kind == "unofficial":
        yield "unofficial: an operator registered it (freshet basins adopt)"
    if one.area is not None:
        yield f"area: {one.area.km2:.1f} km2 ({one.area.name})"
    others = [f"{km2:.1f} ({name})" for name, km2 in one.areas_km2.items() if one.area is None or name != one.area.name]
    if others:
        yield f"area by other sources, km2: {', '.join(others)}"
    if OUTLINE_COMPARED in one.texts:
        yield one.texts[OUTLINE_COMPARED]
    if one.weather_points:
        yield f"weather averaged over {counted(len(one.weather_points), 'point')}"
    if one.assume_attributes:
        yield "attributes that are not known may be assumed"
    yield f"current version: {one.current_version or 'none'}"
    yield ""
    yield from (f"{of.product} {of.variable} [{of.unit}] {of.first_day}..{of.last_day}" for of in one.series)
    yield ""
    yield from (f"{found.severity}: {found.sentence}" for findings in one.quality.values() for found in findings)


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
    days = None if period is None else Period.parse(period)
    asked = queries.SeriesRequest(
        product=product,
        variable=variable,
        start=None if days is None else days.first,
        end=None if days is None else days.last,
        units=units if variable == "discharge" else None,
        area=area,
        known_at=None if known_at is None else instant(known_at),
    )
    found = observed.observations_of(at.session, observed.observation_query(at.session, basin, asked))
    shown = f"{found.units[variable]}: values.{variable} | flags: flags.{variable}"
    title = f"{basin} {product} {variable}{f', as it was known at {known_at}' if known_at else ''}"
    return Shown(
        found, lambda: series(found, shown, title), lambda: observed.table_of(found, sites(at.session, [basin]))
    )
