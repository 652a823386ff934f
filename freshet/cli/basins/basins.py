"""`freshet basins`: list, show and add basins."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from typer.core import TyperGroup

from freshet.cli.context import Change, MayCreateDatabase, opened, reading
from freshet.cli.options import Adopt, Basin, argument, option
from freshet.cli.output import Json, answer, answer_list, inform, table
from hydrology.base.basins import basin_id, place_in_words
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput, counted
from hydrology.base.units import M2_PER_KM2
from jobspec.basins import AddedBasin
from jobspec.faults import faults
from jobspec.kinds import InvalidRequest
from records.basins import basins as records
from records.basins import ownership, quality
from records.series import series
from records.versions import adoption, promotions
from records.versions.basin_areas import areas_in_use

LARGEST_FILE = 2**20  # bytes of an outline or of attributes, as over the API


class ShowsByDefault(TyperGroup):
    """Takes anything but the name of another command as the arguments of `show`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `show` before the arguments where no command is named."""
        named = args[:1] and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else ["show", *args])


app = typer.Typer(cls=ShowsByDefault)


@app.callback()
def basins() -> None:
    """List the basins, show one (show is the default), add one."""


@app.command("show")
def show(
    basin: Annotated[
        str | None, argument("BASIN", "Show this basin: USGS number or full identifier.", parser=basin_id)
    ] = None,
    text: Annotated[str | None, option("TEXT", "List basins whose identifier or name contains this text.")] = None,
    huc: Annotated[
        str | None, option("DIGITS", "List basins whose hydrologic unit code begins with these digits.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the basins, or show one: place, areas, series, data quality."""
    if basin is not None:
        _show(basin, as_json)
        return
    with reading() as session:
        found = records.list_basins(session, text=text, huc=huc)
    columns = {"basin": "id", "name": "name", "HUC": "huc", "latitude": "latitude", "longitude": "longitude"}
    answer_list("basins", found, columns, as_json)


@app.command("add")
def add(
    basin: Basin,
    name: Annotated[str | None, option("TEXT", "Default: the name of the USGS gauge.")] = None,
    latitude: Annotated[float | None, option("DEGREES", "Of the gauge, north.")] = None,
    longitude: Annotated[float | None, option("DEGREES", "Of the gauge, east.")] = None,
    area: Annotated[float | None, option("KM2", "Drainage area. Default: that of USGS.")] = None,
    outline: Annotated[
        Path | None, option("FILE", "GeoJSON: weather is averaged over points within it, and its area is checked.")
    ] = None,
    accept_outline_area: Annotated[
        bool,
        typer.Option(
            "--accept-outline-area", help="Accept an outline whose area differs from the basin's by more than 30 %."
        ),
    ] = False,
    attributes: Annotated[
        Path | None, option("FILE", "JSON: numbers by attribute name, as model versions require them.")
    ] = None,
    assume_attributes: Annotated[
        bool | None,
        typer.Option(
            help="Assume the mean of a version's training basins for unknown attributes of land and soil; "
            "every answer names them."
        ),
    ] = None,
    adopt: Adopt = False,
    as_json: Json = False,
) -> None:
    """Add a basin, or add data to one. For a USGS gauge, location, name and area are fetched from USGS."""
    given = {
        "basin": basin,
        "name": name,
        "latitude": latitude,
        "longitude": longitude,
        "area_km2": area,
        "outline": None if outline is None else _json(outline),
        "accept_outline_area": accept_outline_area or None,
        "attributes": None if attributes is None else _json(attributes),
        "assume_attributes": assume_attributes,
        "adopt": adopt or None,
    }
    added = _read({field: value for field, value in given.items() if value is not None})
    from operations.feeds.add_gauge import add as run

    with opened(begins=MayCreateDatabase.ANYWHERE) as context:
        done = run(context.database, context.clock, context.settings, added)
        context.record("basin added", done.basin, new=done.new, changed=list(done.changed), adopted=done.adopted)
    inform(f"{done.basin} is {'new' if done.new else 'changed' if done.changed else 'as it was'}.")
    _show(done.basin, as_json)


