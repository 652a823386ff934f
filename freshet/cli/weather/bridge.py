"""`freshet bridge`: correct a live weather product towards the one a network learnt from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from pydantic import TypeAdapter

from freshet.cli.configuring import valid
from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, table
from freshet.cli.progress import reporting
from hydrology.base.basins import basin_id
from hydrology.base.errors import DataProblem
from hydrology.weather.bridge import PRECIPITATION
from jobspec.jobs.data import BridgeParams
from operations.weather.fit_bridges import apply as run_apply
from operations.weather.fit_bridges import fit as run_fit
from records.weather import bridges as records

MAX_ROWS = 40

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="BRIDGE", help="Its name, or the id of one of its fits.")]
Basins = Annotated[
    list[str] | None, typer.Option("--basin", metavar="BASIN", help="Only this basin; repeat it for more.")
]


@app.callback()
def bridge() -> None:
    """Fit, list, show and apply bridges between products of weather."""


@app.command("fit")
def fit(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the bridge and of its output product.")],
    source: Annotated[str, typer.Option("--from", metavar="PRODUCT", help="Input weather product.")],
    target: Annotated[str, typer.Option("--to", metavar="PRODUCT", help="Weather product to correct towards.")],
    period: Annotated[
        str | None, typer.Option(metavar="FIRST..LAST", help="The days to fit on. Default: all that both have.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="For the weather forecasts of this model: --from has past ones.")
    ] = None,
    basin: Basins = None,
    as_json: Json = False,
) -> None:
    """Fit a bridge and report its skill on water years left out of the fit.

    A basin with too few common days of both products gets the median bridge of similar basins.
    """
    asked = {"from": source, "to": target, "period": period, "model": model}
    result = {"name": name, "fit": {field: value for field, value in asked.items() if value is not None}}
    params = valid(TypeAdapter(BridgeParams), result, "bridge")
    assert params.fit is not None
    with opened() as context, reporting() as reporter:
        stored = run_fit(
            context.database,
            context.clock,
            params.name,
            params.fit,
            [basin_id(text) for text in basin or []],
            lambda at, done, total: reporter.show("basins", done, total, at),
        )
        context.record("bridge fitted", stored.id, name=name)
        with context.database.reading() as session:
            parts = records.parts_of(session, stored.id)
    _report(stored, parts, as_json)
    if stored.refused:
        raise typer.Exit(PARTLY_DONE)


@app.command("list")
def list_bridges(as_json: Json = False) -> None:
    """List the bridges, of each the newest fit."""
    with opened(reads=True) as context, context.database.reading() as session:
        stored = records.list_bridges(session)
    columns = ("bridge", "from", "to", "forecasts of", "fitted on", "fitted at", "id")
    rows = [(b.name, b.from_product, b.to_product, b.model, _days(b), b.created_at, b.id) for b in stored]
    answer({"bridges": [asdict(one) for one in stored]}, as_json, table(columns, rows, f"{len(stored)} bridges"))


@app.command("show")
def show(bridge: Name, as_json: Json = False) -> None:
    """Show a bridge: its corrections and its skill in each basin."""
    with opened(reads=True) as context, context.database.reading() as session:
        stored = records.get(session, bridge)
        parts = records.parts_of(session, stored.id)
    _report(stored, parts, as_json)


@app.command("apply")
def apply(bridge: Name, basin: Basins = None, as_json: Json = False) -> None:
    """Compute the bridge's product from the stored weather. Applied again, it stores only what is new."""
    with opened() as context, reporting() as reporter:
        outcomes = run_apply(
            context.database,
            context.clock,
            bridge,
            [basin_id(text) for text in basin or []],
            lambda at, done, total: reporter.show("basins", done, total, at),
        )
        counts = Counter(outcome.status for outcome in outcomes)
        context.record("bridge applied", bridge, **counts)
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        inform(f"Failed: {outcome.basin}: {outcome.error}")
    rows = [(o.basin, o.status, o.new_days, o.changed_days, o.invalidated_states) for o in outcomes[:MAX_ROWS]]
    columns = ("basin", "status", "new days", "revised days", "invalid states")
    payload = {"counts": dict(counts), "basins": [asdict(outcome) for outcome in outcomes]}
    answer(payload, as_json, table(columns, rows, _title(counts, len(outcomes))))
    if failed:
        raise typer.Exit(PARTLY_DONE if len(failed) < len(outcomes) else DataProblem.exit_code)


def _report(stored: records.Bridge, parts: Sequence[records.BridgePart], as_json: bool) -> None:
    for basin, reason in stored.refused.items():
        inform(f"Not fitted: {basin}: {reason}")
    columns = ("basin", "fitted", "day offset", "precipitation", "r as it is", "r bridged", "bias bridged", "applied")
    counts = Counter("pooled" if part.pooled_from else "own" for part in parts)
    products = f"from {stored.from_product} to {stored.to_product}"
    title = f"{stored.name} ({stored.id}): {products}, fitted on {_days(stored)}\n{_title(counts, len(parts))}"
    payload = asdict(stored) | {"basins": [asdict(part) for part in parts]}
    answer(payload, as_json, table(columns, [_row(part) for part in parts[:MAX_ROWS]], title))


def _row(part: records.BridgePart) -> tuple[object, ...]:
    rain = None if part.skill is None else part.skill.variables[PRECIPITATION]
    factors = part.corrections.factors[PRECIPITATION]
    return (
        part.basin_id,
        f"pooled from {len(part.pooled_from)}" if part.pooled_from else "here",
        part.corrections.day_offset,
        sum(factors) / len(factors),
        None if rain is None else rain.as_it_is.correlation,
        None if rain is None else rain.bridged.correlation,
        None if rain is None else rain.bridged.bias,
        part.applied_at,
    )


def _days(stored: records.Bridge) -> str:
    return "all days of both" if stored.first is None else f"{stored.first}..{stored.last}"


def _title(counts: Mapping[str, int], basins: int) -> str:
    title = f"{basins} basins: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return title + (f"; the first {MAX_ROWS} of them (--json lists all)" if basins > MAX_ROWS else "")
