"""`freshet thresholds` and `freshet ratings`: levels of a basin's discharge, and rating tables of its gauge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel
from rich.console import Group, RenderableType
from starlette import responses

from app.basins import level_changes, thresholds
from freshet.cli.options import Basin, argument, flag, option
from freshet.cli.output import inform, inform_left_out, listing, table
from freshet.cli.reading import DischargeUnits, Reading, Shown, reads, writes
from freshet.cli.text_files import read_text, valid
from hydrology.alerts import IMPACT, INSTRUCTION
from hydrology.base.errors import InvalidInput, counted
from hydrology.extremes.annual import Trend
from ingestion.feeds import http
from jobspec.levels import FloodFrequencySettings, LevelUnit, NewCategories, NewRating, NewThreshold
from records.access.audit import Writer
from records.basins import basins, ratings

_SIGNATURES = "signature: what | units | estimate | low | high | typical error, %: typical_error_percent"
_CATEGORIES = "level: name | m3/s: discharge | source | impact | what to do: instruction"


def _described(field: str, model: type[BaseModel] = FloodFrequencySettings) -> str:
    return model.model_fields[field].description or ""


Name = Annotated[str, argument("NAME", "Name of the level.")]


@reads
def show_thresholds(at: Reading, basin: Basin, units: DischargeUnits = "m3/s") -> Shown:
    """Show a basin's levels: from its record, from its current version's simulation, and set by users.

    Floods are of daily means, and lower than instantaneous peaks.
    """
    basins.require(at.session, basin)
    found = thresholds.thresholds_of(
        at.session, thresholds.levels_request(at.session, basin, units, None, at.clock.today())
    )

    def text() -> RenderableType:
        _inform_doubts({one.name: one.in_doubt for one in found.fixed})
        statistics = [*found.record, *(found.model.levels if found.model else [])]
        rows = [
            level.model_dump() | {"of": f"{of.kind}, to compare" if of.comparison else of.kind, "years": of.years}
            for of in statistics
            for level in of.levels
        ] + [one.model_dump() | {"of": one.direction, "reason": "set"} for one in found.fixed]
        trend = next((of.trend for of in found.record if of.trend is not None), None)
        headings = f"level: name | of | {units}: discharge | low | high | years | why there is none: reason"
        shown = listing(rows, headings, f"{basin}: {len(rows)} levels")
        estimated = [of for of in (found.model.signatures if found.model else []) if of.estimate is not None]
        parts = [shown] if trend is None else [shown, _in_words(trend)]
        parts += [listing(estimated, _SIGNATURES, f"{basin} without a gauge: estimates")] if estimated else []
        return Group(*parts)

    return Shown(found, text)


@writes
def set_threshold(
    by: Writer,
    basin: Basin,
    name: Name,
    value: Annotated[float, argument("FLOW", "Or stage, in the unit.")],
    unit: Annotated[LevelUnit, option("UNIT", _described("unit", NewThreshold))] = "m3/s",
    falling: Annotated[bool, flag("--falling", "A low flow, not a flood.")] = False,
    impact: Annotated[str | None, option("TEXT", IMPACT)] = None,
    instruction: Annotated[str | None, option("TEXT", INSTRUCTION)] = None,
) -> Shown:
    """Set a level of a basin. Setting the same level again changes nothing."""
    direction = "falling" if falling else "rising"
    given = {"name": name, "discharge": value, "unit": unit, "direction": direction}
    given |= {"impact": impact, "instruction": instruction}
    found = level_changes.put_threshold(responses.Response(), by, basin, name, valid(NewThreshold, given, "level"))
    _inform_doubts({name: found.in_doubt})
    return Shown(found, lambda: f"{name} of {basin} is {found.discharge:g} m3/s, {found.direction}.")


@writes
def set_frequency(
    by: Writer,
    basin: Basin,
    regional_skew: Annotated[float | None, option("SKEW", _described("regional_skew"))] = None,
    regional_skew_error: Annotated[float | None, option("ERROR", _described("regional_skew_error"))] = None,
    trend_adjusted: Annotated[bool, flag("--trend-adjusted", _described("trend_adjusted"))] = False,
) -> Shown:
    """Set how the floods of a basin's record are analysed; without options, as by default."""
    given = {"regional_skew": regional_skew, "regional_skew_error": regional_skew_error}
    new = valid(FloodFrequencySettings, given | {"trend_adjusted": trend_adjusted}, "flood frequency")
    found = level_changes.put_flood_frequency(by, basin, new)
    skew = "the record's own skew" if regional_skew is None else f"a regional skew of {regional_skew:g}"
    trend = "adjusted for a significant trend" if trend_adjusted else "as they were"
    return Shown(found, lambda: f"{basin}: {skew}, floods {trend}.")


