"""`freshet thresholds` and `freshet ratings`: levels of a basin's discharge, and rating tables of its gauge."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import TypeAdapter
from rich.console import Group, RenderableType

from freshet.cli.context import Change, changing, opened
from freshet.cli.options import Basin, argument, flag, option
from freshet.cli.output import Json, answer, inform_doubts, inform_left_out, listing, table
from freshet.cli.reading import DischargeUnits, Reading, Shown, reads
from freshet.cli.text_files import read_text, valid
from hydrology.base.absent import texts
from hydrology.base.calendar import day
from hydrology.base.errors import InvalidInput, counted
from hydrology.ratings import M_PER_FT
from ingestion.json_numbers import parse_json
from jobspec.levels import FloodFrequencySettings, NewCategories, NewRating, NewThreshold
from records.access import audit
from records.alerts import held_alerts
from records.basins import basins, ratings
from records.basins.ratings import StoredRating
from records.levels import basin_levels, categories_and_doubts
from records.outlooks import outlooks

if TYPE_CHECKING:
    from hydrology.extremes.annual import Trend


def _described(field: str) -> str:
    return FloodFrequencySettings.model_fields[field].description or ""


Name = Annotated[str, argument("NAME", "Name of the level.")]


@reads
def show_thresholds(at: Reading, basin: Basin, units: DischargeUnits = "m3/s") -> Shown:
    """Show a basin's levels: from its record, from its current version's simulation, and set by users.

    Floods are of daily means, and lower than instantaneous peaks.
    """
    from app.basins.thresholds import levels_request, thresholds_of

    basins.require(at.session, basin)
    found = thresholds_of(at.session, levels_request(at.session, basin, units, None, at.clock.today()))

    def text() -> RenderableType:
        inform_doubts({one.name: one.in_doubt for one in found.fixed if one.in_doubt is not None})
        statistics = [*found.record, *(found.model.levels if found.model else [])]
        rows = [
            level.model_dump() | {"of": f"{of.kind}, to compare" if of.comparison else of.kind, "years": of.years}
            for of in statistics
            for level in of.levels
        ] + [one.model_dump() | {"of": one.direction, "reason": "set"} for one in found.fixed]
        trend = next((of.trend for of in found.record if of.trend is not None), None)
        columns = {"level": "name", "of": "of", str(units): "discharge", "low": "low", "high": "high"}
        shown = listing(
            rows, columns | {"years": "years", "why there is none": "reason"}, f"{basin}: {len(rows)} levels"
        )
        return shown if trend is None else Group(shown, _in_words(trend))

    return Shown(found, text)


def set_threshold(
    basin: Basin,
    name: Name,
    value: Annotated[float, argument("FLOW", "m3/s.")],
    falling: Annotated[bool, typer.Option("--falling", help="A low flow, not a flood.")] = False,
    as_json: Json = False,
) -> None:
    """Set a level of a basin. Setting the same level again changes nothing."""
    result = {"name": name, "discharge": value, "direction": "falling" if falling else "rising"}
    new = valid(TypeAdapter(NewThreshold), result, "level")
    with changing() as change:
        effect = basin_levels.put(change.session, basin, new, change.service_now)
        if effect != "unchanged":
            outlooks.renew(change.session, basin)
            change.record("threshold set", basin, **new.model_dump())
        stored = basin_levels.get(change.session, basin, new.name)
        doubts = categories_and_doubts.in_doubt(change.session, basin, day(change.service_now.date()))
    inform_doubts(doubts)
    payload = {"basin": basin, "change": effect, **asdict(stored), "in_doubt": doubts.get(new.name)}
    answer(payload, as_json, f"{new.name} of {basin} is {stored.discharge:g} m3/s, {stored.direction} ({effect}).")


def set_frequency(
    basin: Basin,
    regional_skew: Annotated[float | None, option("SKEW", _described("regional_skew"))] = None,
    regional_skew_error: Annotated[float | None, option("ERROR", _described("regional_skew_error"))] = None,
    trend_adjusted: Annotated[bool, flag("--trend-adjusted", _described("trend_adjusted"))] = False,
    as_json: Json = False,
) -> None:
    """Set how the floods of a basin's record are analysed; without options, as by default."""
    given = {
        "regional_skew": regional_skew,
        "regional_skew_error": regional_skew_error,
        "trend_adjusted": trend_adjusted,
    }
    new = valid(TypeAdapter(FloodFrequencySettings), given, "flood frequency")
    with changing() as change:
        changed = basin_levels.put_flood_frequency(change.session, basin, new, change.service_now)
        if changed:
            outlooks.renew(change.session, basin)
            change.record("flood frequency set", basin, **new.model_dump())
        stored = basin_levels.flood_frequency(change.session, basin)
    skew = "the record's own skew" if new.regional_skew is None else f"a regional skew of {new.regional_skew:g}"
    trend = "adjusted for a significant trend" if new.trend_adjusted else "as they were"
    answer({"basin": basin, "changed": changed, **asdict(stored)}, as_json, f"{basin}: {skew}, floods {trend}.")


