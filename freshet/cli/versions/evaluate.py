"""`freshet evaluate`: score a version over a period."""

from dataclasses import asdict, astuple
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshet.cli.context import cores, opened
from freshet.cli.devices import Device, take_device
from freshet.cli.options import Basins, BasinsFile
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, inform_left_out, table
from freshet.cli.progress import reporting
from freshet.cli.text_files import listed
from freshet.cli.versions.verified import in_training
from hydrology.base.calendar import Period
from hydrology.base.errors import counted
from operations.basin_data.basins import chosen
from records.versions import promotions, versions

if TYPE_CHECKING:
    from operations.verification.evaluate import Evaluation


def evaluate(
    period: Annotated[str, typer.Option(metavar="FIRST..LAST", help="Days to score.")],
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="A model version. Default: the newest.")
    ] = None,
    basin: Basins = None,
    basins_file: BasinsFile = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Score a version over a period: its members' mean, how well water is conserved, and its snow.

    Without --basin: the basins that the version was trained on.
    """
    with opened() as context:
        take_device(context.settings, device)
        with context.database.reading() as session:
            stored = versions.get(session, version) if version else versions.newest(session)
            names = [*(basin or []), *listed(basins_file)]
            ids = chosen(session, names) if names else promotions.basins_of(session, stored.id)
        from operations.verification.evaluate import evaluate as run

        with reporting() as reporter:
            reporter.show("basins", 0, len(ids))
            done = run(
                context.database,
                context.clock,
                stored.id,
                Period.parse(period),
                ids,
                on_basins=lambda at, total: reporter.show("basins", at, total),
                cores=cores(context.settings.threads),
            )
        context.record("model evaluated", stored.id, period=period, basins=len(done.basins))
    inform_left_out(done.left_out.values())
    if done.warning is not None:
        inform(done.warning)
    answer(_payload(done), as_json, _summary(done))
    if done.left_out:
        raise typer.Exit(PARTLY_DONE)


def _summary(done: "Evaluation") -> Any:
    from hydrology.scores.scores import SCORES

    rows: list[tuple[object, ...]] = [(metric, *astuple(done.quartiles(metric))) for metric in SCORES]
    if snow := _snow(done):
        rows.append(("snow r", snow["basins"], *snow["r"]))
        rows.append(("snow bias %", snow["basins"], *snow["bias_pct"]))
    title = f"Version {done.version_id}, {done.period}, {counted(len(done.basins), 'basin')}"
    if done.scored != done.version_id:
        title += f", scored by its twin {done.scored}"
    title += f", {in_training(done.use)}"
    if assuming := sum(bool(one.assumed) for one in done.basins):
        title += f", of which {assuming} with attributes that are not known but assumed"
    if done.worst_residual is not None:
        title += f", worst closure residual {done.worst_residual:.1e} of the water"
    return table(("score", "basins", "25 %", "median", "75 %"), rows, title)


def _payload(done: "Evaluation") -> dict[str, Any]:
    from hydrology.scores.scores import SCORES

    summary = {}
    for metric in SCORES:
        cuts = asdict(done.quartiles(metric))
        summary[metric] = {"basins": cuts.pop("n"), **cuts}
    basins = {
        one.basin: {
            "scores": {name: {"value": s.value, "n": s.n, "reason": s.reason} for name, s in one.scores.items()},
            "worst_residual": one.worst_residual,
            "attributes_assumed": list(one.assumed),
            "snow": None if one.snow is None else {"r": one.snow.test_r, "bias_pct": one.snow.bias_pct},
        }
        for one in done.basins
    }
    return {
        "version": done.version_id,
        "scored": done.scored,
        "period_use": done.use,
        "warning": done.warning,
        "period": str(done.period),
        "summary": summary,
        "snow": _snow(done),
        "worst_residual": done.worst_residual,
        "left_out": done.left_out,
        "basins": basins,
    }


def _snow(done: "Evaluation") -> dict[str, Any] | None:
    """Return the quartiles of the snow skill over the basins that have one."""
    import numpy as np

    known = [
        (one.snow.test_r, one.snow.bias_pct)
        for one in done.basins
        if one.snow is not None and one.snow.test_r is not None and one.snow.bias_pct is not None
    ]
    if not known:
        return None
    quartiles = np.percentile(np.array(known), [25, 50, 75], axis=0).T.tolist()
    return {"basins": len(known), "r": quartiles[0], "bias_pct": quartiles[1]}
