"""The commands that forecast, and those of the weather after T0: weather forecasts and bridges between products."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from sqlalchemy.orm import Session

from app.forecasts import volumes as volume_answers
from app.weather import schemas
from freshet.cli.context import opened
from freshet.cli.job_command import Done, job_command
from freshet.cli.job_options import Layout
from freshet.cli.options import argument, flag, option
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, listing, reporting
from freshet.cli.reading import Reading, Shown, cut, reads
from freshet.commands.forecasts import run_text
from hydrology.base.absent import known
from hydrology.base.basins import basin_id
from hydrology.base.calendar import days_between
from hydrology.base.errors import counted
from hydrology.base.units import Area, mm_per_day_to_m3s
from hydrology.weather.bridge import PRECIPITATION
from jobspec.jobs.data import BridgeJob, FuseJob
from jobspec.jobs.forecasting import DailyJob, ForecastJob, ReplayJob, VolumesJob, WhatIfJob
from operations.basin_data import basins as basin_data
from operations.weather import import_forecasts
from records.basins import basins
from records.forecasts.latest import Latest, latest_many, result_of
from records.runs import run_arrays, runs
from records.runs.filled_note import weather_note
from records.weather import bridges
from records.weather.weather_issues import list_issues

_VOLUMES = (
    "basin | season: days | T0: t0 | observed: observed.depth | 90 %: low | 50 %: median | 10 %: high | "
    "normal: normal.mean_depth | % of normal: share | rests on: kind"
)
_DAILY = (
    "basin | status | T0: t0 | tomorrow: flow.day | m3/s: flow.median | p05 to p95: flow.range | "
    "rests on: flow.rests_on | weather: flow.weather | run | why: reason"
)


@job_command(ForecastJob, device=True)
def forecast(done: Done) -> Iterator[RenderableType]:
    """Advance the states to T0 and forecast.

    Without --t0: the day before now (FRESHET_AS_OF sets now), or the last day that the record allows. Without --basin:
    every basin that has a model. 256 basins or more are forecast in parts, each with runs and a T0 of its own.
    """
    yield from _runs(done, [run["run"] for run in done.result["runs"]])


@job_command(WhatIfJob)
def what_if(done: Done) -> Iterator[RenderableType]:
    """Forecast with changed weather after T0, or with more or less water in the basin at T0.

    The run is stored with its changes, together with the unchanged run to compare it with. Latest forecasts, alerts and
    states are not affected.
    """
    bases = dict.fromkeys(run["base"] for run in done.result["runs"] if run["base"])
    yield from _runs(done, [*bases, *(run["run"] for run in done.result["runs"])])


def _runs(done: Done, ids: list[str]) -> Iterator[RenderableType]:
    for run in ids:
        yield from run_text(done.session, run, None)


@job_command(VolumesJob, device=True)
def volumes(done: Done) -> Iterator[RenderableType]:
    """Forecast the volume of a season with the weather of other years.

    Shows the volumes with exceedance probabilities of 90, 50 and 10 %, the normal, and the volume observed in the
    season up to T0. The runs do not replace the latest forecasts.
    """
    rows = []
    for run in done.result["runs"]:
        for of_basin in runs.basins_of(done.session, run["run"]):
            latest = result_of(done.session, run["run"], of_basin.basin_id)
            rows.append(_volume(volume_answers.volumes_of_run(done.session, latest, done.params.season, None)))
    yield listing(rows, _VOLUMES, f"Volumes that are exceeded, mm: {counted(len(rows), 'basin')}")


def _volume(answer: "volume_answers.VolumesOfRun") -> dict[str, Any]:
    """Return the row of a basin, and print why parts of it are not known."""
    for field in ("calibrated", "raw", "normal", "observed"):
        if field in answer.missing:
            inform(f"{answer.basin}: {field} is not known. {answer.missing[field]}")
    known = answer.calibrated or answer.raw
    depths, shares = known and known.depth, known and known.percent_of_normal
    by_chance = {} if depths is None else dict(zip(answer.exceeded_percent, depths, strict=True))
    return answer.model_dump() | {
        "days": f"{answer.period.first_day}..{answer.period.last_day}",
        "low": by_chance.get(90),
        "median": by_chance.get(50),
        "high": by_chance.get(10),
        "share": shares and shares[answer.exceeded_percent.index(50)],
        "kind": "raw" if answer.calibrated is None else "calibrated",
    }


@job_command(DailyJob, device=True)
def daily(done: Done) -> Iterator[RenderableType]:
    """Fetch the feeds, apply the bridges, forecast all basins, decide alerts, and show tomorrow's flow.

    Every basin is forecast from its newest day; the last forecast of a basin without new data stays. Run again on the
    same data, it stores nothing new. A schedule of the kind daily does the same every day.
    """
    result, now = done.result, done.context.clock.now()
    rows = sorted(_tomorrows(done, now), key=lambda row: (row["status"] in ("issued", "unchanged"), row["basin"]))
    flows = [row["flow"] for row in rows if row["flow"] is not None]
    for note in dict.fromkeys(flow["training_note"] for flow in flows if flow["training_note"]):
        inform(note)
    for note, count in Counter(flow["weather_note"] for flow in flows if flow["weather_note"]).items():
        inform(f"{counted(count, 'basin')}: {note}")
    counts = ", ".join(f"{count} {status}" for status, count in result["counts"].items())
    yield listing(rows, _DAILY, f"{counted(len(rows), 'basin')}: {counts}")


def _tomorrows(done: Done, now: datetime) -> Iterator[dict[str, Any]]:
    statuses = done.result["basins"]
    for basin, latest in latest_many(done.session, list(statuses), now).items():
        found = latest if isinstance(latest, Latest) else None
        yield {
            "basin": basin,
            "status": statuses[basin],
            "t0": found and found.run.t0,
            "flow": found and _tomorrow(done.session, found, now),
            "run": found and found.run.id,
            "reason": done.result["reasons"].get(basin),
        }


def _tomorrow(session: Session, latest: Latest, now: datetime) -> dict[str, Any] | None:
    """Return a forecast's discharge of tomorrow, m3/s; None where its horizon is too short or the area unknown.

    It is calibrated where it can be, else the members'. The notes are cautions: the version extrapolates beyond its
    training, or weather was not observed in time or not forecast.
    """
    run, row = latest.run, latest.basin
    day = basin_data.last_ended(basins.get(session, row.basin_id), now) + 2  # from the day that has ended
    series = runs.series_of(session, run.id, row.basin_id, [run_arrays.CALIBRATED, "discharge_quantiles"])
    quantiles, lead = series.get(run_arrays.CALIBRATED) or series.get("discharge_quantiles"), days_between(run.t0, day)
    if quantiles is None or lead not in quantiles.axes["lead"] or row.area_m2 is None:
        return None
    at = [quantiles.axes["level"].index(level) for level in (0.05, 0.5, 0.95)], quantiles.axes["lead"].index(lead)
    low, median, high = mm_per_day_to_m3s(quantiles.values[at], area=Area(str(row.area_name), row.area_m2)).tolist()
    calibration = known(row.summary.calibration)
    return {
        "day": day,
        "median": median,
        "range": f"{low:.3f} to {high:.3f}",
        "weather": run.forcing_kind,
        "rests_on": "members" if calibration is None else calibration.kind,
        "training_note": row.summary.training_note if row.summary.beyond(run.product) else None,
        "weather_note": weather_note(run, row.summary),
    }


@job_command(ReplayJob, Layout(names={"latency_days": "--latency"}, spans={"period": ("--from", "--to")}))
def replay(done: Done) -> Iterator[RenderableType]:
    """Replay an archive: issue forecasts for each past day as if it were today.

    Observations become known with a latency. Archives contain no weather forecasts: perturbed observations replace
    them, and every answer states this. To look at the results, set FRESHET_AS_OF to the last issue day.
    """
    issued, days = counted(done.result["runs"], "run"), counted(len(done.params.period), "issue day")
    yield f"{issued} on {days}, {counted(done.result['alert_changes'], 'change of alerts', 'changes of alerts')}."


_ISSUES = "weather: id | source | model | reference_time | licence | credit"


def add_weather(
    file: Annotated[
        Path, argument("FILE", "CSV, JSON or NetCDF-CF, by the end of its name; or a folder of such files.")
    ],
    grid: Annotated[
        bool,
        flag(
            "--grid",
            "FILE is a model's run on a grid (NetCDF, Zarr, GRIB2), or a folder of such files, whose newest run is "
            "taken: each basin gets the mean over its outline.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Store the weather forecast in a file, or those in the files of a folder and below it.

    Adding the same file again changes nothing, so a folder goes on where it was interrupted. Stored weather forecasts
    never change: another one of the same source, model and reference time is refused. A basin with unusable weather is
    reported, and the others are stored.
    """
    with opened() as context, reporting() as reporter:
        work = replace(context, progress=partial(reporter.show, "weather"))
        imported = import_forecasts.add_all(work, file, grid=grid)
        counts = imported.counts
        context.record("weather added", file.name, **counts)
    for name, stored in imported.stored.items():
        for reason in stored.refused.values():
            inform(f"Refused: {reason}")
        for basin, odd in stored.warnings.items():
            inform(f"Warning: {name}: {basin}: {' '.join(odd)}")
    for name, reason in imported.failed.items():
        inform(f"Refused: {name}: {reason}")
    forecasts, new = counted(counts["files"], "weather forecast"), counted(counts["new"], "basin")
    issues = {name: stored.issue_id for name, stored in imported.stored.items()}
    payload = counts | {"weather": issues, "refused": imported.refused}
    answer(payload, as_json, f"{forecasts}: {new} new, {counts['known']} stored already.")
    if imported.refused:
        raise typer.Exit(PARTLY_DONE)


