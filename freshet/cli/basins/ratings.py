"""`freshet ratings`: rating tables of basins, imported and shown."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.console import RenderableType

from freshet.cli.configuring import valid
from freshet.cli.context import Change, opened
from freshet.cli.options import Basin, argument, option
from freshet.cli.output import Json, answer, inform_doubts, inform_left_out, table
from freshet.cli.reading import Reading, Shown, reads
from freshet.cli.text_files import read_text
from hydrology.base.absent import texts
from hydrology.base.errors import counted
from hydrology.ratings.rating import M_PER_FT
from jobspec.ratings import NewRating
from records.alerts import flood_categories, level_doubts
from records.outlooks import outlooks
from records.ratings import ratings as records
from records.ratings.ratings import StoredRating

app = typer.Typer(no_args_is_help=True)

_SHOWN = 12


@app.callback()
def ratings() -> None:
    """Import and show rating tables: stage and discharge of gauges."""


@app.command("import")
def import_rating(
    basin: Basin,
    file: Annotated[Path, argument("FILE", "RDB of the USGS (type exsa or base), or CSV.")],
    source: Annotated[str | None, option("TEXT", NewRating.model_fields["source"].description or "")] = None,
    datum: Annotated[str | None, option("TEXT", NewRating.model_fields["datum"].description or "")] = None,
    valid_from: Annotated[str | None, option("DAY", NewRating.model_fields["valid_from"].description or "")] = None,
    as_json: Json = False,
) -> None:
    """Import the rating table of a basin's gauge. Importing it again changes nothing."""
    given = {"table": read_text(file), "source": source or file.name, "datum": datum, "valid_from": valid_from}
    new = valid(TypeAdapter(NewRating), given, "rating")
    with opened() as context, context.database.transaction() as session:
        change = Change.at(session, context.clock)
        stored, changed = records.put(session, basin, new, change.service_now)
        converted = flood_categories.convert(session, basin, change.service_now)
        doubts = level_doubts.in_doubt(session, basin, context.clock.today())
        if converted.changed:
            outlooks.renew(session, basin)
        if changed:
            change.record("rating set", basin, source=new.source, valid_from=str(stored.valid_from))
    inform_left_out(list(converted.left_out.values()))
    inform_doubts(doubts)
    effect = "stored" if changed else "unchanged"
    payload = (
        {"basin": basin, "changed": changed} | _of(stored) | {"left_out": texts(converted.left_out), "in_doubt": doubts}
    )
    answer(payload, as_json, f"{basin}: {_range(stored)} ({effect}).")


@app.command("show")
@reads
def show(at: Reading, basin: Basin) -> Shown:
    """Show the rating table of a basin that holds today."""
    from app.basins.ratings import table_of

    stored = records.require(at.session, basin, at.clock.today())
    found = table_of(stored)

    def text() -> RenderableType:
        points = list(zip(found.stage_ft, found.stage_m, found.discharge_m3s, strict=True))
        every = max(1, len(points) // _SHOWN)
        return table(("ft", "m", "m3/s"), points[::every], f"{basin}: {_range(stored)}")

    return Shown(found, text)


def _of(stored: StoredRating) -> dict[str, object]:
    names = ("source", "datum", "site", "number", "shifted", "largest_shift")
    return {"valid_from": str(stored.valid_from)} | {name: getattr(stored, name) for name in names}


def _range(stored: StoredRating) -> str:
    stages = [stored.rating.stages[at] / M_PER_FT for at in (0, -1)]
    return (
        f"{counted(len(stored.rating.stages), 'point')}, {stages[0]:.2f} to {stages[1]:.2f} ft, "
        f"{stored.rating.discharges[0]:.4g} to {stored.rating.discharges[-1]:.4g} m3/s, from {stored.valid_from} on"
    )