def set_categories(
    basin: Basin,
    file: Annotated[Path, argument("FILE", "JSON of a gauge of NOAA's National Water Prediction Service.")],
    source: Annotated[str, option("TEXT", NewCategories.model_fields["source"].description or "")] = "NOAA/NWS",
    as_json: Json = False,
) -> None:
    """Set the official flood categories of a basin from a file. Setting them again changes nothing."""
    try:
        document = parse_json(read_text(file).encode())
    except ValueError:
        raise InvalidInput(f"The file {file} is not JSON: give that of a gauge of api.water.noaa.gov.") from None
    new = valid(TypeAdapter(NewCategories), {"document": document, "source": source}, "categories")
    with opened() as context, context.database.transaction() as session:
        done = categories_and_doubts.put_categories(session, basin, new, context.clock.now())
        if done.changed:
            outlooks.renew(session, basin)
            Change.at(session, context.clock).record("categories set", basin, source=source)
        doubts = categories_and_doubts.in_doubt(session, basin, context.clock.today())
        levels = [
            asdict(one) | {"in_doubt": doubts.get(one.name)}
            for one in basin_levels.of_basin(session, basin)
            if one.category is not None
        ]
    left_out = {name: str(why) for name, why in done.left_out.items()}
    inform_left_out(list(done.left_out.values()))
    inform_doubts(doubts)
    payload = {"basin": basin, "changed": done.changed, "levels": levels, "left_out": left_out}
    rows = [(level["name"], level["discharge"], level["source"], level["impact"]) for level in levels]
    answer(
        payload,
        as_json,
        table(("level", "m3/s", "source", "impact"), rows, f"{basin}: {counted(len(rows), 'category', 'categories')}"),
    )


def confirm_threshold(basin: Basin, name: Name, as_json: Json = False) -> None:
    """Confirm a level that seems wrong: its alerts wait no more. Confirming it again changes nothing."""
    with changing() as change:
        categories_and_doubts.confirm(change.session, basin, [name])
        by = audit.command_line().name
        held_alerts.approve_confirmed(change.session, basin, by=by, now=change.service_now, wall=change.now)
        change.record("threshold confirmed", basin, name=name)
        stored = basin_levels.get(change.session, basin, name)
    answer({"basin": basin, **asdict(stored)}, as_json, f"{name} of {basin} is confirmed at {stored.discharge:g} m3/s.")


def remove_threshold(basin: Basin, name: Name, as_json: Json = False) -> None:
    """Remove a level that was set. Those of the record stay."""
    with changing() as change:
        basin_levels.remove(change.session, basin, name)
        outlooks.renew(change.session, basin)
        change.record("threshold removed", basin, name=name)
    answer({"basin": basin, "removed": name}, as_json, f"{name} of {basin} is removed.")


def _in_words(trend: "Trend") -> str:
    rule = "levels are for the last year" if trend.adjusted else "levels are not adjusted"
    return (
        f"Trend of annual floods to {trend.last_year}: {trend.percent_per_year:+.2f} % a year, p = {trend.p_value:.3f} "
        f"(Mann-Kendall); {rule}."
    )


_SHOWN = 12


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
        stored, changed = ratings.put(session, basin, new, change.service_now)
        converted = categories_and_doubts.convert_categories(session, basin, change.service_now)
        doubts = categories_and_doubts.in_doubt(session, basin, context.clock.today())
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


@reads
def show_rating(at: Reading, basin: Basin) -> Shown:
    """Show the rating table of a basin that holds today."""
    from app.basins.ratings import table_of

    stored = ratings.require(at.session, basin, at.clock.today())
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
