"""`freshet basins`: list, show and add basins."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from typer.core import TyperGroup

from freshet.cli.answers import Columns, listing
from freshet.cli.context import Change, MayCreateDatabase, opened
from freshet.cli.job_command import Done, job_command
from freshet.cli.job_options import Layout
from freshet.cli.options import Basin, argument, option
from freshet.cli.output import Json, answer, inform, table
from freshet.cli.reading import Reading, Shown, reads
from hydrology.base.basins import basin_id, place_in_words
from hydrology.base.errors import counted
from jobspec.jobs.data import BasinJob, ClimateJob
from records.basins.basins import OUTLINE_COMPARED

if TYPE_CHECKING:
    from app.basins.schemas import BasinDetail

_COLUMNS: Columns = {"basin": "id", "name": "name", "HUC": "huc", "latitude": "latitude", "longitude": "longitude"}
_ADDED = Layout(arguments=("basin",), names={"area_km2": "--area"})


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
@reads
def show(
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
    from app.basins.basins import basin_detail, basin_summaries
    from app.basins.schemas import BasinPage
    from records.basins.basins import list_basins

    if basin is not None:
        one = basin_detail(at.session, basin)
        return Shown(one, lambda: "\n".join(_lines(one)))
    found = BasinPage(basins=basin_summaries(at.session, list_basins(at.session, text=text, huc=huc)), next=None)
    return Shown(found, lambda: listing(found.basins, _COLUMNS, counted(len(found.basins), "basin")))


@app.command("add")
@job_command(BasinJob, _ADDED, begins=MayCreateDatabase.ANYWHERE)
def add(done: Done) -> Iterator[RenderableType]:
    """Add a basin, or add data to one. For a USGS gauge, location, name and area are fetched from USGS.

    Weather is averaged over points within the outline, and its area is checked. Every answer names attributes that are
    assumed.
    """
    from app.basins.basins import basin_detail

    result = done.result
    inform(f"{result['basin']} is {'new' if result['new'] else 'changed' if result['changed'] else 'as it was'}.")
    yield "\n".join(_lines(basin_detail(done.session, result["basin"])))


@app.command("climate")
@job_command(ClimateJob, Layout(arguments=("basin",)))
def climate(done: Done) -> Iterator[RenderableType]:
    """Compute the climate indices of a basin, as CAMELS defines them, and store them as its attributes."""
    title = f"Climate of {done.result['basin']}, computed from {done.result['computed_from']}"
    yield table(("index", "value"), list(done.result["indices"].items()), title)


@app.command("adopt")
def adopt(basin: Basin, as_json: Json = False) -> None:
    """Make a basin that an operator registered official, with its levels, its rating and the version that serves it.

    Its alerts begin anew with the next forecast. `freshet basins release` gives it back.
    """
    from records.versions import adoption

    with opened() as context, context.database.transaction() as session:
        held = adoption.adopt(session, basin, context.clock)
        Change.at(session, context.clock).record("basin adopted", basin, **held.as_detail())
    answer({"basin": basin, **held.as_detail()}, as_json, f"{basin} is official, adopted from {held}.")


@app.command("release")
def release(basin: Basin, as_json: Json = False) -> None:
    """Give an adopted basin back to the operator who registered it, as unofficial."""
    from records.versions import adoption

    with opened() as context, context.database.transaction() as session:
        owner = adoption.release(session, basin, context.clock)
        Change.at(session, context.clock).record("basin released", basin, owner=owner)
    answer({"basin": basin, "owner": owner}, as_json, f"{basin} is unofficial again.")


def _lines(one: "BasinDetail") -> Iterator[str]:
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