@reads
def list_weather(
    at: Reading,
    basin: Annotated[
        str | None, option("BASIN", "Only weather forecasts that include this basin.", parser=basin_id)
    ] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of weather forecasts.", min=1, max=10_000)] = 20,
) -> Shown:
    """List the weather forecasts known by the clock, the last stored first."""
    rows, following = cut(list_issues(at.session, at.now, basin=basin, limit=limit + 1), limit, "/v1/weather")
    found = schemas.WeatherPage(weather=list(rows), next=following)
    return Shown(found, lambda: listing(found.weather, _ISSUES, counted(len(rows), "weather forecast")))


Name = Annotated[str, argument("BRIDGE", "Its name, or the id of one of its fits.")]
_BRIDGES = (
    "bridge: name | from: from_product | to: to_product | forecasts of: model | first day: first | last day: last | "
    "fitted at: created_at | id"
)
_RAIN = f"held_out.variables.{PRECIPITATION}"
_BASINS = (
    f"basin | pooled because: pooled_reason | day_offset | r as it is: {_RAIN}.as_it_is.correlation | "
    f"r bridged: {_RAIN}.bridged.correlation | bias bridged: {_RAIN}.bridged.bias | applied: applied_at"
)


@job_command(BridgeJob, Layout(arguments=("name",), group="fit"), partly=["refused_basins"])
def fit_bridge(done: Done) -> Iterator[RenderableType]:
    """Fit a bridge, report its skill on water years left out of the fit, and apply it.

    A basin with too few common days of both products gets the median bridge of similar basins. A bridge of weather
    forecasts is applied when they are used.
    """
    yield _detail(schemas.bridge_detail(done.session, done.result["bridge"]))
    yield from _applied(done)


