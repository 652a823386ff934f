"""`freshet thresholds`: flood and low-flow levels of a basin, from its record or set by users."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter
from rich.console import Group

from freshet.cli.configuring import valid
from freshet.cli.context import Change, changing, opened
from freshet.cli.options import Basin, Basins, argument, flag, option
from freshet.cli.output import PARTLY_DONE, Json, answer, inform_doubts, inform_left_out, table
from freshet.cli.progress import reporting
from freshet.cli.text_files import read_text
from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput, counted
from hydrology.base.units import converted
from hydrology.extremes.thresholds import OF_MODEL, WHAT, FloodFrequency, Statistic
from hydrology.extremes.trend import Trend
from ingestion.json_numbers import parse_json
from jobspec.flood_categories import NewCategories
from jobspec.jobs.judging import LevelsParams
from jobspec.thresholds import FloodFrequencySettings, NewThreshold
from operations.basin_data.basins import chosen
from records.access import audit
from records.alerts import flood_categories, flood_frequency, level_doubts
from records.alerts import thresholds as records
from records.basins import basins
from records.simulations import simulated_thresholds
from records.versions import promotions

app = typer.Typer(no_args_is_help=True)


def _described(field: str) -> str:
    return FloodFrequencySettings.model_fields[field].description or ""


Name = Annotated[str, argument("NAME", "Name of the level.")]


@app.callback()
def thresholds() -> None:
    """Show, set and remove levels of a basin's discharge."""


@app.command("show")
def show(basin: Basin, as_json: Json = False) -> None:
    """Show a basin's levels: from its record, from its current version's simulation, and set by users.

    Floods are of daily means, and lower than instantaneous peaks. Flows are in m3/s; levels of a record that is stored
    as depths are in mm/day.
    """
    with opened(reads=True) as context, context.database.reading() as session:
        basins.require(session, basin)
        doubts = level_doubts.in_doubt(session, basin, context.clock.today())
        record, fixed = records.of_record(session, basin), records.of_basin(session, basin)
        version = promotions.current(session, [basin]).get(basin)
        model = simulated_thresholds.get(session, version, basin) if version else None
    unit = "mm/day" if record.unit == "mm/day" else "m3/s"
    statistics = [
        _row(statistic, record.unit or unit, unit) | {"comparison": record.floods.compares(statistic)}
        for statistic in record.statistics
    ]
    of_model = None if model is None else _of_model(model, record.floods)
    payload = {
        "basin": basin,
        "unit": unit,
        "record": [*statistics],
        "model": of_model,
        "fixed": [asdict(one) | {"in_doubt": doubts.get(one.name)} for one in fixed],
    }
    statistics += [] if of_model is None else of_model["levels"]
    rows = [row for statistic in statistics for row in _rows(statistic)]
    rows += [(one.name, one.direction, one.discharge, None, None, None, "set; m3/s") for one in fixed]
    columns = ("level", "of", unit, "low", "high", "years", "why there is none")
    trend = next((statistic.trend for statistic in record.statistics if statistic.trend is not None), None)
    inform_doubts(doubts)
    shown = table(columns, rows, f"{basin}: {counted(len(rows), 'level')}")
    answer(payload, as_json, shown if trend is None else Group(shown, _in_words(trend)))


@app.command("simulate")
def simulate(
    version: Annotated[str | None, option("VERSION", LevelsParams.model_fields["version"].description)] = None,
    basin: Basins = None,
    as_json: Json = False,
) -> None:
    """Simulate all past days with a model version, and store the levels of its simulated climatology.

    Without --basin: the basins that it is current for. Levels computed again replace the earlier ones.
    """
    with opened() as context:
        with context.database.reading() as session:
            names = chosen(session, basin) if basin else []
        from operations.verification.simulated_thresholds import compute

        with reporting() as reporter:
            done = compute(context.database, context.clock, version, names, partial(reporter.show, "basins"))
        for of in done:
            context.record("levels computed", of.version_id, basins=len(of.basins))
    left_out = [reason for of in done for reason in of.left_out.values()]
    inform_left_out(left_out)
    shown = [f"Levels of version {of.version_id}: {counted(len(of.basins), 'basin')}." for of in done]
    answer({"versions": done}, as_json, "\n".join(shown) or "No version is current for a basin.")
    if left_out:
        raise typer.Exit(PARTLY_DONE)