@writes
def set_categories(
    by: Writer,
    basin: Basin,
    file: Annotated[Path, argument("FILE", "JSON of a gauge of NOAA's National Water Prediction Service.")],
    source: Annotated[str, option("TEXT", NewCategories.model_fields["source"].description or "")] = "NOAA/NWS",
) -> Shown:
    """Set the official flood categories of a basin from a file. Setting them again changes nothing."""
    try:
        document = http.parsed(read_text(file).encode())
    except http.Broken:
        raise InvalidInput(f"The file {file} is not JSON: give that of a gauge of api.water.noaa.gov.") from None
    new = valid(NewCategories, {"document": document, "source": source}, "categories")
    found = level_changes.put_flood_categories(by, basin, new)
    inform_left_out(found.left_out.values())
    _inform_doubts({one.name: one.in_doubt for one in found.levels})
    title = f"{basin}: {counted(len(found.levels), 'category', 'categories')}"
    return Shown(found, lambda: listing(found.levels, _CATEGORIES, title))


@writes
def confirm_threshold(by: Writer, basin: Basin, name: Name) -> Shown:
    """Confirm a level that seems wrong: its alerts wait no more. Confirming it again changes nothing."""
    found = level_changes.confirm_threshold(by, basin, name)
    return Shown(found, lambda: f"{name} of {basin} is confirmed at {found.discharge:g} m3/s.")


@writes
def remove_threshold(by: Writer, basin: Basin, name: Name) -> Shown:
    """Remove a level that was set. Those of the record stay."""
    level_changes.delete_threshold(by, basin, name)
    return Shown({"basin": basin, "removed": name}, lambda: f"{name} of {basin} is removed.")


def _inform_doubts(doubts: Mapping[str, str | None]) -> None:
    """Print why levels, by name, seem wrong."""
    for name, why in doubts.items():
        if why is not None:
            inform(f"Level {name}: {why}")


def _in_words(trend: Trend) -> str:
    rule = "levels are for the last year" if trend.adjusted else "levels are not adjusted"
    return (
        f"Trend of annual floods to {trend.last_year}: {trend.percent_per_year:+.2f} % a year, p = {trend.p_value:.3f} "
        f"(Mann-Kendall); {rule}."
    )


_SHOWN = 12


@writes
def import_rating(
    by: Writer,
    basin: Basin,
    file: Annotated[Path, argument("FILE", "RDB of the USGS (type exsa or base), or CSV.")],
    source: Annotated[str | None, option("TEXT", NewRating.model_fields["source"].description or "")] = None,
    datum: Annotated[str | None, option("TEXT", NewRating.model_fields["datum"].description or "")] = None,
    valid_from: Annotated[str | None, option("DAY", NewRating.model_fields["valid_from"].description or "")] = None,
) -> Shown:
    """Import the rating table of a basin's gauge. Importing it again changes nothing."""
    given = {"table": read_text(file), "source": source or file.name, "datum": datum, "valid_from": valid_from}
    found = level_changes.put_rating(responses.Response(), by, basin, valid(NewRating, given, "rating"))
    inform_left_out(found.left_out.values())
    _inform_doubts(found.in_doubt)
    return Shown(found, lambda: _range(found))


@reads
def show_rating(at: Reading, basin: Basin) -> Shown:
    """Show the rating table of a basin that holds today."""
    found = level_changes.table_of(ratings.require(at.session, basin, at.clock.today()))

    def text() -> RenderableType:
        points = list(zip(found.stage_ft, found.stage_m, found.discharge_m3s, strict=True))
        every = max(1, len(points) // _SHOWN)
        return table(("ft", "m", "m3/s"), points[::every], _range(found))

    return Shown(found, text)


def _range(found: "level_changes.RatingTable") -> str:
    return (
        f"{found.basin}: {counted(len(found.stage_ft), 'point')}, {found.stage_ft[0]:.2f} to {found.stage_ft[-1]:.2f} "
        f"ft, {found.discharge_m3s[0]:.4g} to {found.discharge_m3s[-1]:.4g} m3/s, from {found.valid_from} on"
    )