@app.command("climate")
def climate(
    basin: Basin,
    product: Annotated[
        str | None, option("NAME", "Stored weather product to compute it from. Default: the only one.")
    ] = None,
    period: Annotated[
        str | None, option("FIRST..LAST", "Whole years, without a missing day. Default: all stored years.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the climate indices of a basin, as CAMELS defines them, and store them as its attributes."""
    from operations.basin_data.climate import compute

    with opened() as context:
        days = None if period is None else Period.parse(period)
        done = compute(context.database, context.clock, basin, product, days)
        context.record("climate computed", done.basin, computed_from=done.source)
    indices = asdict(done.indices)
    payload = {"basin": done.basin, "computed_from": done.source, "years": done.years, "indices": indices}
    title = f"Climate of {done.basin}, computed from {done.source}"
    answer(payload, as_json, table(("index", "value"), list(indices.items()), title))


@app.command("adopt")
def adopt(basin: Basin, as_json: Json = False) -> None:
    """Make a basin that an operator registered official, with its levels, its rating and the version that serves it.

    Its alerts begin anew with the next forecast. `freshet basins release` gives it back.
    """
    with opened() as context, context.database.transaction() as session:
        held = adoption.adopt(session, basin, context.clock)
        Change.at(session, context.clock).record("basin adopted", basin, **held.as_detail())
    answer({"basin": basin, **held.as_detail()}, as_json, f"{basin} is official, adopted from {held}.")


@app.command("release")
def release(basin: Basin, as_json: Json = False) -> None:
    """Give an adopted basin back to the operator who registered it, as unofficial."""
    with opened() as context, context.database.transaction() as session:
        owner = adoption.release(session, basin, context.clock)
        Change.at(session, context.clock).record("basin released", basin, owner=owner)
    answer({"basin": basin, "owner": owner}, as_json, f"{basin} is unofficial again.")


def _read(given: dict[str, Any]) -> AddedBasin:
    try:
        return AddedBasin.model_validate(given)
    except ValidationError as error:
        raise InvalidRequest(f"The basin cannot be added: {faults(error, given)}.") from None


def _json(path: Path) -> Any:
    """Return the content of a JSON file."""
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise InvalidInput(f"{path} is larger than {LARGEST_FILE} bytes, the limit: simplify it.")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise DataProblem(f"{path} is not JSON: write it as an object.") from None


def _show(basin: str, as_json: bool) -> None:
    with reading() as session:
        one = records.get(session, basin)
        entries, owner = series.catalogue(session, basin), ownership.owner(session, basin)
        findings = quality.by_product(session, basin)
        version, area = promotions.current(session, [basin]).get(basin), areas_in_use(session, [one])[basin]
    listed = [
        {"product": e.product, "variable": e.variable, "unit": e.unit, "first": e.period.first, "last": e.period.last}
        for e in entries
    ]
    payload = {
        **asdict(one),
        "area": None if area is None else asdict(area),
        "official": owner is None,
        "series": listed,
        "quality": findings,
        "current_version": version,
    }
    huc = f", HUC {one.huc}" if one.huc else ""
    placed = one.latitude is not None and one.longitude is not None
    place = place_in_words(one.latitude or 0.0, one.longitude or 0.0) if placed else "place not known"
    lines = [f"{one.id}  {one.name or ''}", f"{place}{huc}"]
    lines += [] if owner is None else ["unofficial: an operator registered it (freshet basins adopt)"]
    lines += [] if area is None else [f"area: {area.m2 / M2_PER_KM2:.1f} km2 ({area.name})"]
    others = [f"{m2 / M2_PER_KM2:.1f} ({name})" for name, m2 in one.areas.items() if area is None or name != area.name]
    lines += [f"area by other sources, km2: {', '.join(others)}"] if others else []
    lines += [one.texts[records.OUTLINE_COMPARED]] if records.OUTLINE_COMPARED in one.texts else []
    lines += [f"weather averaged over {counted(len(one.weather_points), 'point')}"] if one.weather_points else []
    lines += ["attributes that are not known may be assumed"] if one.assume_attributes else []
    lines += [f"current version: {version or 'none'}", ""]
    lines += [f"{row['product']} {row['variable']} [{row['unit']}] {row['first']}..{row['last']}" for row in listed]
    lines += ["", *(f"{f['severity']}: {f['sentence']}" for found in findings.values() for f in found)]
    answer(payload, as_json, "\n".join(lines))