@app.command("set")
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
        effect = records.put(change.session, basin, new, change.service_now)
        if effect != "unchanged":
            change.record("threshold set", basin, **new.model_dump())
        stored = records.get(change.session, basin, new.name)
        doubts = level_doubts.in_doubt(change.session, basin, day(change.service_now.date()))
    inform_doubts(doubts)
    payload = {"basin": basin, "change": effect, **asdict(stored), "in_doubt": doubts.get(new.name)}
    answer(payload, as_json, f"{new.name} of {basin} is {stored.discharge:g} m3/s, {stored.direction} ({effect}).")


@app.command("frequency")
def frequency(
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
        changed = flood_frequency.put(change.session, basin, new, change.service_now)
        if changed:
            change.record("flood frequency set", basin, **new.model_dump())
        stored = flood_frequency.get(change.session, basin)
    skew = "the record's own skew" if new.regional_skew is None else f"a regional skew of {new.regional_skew:g}"
    trend = "adjusted for a significant trend" if new.trend_adjusted else "as they were"
    answer({"basin": basin, "changed": changed, **asdict(stored)}, as_json, f"{basin}: {skew}, floods {trend}.")


@app.command("categories")
def categories(
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
        done = flood_categories.put(session, basin, new, context.clock.now())
        if done.changed:
            Change.at(session, context.clock).record("categories set", basin, source=source)
        doubts = level_doubts.in_doubt(session, basin, context.clock.today())
        levels = [
            asdict(one) | {"in_doubt": doubts.get(one.name)}
            for one in records.of_basin(session, basin)
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


@app.command("confirm")
def confirm(basin: Basin, name: Name, as_json: Json = False) -> None:
    """Confirm a level that seems wrong: its alerts wait no more. Confirming it again changes nothing."""
    with changing() as change:
        level_doubts.confirm(change.session, basin, [name])
        by = audit.command_line().name
        level_doubts.release(change.session, basin, by=by, now=change.service_now, wall=change.now)
        change.record("threshold confirmed", basin, name=name)
        stored = records.get(change.session, basin, name)
    answer({"basin": basin, **asdict(stored)}, as_json, f"{name} of {basin} is confirmed at {stored.discharge:g} m3/s.")


@app.command("remove")
def remove(basin: Basin, name: Name, as_json: Json = False) -> None:
    """Remove a level that was set. Those of the record stay."""
    with changing() as change:
        records.remove(change.session, basin, name)
        change.record("threshold removed", basin, name=name)
    answer({"basin": basin, "removed": name}, as_json, f"{name} of {basin} is removed.")


def _in_words(trend: Trend) -> str:
    rule = "levels are for the last year" if trend.adjusted else "levels are not adjusted"
    return (
        f"Trend of annual floods to {trend.last_year}: {trend.percent_per_year:+.2f} % a year, p = {trend.p_value:.3f} "
        f"(Mann-Kendall); {rule}."
    )


def _of_model(model: simulated_thresholds.ModelLevels, floods: FloodFrequency) -> dict[str, Any]:
    levels = [
        _row(statistic, simulated_thresholds.UNIT, simulated_thresholds.UNIT, OF_MODEL)
        | {"comparison": floods.compares(statistic)}
        for statistic in model.statistics
    ]
    return {
        "version": model.version_id,
        "period": str(Period(model.first_day, model.last_day)),
        "attributes_assumed": model.attributes_assumed,
        "levels": levels,
    }


def _row(statistic: Statistic, unit: str, into: str, prefix: str = "") -> dict[str, Any]:
    def flow(value: float | None) -> float | None:
        return None if value is None else float(converted(value, unit=unit, into=into, area=None))

    levels = [
        {
            "name": prefix + named.name,
            "return_period_years": named.return_period_years,
            "exceeded_percent": named.exceeded_percent,
            "discharge": flow(named.level.value),
            "low": flow(named.level.low),
            "high": flow(named.level.high),
            "reason": named.level.reason and str(named.level.reason),
        }
        for named in statistic.levels
    ]
    return {
        "kind": statistic.kind,
        "method": statistic.method,
        "what": WHAT[statistic.kind],
        "years": statistic.years,
        "left_out_years": statistic.left_out_years,
        "dry_years": statistic.dry_years,
        "low_outliers": statistic.low_outliers,
        "trend": statistic.trend and asdict(statistic.trend),
        "period": None if statistic.period is None else str(statistic.period),
        "levels": levels,
    }


def _rows(statistic: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    for level in statistic["levels"]:
        yield (
            level["name"],
            f"{statistic['kind']}, to compare" if statistic["comparison"] else statistic["kind"],
            level["discharge"],
            level["low"],
            level["high"],
            statistic["years"],
            level["reason"],
        )
