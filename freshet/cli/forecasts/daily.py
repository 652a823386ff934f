"""`freshet daily`: the daily cycle of fetching, forecasting and alerts."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshet.cli.context import opened
from freshet.cli.devices import Device, take_device
from freshet.cli.intake import any_intake
from freshet.cli.output import MAX_ROWS, PARTLY_DONE, Json, answer, fields_of, inform, table
from freshet.cli.progress import reporting
from hydrology.base.errors import DataProblem, counted
from jobspec.jobs.forecasting import DailyParams
from operations.versions.stages import with_progress
from records.alerts import alert_changes

if TYPE_CHECKING:
    from ingestion.base import SourceFile
    from operations.daily.daily_cycle import Cycle
    from operations.daily.tomorrow import Tomorrow
    from records.weather.feeds import FetchedBasin

_FIELDS = DailyParams.model_fields


def daily(
    feed: Annotated[
        list[str] | None, typer.Option("--feed", metavar="NAME", help="Fetch only this feed; repeat it for more.")
    ] = None,
    horizon: Annotated[int, typer.Option(metavar="DAYS", min=1, help=_FIELDS["horizon"].description)] = _FIELDS[
        "horizon"
    ].default,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Fetch the feeds, apply the bridges, forecast all basins, decide alerts, and show tomorrow's flow.

    Every basin is forecast from its newest day; the last forecast of a basin without new data stays. Run again on the
    same data, it stores nothing new. A schedule of the kind daily does the same every day.
    """
    with opened() as context, reporting() as reporter:
        take_device(context.settings, device)
        from operations.daily.after_daily import after_daily
        from operations.daily.daily_cycle import Watcher
        from operations.daily.daily_cycle import daily as run
        from operations.daily.daily_forecasts import DailyRequest
        from operations.daily.tomorrow import tomorrow
        from operations.upkeep import audit_details

        def note(feed: str, done: "list[FetchedBasin]", files: "list[SourceFile]") -> None:
            context.record("feed fetched", feed, **audit_details.fetched(done, files))

        cycle = run(
            context.database,
            context.clock,
            context.settings,
            any_intake(context.settings, reporter),
            DailyRequest(horizon),
            names=feed or (),
            watcher=Watcher(reporter.show, inform, on_fetch=note),
        )
        for sentence in after_daily(context.database, context.clock, reporter.show):
            inform(sentence)
        context.record("daily cycle", "all basins", **cycle.counts)
        with context.database.reading() as session:
            ahead = {
                basin.basin: tomorrow(session, basin.basin, basin.run, context.clock.now())
                for basin in with_progress("flow of tomorrow", cycle.basins)
                if basin.run is not None
            }
    _show(cycle, ahead, as_json)
    counts = cycle.counts
    if lacking := counts.get("stale", 0) + counts.get("failed", 0):
        raise typer.Exit(PARTLY_DONE if lacking < len(cycle.basins) else DataProblem.exit_code)


def _show(cycle: "Cycle", ahead: "dict[str, Tomorrow | None]", as_json: bool) -> None:
    """Print the outcome of each basin, with its flow of tomorrow."""
    for change in cycle.changes:
        inform(" ".join(filter(None, (change.basin_id, change.level))) + f": {change.why}")
    for name, problem in cycle.problems.items():
        inform(f"{name}: {problem}")
    counts = cycle.counts
    title = f"{counted(len(cycle.basins), 'basin')}: " + ", ".join(
        f"{count} {status}" for status, count in counts.items()
    )
    shown = sorted(cycle.basins, key=lambda basin: (basin.status in ("issued", "unchanged"), basin.basin))
    if len(shown) > MAX_ROWS:
        title += f"; {MAX_ROWS} of them, those without a new forecast first (--json lists all)"
    rows = [
        (basin.basin, basin.status, basin.t0, *_cells(ahead.get(basin.basin)), basin.run, basin.reason)
        for basin in shown[:MAX_ROWS]
    ]
    payload: dict[str, Any] = {
        "counts": counts,
        "basins": [fields_of(basin) | {"tomorrow": _json(ahead.get(basin.basin))} for basin in cycle.basins],
        "problems": {name: str(problem) for name, problem in cycle.problems.items()},
        "runs": [created.id for created in cycle.runs],
        "alert_changes": [alert_changes.as_json(change) for change in cycle.changes],
    }
    for basin in shown[:MAX_ROWS]:
        if (result := ahead.get(basin.basin)) and result.training_note:
            inform(result.training_note)
    filled = Counter(result.weather_note for result in ahead.values() if result is not None and result.weather_note)
    for note, count in filled.items():
        inform(f"{count} {'basin' if count == 1 else 'basins'}: {note}")
    columns = ("basin", "status", "T0", "tomorrow", "m3/s", "p05 to p95", "rests on", "weather", "run", "why")
    answer(payload, as_json, table(columns, rows, title))


def _cells(ahead: "Tomorrow | None") -> tuple[object, ...]:
    if ahead is None:
        return (None,) * 5
    rests_on = ahead.calibration or "members"
    return ahead.day, ahead.median, f"{ahead.low:.3f} to {ahead.high:.3f}", rests_on, ahead.weather


def _json(ahead: "Tomorrow | None") -> dict[str, Any] | None:
    return None if ahead is None else {**asdict(ahead), "units": "m3/s"}
