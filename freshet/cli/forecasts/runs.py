"""`freshet runs`: issued forecast runs."""

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text
from sqlalchemy.orm import Session

from freshet.cli.context import opened
from freshet.cli.output import Json, answer, fields_of, inform, table
from hydrology.base.absent import Absent
from hydrology.base.basins import basin_id
from hydrology.base.calendar import instant
from hydrology.base.errors import counted
from jobspec.changes import Changes
from operations.versions.stages import with_progress
from records.outlooks import outlooks
from records.outlooks.run_outlook import RunOutlook
from records.runs import runs as records
from records.runs.filled_note import weather_note
from records.runs.run_summary import LEARNT_FROM, TrainingDomain


def runs(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Show this run, by its id.")] = None,
    basin: Annotated[str | None, typer.Option(metavar="BASIN", help="List runs with a forecast of this basin.")] = None,
    known_at: Annotated[
        str | None, typer.Option(metavar="INSTANT", help="List runs available at that time: 2008-04-21T06:00:00Z.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="COUNT", min=1, max=10_000, help="Maximum number of runs, the newest first.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """List the forecast runs, or show one: discharge, storage and the closed ledger of each basin."""
    with opened(reads=True) as context, context.database.reading() as session:
        if run is not None:
            shown = run_json(session, run)
            for note in run_notes(shown):
                inform(note)
            answer(shown, as_json, run_table(shown))
            return
        wanted, by = basin_id(basin) if basin else None, instant(known_at) if known_at else None
        found = records.list_runs(session, basin=wanted, available_by=by, limit=limit)
    columns = ("run", "T0", "horizon", "issued", "version", "purpose", "forcing", "status")
    rows = [(r.id, r.t0, r.horizon_days, r.issued_at, r.version_id, r.purpose, r.forcing_kind, r.status) for r in found]
    answer({"runs": [fields_of(one) for one in found]}, as_json, table(columns, rows, f"{counted(len(found), 'run')}"))


def run_json(session: Session, run: str) -> dict[str, Any]:
    """Return a run with its result in each basin, as the command line shows it."""
    stored = records.get(session, run)
    rows = records.basins_of(session, run)
    of_basins = outlooks.of_runs(session, [(stored, row) for row in rows])
    basins = {
        row.basin_id: _basin_json(session, stored, row, of_basins[run, row.basin_id])
        for row in with_progress("results read", rows)
    }
    notes = {name: getattr(stored, name) for name in ("quantiles_of", "quantiles_note", "t0_note")}
    return {**fields_of(stored), **notes, "basins": basins}


def _basin_json(
    session: Session, stored: records.Run, row: records.RunBasin, outlook: RunOutlook | Absent
) -> dict[str, Any]:
    run = stored.id
    arrays = records.series_of(
        session,
        run,
        row.basin_id,
        ("discharge", "storage", "discharge_quantiles", records.CALIBRATED, records.ORIGIN),
    )
    ledgers = records.ledger_of(session, run, row.basin_id)
    peak = outlook if isinstance(outlook, Absent) else outlook.published.peak
    quantiles, calibrated = arrays.get("discharge_quantiles"), arrays.get(records.CALIBRATED)
    return {
        **fields_of(row),
        **{name: getattr(row.summary, name) for name in LEARNT_FROM},
        "spin_up_note": row.spin_up_note,
        "product_credit": row.summary.product_credit and asdict(row.summary.product_credit),
        "weather_note": weather_note(stored, row.summary),
        "bridge_notes": [bridge.note for bridge in row.summary.bridges],
        "quantiles_of": stored.quantiles_of,
        "discharge_mm_per_day": None if quantiles is None else _by_level(quantiles),
        "calibrated_mm_per_day": None if calibrated is None else _by_level(calibrated),
        "peak_mm_per_day": None if isinstance(peak, Absent) else asdict(peak),
        "storage_mm": _storage(arrays["storage"], row) if "storage" in arrays else None,
        "origin_mm_per_day": _by_origin(arrays[records.ORIGIN]) if records.ORIGIN in arrays else None,
        "ledger": [_ledger_json(ledger, row) for ledger in ledgers],
        "missing": _missing(row) | ({"peak_mm_per_day": str(peak)} if isinstance(peak, Absent) else {}),
    }


def _storage(array: records.RunSeries, row: records.RunBasin) -> list[float]:
    mean: list[float] = records.over_members(array, row.summary.parts).tolist()
    return mean


def _ledger_json(ledger: records.Ledger, row: records.RunBasin) -> dict[str, Any]:
    since = ledger.since_empty
    since_empty = {"days": row.spin_up_days, **asdict(since), "relative": since.relative}
    return {**asdict(ledger), "scale_mm": ledger.scale_mm, "closes": ledger.closes, "since_empty": since_empty}


def _missing(row: records.RunBasin) -> dict[str, str]:
    missing = {} if row.spin_up_days is not None else {"spin_up_days": str(row.why_missing)}
    if isinstance(row.summary.calibration, Absent):
        missing["calibrated_mm_per_day"] = str(row.why_not_calibrated)
    return missing


def _product_notes(run: dict[str, Any]) -> list[str]:
    """Return the credits of the weather up to T0, if a feed provided some of it."""
    reported = next((result["product_credit"] for result in run["basins"].values() if result["product_credit"]), None)
    return [] if reported is None else [f"Weather of {run['product']}: {reported['credit']} {reported['licence']}."]


def weather_notes(run: dict[str, Any]) -> list[str]:
    """Return source and credit of the run's weather forecast, if it used one."""
    weather = run["weather"]
    if weather is None:
        return []
    result = f"Weather after T0: {weather['source']} {weather['model']} of {weather['reference_time']:%Y-%m-%dT%H:%MZ}"
    return [". ".join(text for text in (result, weather["credit"], weather["licence"]) if text) + "."]


def run_notes(run: dict[str, Any]) -> list[str]:
    """Return the warnings about a run: on its T0, and on the limits of its version's training."""
    return ([f"Warning: {run['t0_note']}"] if run["t0_note"] else []) + training_notes(run)


def training_notes(run: dict[str, Any]) -> list[str]:
    """Return the notes on basins outside the version's training domain."""
    learnt = [TrainingDomain(**{name: result[name] for name in LEARNT_FROM}) for result in run["basins"].values()]
    return [str(one.training_note) for one in learnt if one.beyond(run["product"])]


def run_table(run: dict[str, Any]) -> RenderableType:
    """Return a run as a table, a basin a row."""
    rows = []
    for basin, result in run["basins"].items():
        flow, storage = _shown(result), result["storage_mm"]
        median = flow["0.5"] if flow else [None]
        residual = max((abs(ledger["residual_mm"]) for ledger in result["ledger"]), default=None)
        closes = "closed" if result["ledger"] and all(one["closes"] for one in result["ledger"]) else "-"
        rows.append(
            (
                basin,
                result["status"],
                median[0],
                _peak(result["peak_mm_per_day"]),
                median[-1],
                storage[-1] if storage else None,
                f"{closes} ({residual:.0e} mm)" if residual is not None else closes,
                {True: "yes", False: "no", None: "-"}[result["seen_in_training"]],
                result["spin_up_days"],
            )
        )
    columns = (
        *("basin", "status", "first day", "peak (5 to 95 %)", "last day", "storage mm", "ledger", "learnt from it"),
        "days since empty store",
    )
    title = (
        f"Run {run['id']}: T0 {run['t0']}{_age(run['t0_age_days'])}, "
        f"{counted(run['horizon_days'], 'day')}, {run['forcing_kind']} {run['product']}, "
        f"version {run['version_id']}, {run['program']}; median discharge in mm/day"
    )
    notes = _range_notes(run)
    if run["what_if"] is not None:
        notes.append(f"What-if run, not a forecast: {Changes.model_validate(run['what_if']['changes']).in_words}.")
    notes += [*_product_notes(run), *weather_notes(run)]
    notes += [f"{basin}: {note}." for basin, result in run["basins"].items() for note in result["bridge_notes"]]
    notes += [f"{basin}: {result['weather_note']}" for basin, result in run["basins"].items() if result["weather_note"]]
    notes += [f"{basin}: {result['spin_up_note']}" for basin, result in run["basins"].items() if result["spin_up_note"]]
    return Group(table(columns, rows, title), *map(Text, notes))


def _shown(of_basin: dict[str, Any]) -> dict[str, list[float]] | None:
    """Return the quantiles to print: the calibrated ones where there are some, else those of the members."""
    calibrated: dict[str, list[float]] | None = of_basin["calibrated_mm_per_day"]
    members: dict[str, list[float]] | None = of_basin["discharge_mm_per_day"]
    return calibrated or members


def _peak(peak: dict[str, float] | None) -> str | None:
    """Return the peak, and the range that holds it with a chance of 90 %."""
    return None if peak is None else f"{peak['height']:.3g} ({peak['low']:.3g} to {peak['high']:.3g})"


def _range_notes(run: dict[str, Any]) -> list[str]:
    """Return notes on the printed ranges: calibrated or only of the members."""
    issued = {name: result for name, result in run["basins"].items() if _shown(result)}
    raw = {name: result for name, result in issued.items() if not result["calibrated_mm_per_day"]}
    notes = []
    if len(raw) < len(issued):
        notes.append("5 to 95 % is the calibrated range: nine days in ten fall within it (freshet calibrate).")
    if raw:
        names = "" if len(raw) == len(issued) else f" ({', '.join(list(raw)[:5])}{', ...' if len(raw) > 5 else ''})"
        notes.append(f"Not calibrated{names}: 5 to 95 % is of the {run['quantiles_of']}. {run['quantiles_note']}.")
        notes += dict.fromkeys(result["missing"]["calibrated_mm_per_day"] for result in raw.values())
    return notes


def _age(days: int) -> str:
    """Return how old T0 was at issue, in words."""
    return f" ({abs(days)} day{'' if abs(days) == 1 else 's'} {'before' if days >= 0 else 'after'} the day of issue)"


def _by_level(quantiles: records.RunSeries) -> dict[str, list[float]]:
    levels = quantiles.axes["level"]
    return {str(level): row for level, row in zip(levels, quantiles.values.tolist(), strict=True)}


def _by_origin(reported: records.RunSeries) -> dict[str, list[float]]:
    """Return the mean discharge by where its water was at T0."""
    return {origin: mean for origin, (mean, *_) in zip(reported.axes["origin"], reported.values.tolist(), strict=True)}
