"""`freshet basins`: what is kept of them."""

from dataclasses import asdict
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer, table
from hydrology.basins import basin_id
from records import basins as records
from records import promotions, series


def basins(
    basin: Annotated[
        str | None, typer.Argument(metavar="BASIN", help="Show this basin: USGS number or full identifier.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="List those whose identifier or name has this text.")
    ] = None,
    huc: Annotated[
        str | None, typer.Option(metavar="DIGITS", help="List those whose hydrologic unit begins so.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the basins, or show one: place, areas, series, data quality."""
    if basin is not None:
        _show(basin_id(basin), as_json)
        return
    with opened() as context, context.database.reading() as session:
        found = records.list_basins(session, text=text, huc=huc)
    rows = [(one.id, one.name, one.huc, one.latitude, one.longitude) for one in found]
    columns = ("basin", "name", "HUC", "latitude", "longitude")
    answer({"basins": [asdict(one) for one in found]}, as_json, table(columns, rows, f"{len(found)} basins"))


def _show(basin: str, as_json: bool) -> None:
    with opened() as context, context.database.reading() as session:
        one = records.get(session, basin)
        entries = series.catalogue(session, basin)
        quality = records.quality_of(session, basin)
        version = promotions.current(session, [basin]).get(basin)
    listed = [
        {"product": e.product, "variable": e.variable, "unit": e.unit, "first": e.period.first, "last": e.period.last}
        for e in entries
    ]
    payload = {**asdict(one), "series": listed, "quality": quality, "current_version": version}
    lines = [f"{one.id}  {one.name or ''}", f"latitude {one.latitude}, longitude {one.longitude}, HUC {one.huc}"]
    lines += [f"area {name}: {m2 / 1e6:.1f} km2" for name, m2 in one.areas.items()]
    lines += [f"current version: {version or 'none'}", ""]
    lines += [f"{row['product']} {row['variable']} [{row['unit']}] {row['first']}..{row['last']}" for row in listed]
    lines += ["", *(f"{f['severity']}: {f['sentence']}" for found in quality.values() for f in found)]
    answer(payload, as_json, "\n".join(lines))