@reads
def list_bridges(at: Reading) -> Shown:
    """List the bridges, of each the newest fit."""
    found = schemas.Bridges(bridges=bridges.list_bridges(at.session))
    return Shown(found, lambda: listing(found.bridges, _BRIDGES, f"{len(found.bridges)} bridges"))


@reads
def show_bridge(at: Reading, bridge: Name) -> Shown:
    """Show a bridge: its corrections and its skill in each basin."""
    found = schemas.bridge_detail(at.session, bridge)
    return Shown(found, lambda: _detail(found))


@job_command(BridgeJob, Layout(arguments=("name",), left_out=("fit",)))
def apply_bridge(done: Done) -> Iterator[RenderableType]:
    """Compute the bridge's product from the stored weather. Applied again, it stores only what is new."""
    yield from _applied(done)


@job_command(FuseJob, Layout(arguments=("name",)))
def fuse_weather(done: Done) -> Iterator[RenderableType]:
    """Make one product of weather of several: their mean, day by day, now and whenever they change.

    It is derived in the basins that have all of them. On a day that one of them lacks, the mean is that of the others,
    and counts as filled.
    """
    yield from _applied(done)


def _applied(done: Done) -> Iterator[RenderableType]:
    if counts := done.result.get("counts"):
        yield f"{done.params.name}: " + ", ".join(f"{count} {status}" for status, count in counts.items())


def _detail(found: Any) -> RenderableType:
    for basin, reason in found.refused.items():
        inform(f"Not fitted: {basin}: {reason}")
    title = f"{found.name} ({found.id}): from {found.from_product} to {found.to_product}"
    return listing(found.basins, _BASINS, title)
