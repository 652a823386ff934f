"""`freshet bridge`: correct a live weather product towards the one a network learnt from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from pydantic import TypeAdapter

from freshet.cli.configuring import valid
from freshet.cli.context import opened, reading
from freshet.cli.options import OnlyBasins, argument, option
from freshet.cli.output import PARTLY_DONE, Columns, Json, answer, answer_list, exit_if_failed, first_rows, inform
from freshet.cli.progress import reporting
from hydrology.base.errors import counted
from hydrology.weather.bridge import PRECIPITATION
from jobspec.jobs.data import BridgeParams
from operations.weather.fit_bridges import apply as run_apply
from operations.weather.fit_bridges import fit as run_fit
from records.weather import bridges as records

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, argument("BRIDGE", "Its name, or the id of one of its fits.")]


@app.callback()
def bridge() -> None:
    """Fit, list, show and apply bridges between products of weather."""


@app.command("fit")
def fit(
    name: Annotated[str, argument("NAME", "Name of the bridge and of its output product.")],
    source: Annotated[str, option("PRODUCT", "Input weather product.", "--from")],
    target: Annotated[str, option("PRODUCT", "Weather product to correct towards.", "--to")],
    period: Annotated[str | None, option("FIRST..LAST", "The days to fit on. Default: all that both have.")] = None,
    model: Annotated[
        str | None, option("NAME", "For the weather forecasts of this model: --from has past ones.")
    ] = None,
    basin: OnlyBasins = None,
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
            basin or [],
            reporter.show_basin,
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
    with reading() as session:
        stored = records.list_bridges(session)
    columns: Columns = {"bridge": "name", "from": "from_product", "to": "to_product", "forecasts of": "model"}
    columns |= {"fitted on": _days, "fitted at": "created_at", "id": "id"}
    answer_list("bridges", stored, columns, as_json)


@app.command("show")
def show(bridge: Name, as_json: Json = False) -> None:
    """Show a bridge: its corrections and its skill in each basin."""
    with reading() as session:
        stored = records.get(session, bridge)
        parts = records.parts_of(session, stored.id)
    _report(stored, parts, as_json)


@app.command("apply")
def apply(bridge: Name, basin: OnlyBasins = None, as_json: Json = False) -> None:
    """Compute the bridge's product from the stored weather. Applied again, it stores only what is new."""
    with opened() as context, reporting() as reporter:
        outcomes = run_apply(
            context.database,
            context.clock,
            bridge,
            basin or [],
            reporter.show_basin,
        )
        counts = Counter(outcome.status for outcome in outcomes)
        context.record("bridge applied", bridge, **counts)
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        inform(f"Failed: {outcome.basin}: {outcome.error}")
    rows = [(o.basin, o.status, o.new_days, o.changed_days, o.invalidated_states) for o in outcomes]
    columns = ("basin", "status", "new days", "revised days", "invalid states")
    payload = {"counts": dict(counts), "basins": [asdict(outcome) for outcome in outcomes]}
    answer(payload, as_json, first_rows(columns, rows, _title(counts, len(outcomes))))
    exit_if_failed(len(failed), len(outcomes))


def _report(stored: records.Bridge, parts: Sequence[records.BridgePart], as_json: bool) -> None:
    for basin, reason in stored.refused.items():
        inform(f"Not fitted: {basin}: {reason}")
    columns = ("basin", "fitted", "day offset", "precipitation", "r as it is", "r bridged", "bias bridged", "applied")
    counts = Counter("pooled" if part.pooled_from else "own" for part in parts)
    products = f"from {stored.from_product} to {stored.to_product}"
    title = f"{stored.name} ({stored.id}): {products}, fitted on {_days(stored)}\n{_title(counts, len(parts))}"
    payload = asdict(stored) | {"basins": [asdict(part) for part in parts]}
    answer(payload, as_json, first_rows(columns, [_row(part) for part in parts], title))


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
    return f"{counted(basins, 'basin')}: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
