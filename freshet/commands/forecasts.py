"""The commands that show forecasts and what they rest on: `issues`, `runs`, `changes`, `rain-margin`, `states`."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
from rich.console import Group, RenderableType
from sqlalchemy.orm import Session

from app.forecasts import changes as run_changes
from app.forecasts import discharge as flow_units
from app.forecasts import endpoints, lookup, run_schemas
from app.forecasts import forecast as forecast_answers
from app.forecasts import issues as issue_answers
from app.forecasts import rain_margin as margin_answers
from app.forecasts.water import states as state_answers
from freshet.cli.options import Basin, Run, Version, argument, option
from freshet.cli.output import inform, inform_missing, listing, series
from freshet.cli.reading import DischargeUnits, Reading, Shown, cut, reads, reads_series
from hydrology.base.absent import Absent
from hydrology.base.basins import basin_id
from hydrology.base.calendar import day as read_day
from hydrology.base.calendar import instant
from hydrology.base.errors import InvalidInput, counted
from hydrology.base.units import Units
from records.basins import basins
from records.forecasts import issues as stored_issues
from records.forecasts.latest import Latest, asked_version, result_of
from records.outlooks import outlooks
from records.outlooks.flow_outlooks import RunOutlook
from records.runs import run_types
from records.runs import runs as stored_runs
from records.runs import states as stored_states

_RUNS = (
    "run: id | T0: t0 | horizon: horizon_days | issued: issued_at | version | purpose | forcing: forcing_kind | status"
)
_FORECAST = (
    "5 %: calibrated.p05 | calibrated.median | 95 %: calibrated.p95 | members' median: discharge.median | "
    "storage, mm: storage.total | snow, mm: storage.snow | rain, mm/day: precipitation | loss, mm/day: loss"
)
_CHANGES = (
    "before | after | change | parts.revised_data | parts.observed_weather | parts.weather_forecast | "
    "parts.model_version | parts.observed_flow"
)
_MARGINS = (
    "level: level.name | window.first_day | window.days | answer: window.status | "
    "median, mm: window.median | 5 %: window.p05 | 95 %: window.p95"
)
_ISSUES = "day | expected: basins.expected | renewed | lacking | late | closed: closed_at | job"
_LACKING = "basin: basin_id | outcome | reason"
_STATES = "day | storage of each member, mm: storage_mm | sha256 | parent: parent_day | invalid: invalid_reason"


@reads_series
def runs(
    at: Reading,
    run: Annotated[str | None, argument("RUN", "Show this run, by its id.")] = None,
    basin: Annotated[
        str | None,
        option("BASIN", "Of a run, the forecast of this basin, day by day; else list its runs.", parser=basin_id),
    ] = None,
    known_at: Annotated[
        str | None, option("INSTANT", "List runs available at that time: 2008-04-21T06:00:00Z.")
    ] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of runs, the newest first.", min=1, max=10_000)] = 20,
    units: Annotated[Units | None, option("UNIT", "Of discharge: m3/s, mm/day or cfs. Default: m3/s.")] = None,
) -> Shown:
    """List the forecast runs, or show one: discharge, storage and the closed ledger of each basin."""
    if run is not None:
        if basin is not None:
            return _forecast(at, run, basin, units)
        return Shown(run_schemas.detail(at.session, run), lambda: Group(*run_text(at.session, run, units)))
    by = instant(known_at) if known_at else None
    sought = stored_runs.list_runs(at.session, basin=basin, available_by=by, limit=limit + 1)
    found, following = cut(sought, limit, "/v1/runs")
    page = run_schemas.RunPage(runs=run_schemas.summaries(found), next=following)
    return Shown(page, lambda: listing(page.runs, _RUNS, counted(len(found), "run")))


@reads
def issues(
    at: Reading,
    day: Annotated[str | None, argument("DAY", "Show the issue of this day, with its basins without forecast.")] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of issues, the newest first.", min=1, max=10_000)] = 30,
) -> Shown:
    """List the issues of the daily cycle, or show one: basins expected, renewed and missing, and why."""
    if day is not None:
        found = issue_answers.detail(at.session, read_day(day))
        return Shown(found, lambda: listing(found.without_forecast, _LACKING, issue_text(found)))
    rows, following = cut(stored_issues.page(at.session, limit=limit + 1), limit, "/v1/issues", "day")
    listed = issue_answers.IssuePage(issues=issue_answers.summaries(at.session, rows), next=following)
    return Shown(listed, lambda: listing(listed.issues, _ISSUES, counted(len(rows), "issue")))


def issue_text(issue: "issue_answers.IssueDetail") -> str:
    """Return the numbers of an issue as a sentence."""
    of_all = f"{issue.renewed} of {counted(issue.basins.expected, 'basin')} renewed"
    return f"{issue.day}{', issued late' if issue.late else ''}: {of_all}, {issue.lacking} without a forecast"


def _forecast(at: Reading, run: str, basin: str, units: Units | None) -> Shown:
    found = _forecast_of(at.session, result_of(at.session, run, basin), units)

    def text() -> RenderableType:
        inform_missing(found, ("discharge", "calibrated", "storage"))
        return series(found, _FORECAST, f"{basin}, run {run}, discharge in {found.units['discharge']}")

    return Shown(found, text, lambda: endpoints.of_one(found, basins.sites(at.session, [basin])))


@reads_series
def changes(at: Reading, basin: Basin, run: Run = None, units: DischargeUnits = "m3/s") -> Shown:
    """Show why a forecast differs from the previous one.

    Splits the change of each day into weather that came, new weather forecast, revised data, model version and observed
    flow. The parts add up to the change.
    """
    latest, now = lookup.chosen(at.session, run, basin, at.now)
    found = run_changes.change_of(at.session, latest, now, units)

    def text() -> RenderableType:
        inform_missing(found, found.missing)
        return series(found, _CHANGES, found.in_words or f"{basin}: no change is known")

    return Shown(found, text, lambda: run_changes.TABLE(found, basins.sites(at.session, [basin])))


@reads
def rain_margin(
    at: Reading,
    basin: Basin,
    run: Run = None,
    discharge: Annotated[
        float | None, option("FLOW", "A level. Default: the basin's floods and rising levels.")
    ] = None,
    units: DischargeUnits = "m3/s",
) -> Shown:
    """Show how much rain within 1, 2 or 3 days takes flow to each level.

    From the water in the basin at T0, corrected by the last observed flow. No other rain falls; all other weather is
    the mean of the forecast. Median and range of the members.
    """
    if discharge is not None and discharge <= 0:
        raise InvalidInput("The level must be above 0.")
    latest, now = lookup.chosen(at.session, run, basin, at.now)
    found = margin_answers.rain_margin_of_run(at.session, latest, now, units, discharge)

    def text() -> RenderableType:
        inform_missing(found, ("levels",))
        rows = [{"level": level, "window": window} for level in found.levels or [] for window in level.windows or []]
        shown = f"{_MARGINS} | {units}: level.discharge"
        return listing(rows, shown, f"Rain that takes {basin} to each level, run {found.run}")

    return Shown(found, text)


@reads
def states(
    at: Reading,
    basin: Basin,
    day: Annotated[str | None, argument("DAY", "Show the state of this day, with its arrays in --json.")] = None,
    version: Version = None,
    limit: Annotated[int, option("COUNT", "Maximum number of states, the newest first.", min=1, max=10_000)] = 20,
) -> Shown:
    """List the stored model states of a basin, or show that of a day."""
    asked = asked_version(at.session, basin, version)
    asked.require_members("Reading states")
    title = f"{basin}, version {asked.id}"
    if day is not None:
        found = state_answers.detail(at.session, asked, basin, read_day(day))
        return Shown(found, lambda: listing([found], _STATES, title))
    sought = stored_states.page(at.session, asked.id, basin, before=None, limit=limit + 1)
    rows, following = cut(sought, limit, f"/v1/basins/{basin}/states", "day")
    of_basin = state_answers.StatePage(basin=basin, version=asked.id, states=list(rows), next=following)
    return Shown(of_basin, lambda: listing(of_basin.states, _STATES, f"{counted(len(rows), 'state')} of {title}"))


_COLUMNS = (
    "basin | status | unit | first day: first | peak (5 to 95 %): peak | return period: return_period | "
    "last day: last | storage, mm: storage | ledger | learnt from it: seen | days since empty store: spin_up_days | "
    "rests on: rests_on"
)


def run_text(session: Session, run: str, units: Units | None) -> Iterator[RenderableType]:
    """Yield a run as a table, and print the notes on its forecasts.

    Args:
        units: of discharge; None for the usual ones of each basin.
    """
    stored = stored_runs.get(session, run)
    results = [result_of(session, run, row.basin_id) for row in stored_runs.basins_of(session, run)]
    forecasts = [_forecast_of(session, one, units) for one in results]
    for note in dict.fromkeys(_notes(stored, results, forecasts)):
        inform(note)
    age = stored.t0_age_days
    title = (
        f"Run {run}: T0 {stored.t0} ({counted(abs(age), 'day')} {'before' if age >= 0 else 'after'} the day of issue), "
        f"{counted(stored.horizon_days, 'day')}, "
        f"{stored.forcing_kind} {stored.product}, version {stored.version_id}, {stored.program}; median discharge"
    )
    of_basins = outlooks.of_runs(session, [(one.run, one.basin) for one in results])
    rows = [
        _row(one, of, of_basins[run, one.basin.basin_id], units) for one, of in zip(results, forecasts, strict=True)
    ]
    yield listing(rows, _COLUMNS, title)


def _forecast_of(session: Session, result: Latest, units: Units | None) -> "forecast_answers.BasinForecast":
    return forecast_answers.forecast_of(
        session, result, flow_units.Representation(units or flow_units.usual_units(result.basin), members=False)
    )


def _row(
    result: Latest, forecast: "forecast_answers.BasinForecast", outlook: RunOutlook | Absent, units: Units | None
) -> dict[str, object]:
    """Return a row of the table: with the published flow of the first and the last day ahead, and its peak."""
    balance, storage = forecast.water_balance, forecast.storage
    row = dict(forecast) | {
        "seen": {True: "yes", False: "no", None: None}[forecast.seen_in_training],
        "rests_on": forecast.calibration.kind if forecast.calibration else forecast.quantiles_of,
        "ledger": balance and ("closed" if balance.closes else "open"),
        "storage": storage and storage.total[-1],
    }
    if isinstance(outlook, Absent):
        return row
    unit, median, peak = (
        units or flow_units.usual_units(result.basin),
        outlook.published.days.median,
        outlook.published.peak,
    )
    heights = [] if isinstance(peak, Absent) else [peak.height, peak.low, peak.high]
    flows = flow_units.in_units(np.array([median[0], median[-1], *heights], dtype=np.float64), result.basin, unit)
    first, last, *heights = flows.tolist()
    range_of_peak = "{:.3g} ({:.3g} to {:.3g})".format(*heights) if heights else None
    period = None if forecast.peak is None else forecast.peak.rare
    return row | {"unit": unit, "first": first, "last": last, "peak": range_of_peak, "return_period": period}


def _notes(
    run: run_types.Run, results: Sequence[Latest], forecasts: "Sequence[forecast_answers.BasinForecast]"
) -> Iterator[str]:
    """Yield what readers should know of a run: of its T0, its weather, its training and its ranges."""
    if run.t0_note:
        yield f"Warning: {run.t0_note}"
    for result, forecast in zip(results, forecasts, strict=True):
        basin = forecast.basin
        if forecast.what_if is not None:
            yield f"What-if run, not a forecast: {forecast.what_if.in_words}."
        if forecast.reason is not None:
            yield f"{forecast.status.capitalize()}: {basin}: {forecast.reason}"
        if forecast.training_note and result.basin.summary.beyond(run.product):
            yield forecast.training_note
        yield from (f"{basin}: {note}" for note in (forecast.weather_note, forecast.spin_up_note) if note)
        if forecast.product_credit is not None:
            yield f"Weather of {run.product}: {forecast.product_credit.credit} {forecast.product_credit.licence}."
        if (weather := forecast.weather) is not None:
            names = (weather.source, weather.model, weather.credit, weather.licence)
            yield f"{forecast.forcing_note} {', '.join(filter(None, names))}."
        if forecast.status == "issued" and "calibrated" in forecast.missing:
            yield f"Not calibrated: 5 to 95 % is of the {forecast.quantiles_of}. {forecast.missing['calibrated']}"
        elif forecast.status == "issued":
            yield "5 to 95 % is the calibrated range: nine days in ten fall within it (freshet calibrate)."
