"""`freshet volumes`: forecast seasonal volumes."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from freshet.cli.configuring import valid
from freshet.cli.context import opened
from freshet.cli.devices import Device, take_device
from freshet.cli.forecasts.issuing import T0, Version, named_basins, record_issued
from freshet.cli.options import Basins, BasinsFile
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, table
from freshet.cli.progress import reporting
from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.errors import counted
from hydrology.climatology.volumes import EXCEEDED_PERCENT, Normal, Observed, million_m3
from jobspec.jobs.forecasting import VolumesParams
from operations.versions.stages import with_progress
from records.forecasts import seasonal_volumes as records
from records.forecasts.latest import Latest
from records.runs import runs

_FIELDS = VolumesParams.model_fields


def volumes(
    basin: Basins = None,
    basins_file: BasinsFile = None,
    season: Annotated[str | None, typer.Option(metavar="MM-DD..MM-DD", help=_FIELDS["season"].description)] = None,
    t0: T0 = None,
    version: Version = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Forecast the volume of a season with the weather of other years.

    Shows the volumes with exceedance probabilities of 90, 50 and 10 %, the normal, and the volume observed in the
    season up to T0. The runs do not replace the latest forecasts.
    """
    with opened() as context:
        take_device(context.settings, device)
        basins = named_basins(context, basin, basins_file)
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
        record_issued(context, done)
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
    for basin in with_progress("volumes read", runs.basins_of(session, run.id)):
        yield basin.basin_id, _row(run, records.of_run(session, Latest(run, basin, None), params.season))


def _row(run: runs.Run, volume: records.Volume) -> dict[str, Any]:
    calibrated, raw = volume.whole(volume.calibrated), volume.whole(volume.raw)
    normal, observed = volume.normal, volume.observed
    known = raw if isinstance(calibrated, Absent) else calibrated
    share = None
    if isinstance(normal, Normal) and normal.mean > 0 and not isinstance(known, Absent):
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
        "missing": {name: str(reason) for name, reason in reasons.items() if isinstance(reason, Absent)},
    }


def _list(depths: Array | Absent) -> list[float] | None:
    return None if isinstance(depths, Absent) else depths.tolist()


def _million_m3(volume: records.Volume, depths: Array | Absent) -> list[float] | None:
    if isinstance(depths, Absent) or volume.area is None:
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
    return table(columns, rows, f"Volumes that are exceeded, mm: {counted(len(rows), 'basin')}")
