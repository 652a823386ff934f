"""`freshet volumes`: forecast seasonal volumes."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from freshet.cli.configuring import valid
from freshet.cli.context import opened
from freshet.cli.options import Basins, BasinsFile, listed
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, table
from freshet.cli.progress import reporting
from hydrology.climatology.volumes import EXCEEDED_PERCENT, Array, Normal, Observed, million_m3
from jobspec.jobs.forecasting import VolumesParams
from operations.data.basins import chosen
from operations.versions.stages import stage
from records.forecasts import seasonal_volumes as records
from records.forecasts.latest import Latest
from records.runs import runs

_FIELDS = VolumesParams.model_fields


def volumes(
    basin: Basins = None,
    basins_file: BasinsFile = None,
    season: Annotated[str | None, typer.Option(metavar="MM-DD..MM-DD", help=_FIELDS["season"].description)] = None,
    t0: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day that the states consume.")] = None,
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="A model version. Default: the current one of each basin.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Forecast the volume of a season with the weather of other years.

    Shows the volumes with exceedance probabilities of 90, 50 and 10 %, the normal, and the volume observed in the
    season up to T0. The runs do not replace the latest forecasts.
    """
    with opened() as context:
        with context.database.reading() as session:
            names = [*(basin or []), *listed(basins_file)]
            basins = chosen(session, names) if names else []
        asked = {"basins": basins, "t0": t0, "season": season, "version": version}
        params = valid(TypeAdapter(VolumesParams), asked, "volumes")
        from operations.forecasting.seasonal_volumes import forecast_volumes

        with reporting() as reporter:
            done = forecast_volumes(
                context.database,
                context.clock,
                params,
                on_days=lambda at, total: reporter.show("basin-days to T0", at, total),
            )
        for run in done:
            facts = {"version": run.version_id, "t0": str(run.t0), "status": run.status}
            context.record("forecast issued", run.id, **facts)
        with reporting(), context.database.reading() as session:
            shown = {name: result for run in done for name, result in _basins(session, run, params)}
    for note in filter(None, (run.t0_note for run in done)):
        inform(f"Warning: {note}")
    for name, result in shown.items():
        for field, reason in result["missing"].items():
            inform(f"{name}: {field} is not known. {reason}")
    answer({"exceeded_percent": EXCEEDED_PERCENT, "basins": shown}, as_json, _table(shown))
    if any(run.status != "issued" for run in done):
        raise typer.Exit(PARTLY_DONE)


def _basins(session: Session, run: runs.Run, params: VolumesParams) -> Iterator[tuple[str, dict[str, Any]]]:
    for basin in stage("volumes read", runs.basins_of(session, run.id)):
        yield basin.basin_id, _row(run, records.of_run(session, Latest(run, basin, None), params.season))


def _row(run: runs.Run, volume: records.Volume) -> dict[str, Any]:
    calibrated, raw = volume.whole(volume.calibrated), volume.whole(volume.raw)
    normal, observed = volume.normal, volume.observed
    known = raw if isinstance(calibrated, str) else calibrated
    share = None
    if isinstance(normal, Normal) and normal.mean > 0 and not isinstance(known, str):
        share = (100 * known / normal.mean).tolist()
    reasons = {"calibrated": calibrated, "raw": raw, "normal": normal, "observed": observed}
    return {
        "run": run.id,
        "t0": str(run.t0),
        "t0_age_days": run.t0_age_days,
        "t0_note": run.t0_note,
        "season": str(volume.season),
        "period": str(volume.period),
        "ahead": str(volume.ahead),
        "calibrated_mm": _list(calibrated),
        "calibrated_million_m3": _million_m3(volume, calibrated),
        "raw_mm": _list(raw),
        "raw_million_m3": _million_m3(volume, raw),
        "percent_of_normal": share,
        "normal_mean_mm": normal.mean if isinstance(normal, Normal) else None,
        "normal_years": len(normal.years) if isinstance(normal, Normal) else None,
        "observed_mm": observed.depth if isinstance(observed, Observed) else None,
        "observed_missing_days": len(observed.missing) if isinstance(observed, Observed) else None,
        "missing": {name: reason for name, reason in reasons.items() if isinstance(reason, str)},
    }


def _list(depths: Array | str) -> list[float] | None:
    return None if isinstance(depths, str) else depths.tolist()


def _million_m3(volume: records.Volume, depths: Array | str) -> list[float] | None:
    if isinstance(depths, str) or volume.area is None:
        return None
    converted: list[float] = million_m3(depths, volume.area).tolist()
    return converted


def _table(shown: dict[str, dict[str, Any]]) -> Any:
    columns = ("basin", "season", "T0", "observed", "90 %", "50 %", "10 %", "normal", "% of normal", "quantiles")
    low, middle, high = (EXCEEDED_PERCENT.index(percent) for percent in (90, 50, 10))
    rows = []
    for name, result in shown.items():
        kind = "raw" if result["calibrated_mm"] is None else "calibrated"
        depths = result[f"{kind}_mm"] or [None] * len(EXCEEDED_PERCENT)
        share = result["percent_of_normal"]
        rows.append(
            (
                name,
                result["period"],
                result["t0"],
                result["observed_mm"],
                *(depths[at] for at in (low, middle, high)),
                result["normal_mean_mm"],
                None if share is None else share[middle],
                kind,
            )
        )
    return table(columns, rows, f"Volumes that are exceeded, mm: {len(rows)} basins")
