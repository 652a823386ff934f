"""A run as text: a row for each basin, by the API's forecasts, and what readers should know of them."""

from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import RenderableType
from sqlalchemy.orm import Session

from app.forecasts import lookup, service
from app.forecasts.discharge import Representation, in_units, usual_units
from app.forecasts.schemas import BasinForecast
from freshet.cli.answers import Columns, listing
from freshet.cli.output import inform
from hydrology.base.absent import Absent
from hydrology.base.errors import counted
from hydrology.base.units import Units
from operations.versions.stages import with_progress
from records.forecasts.latest import Latest
from records.outlooks import outlooks
from records.outlooks.run_outlook import RunOutlook
from records.runs import runs

_COLUMNS: Columns = {"basin": "basin", "status": "status", "unit": "unit", "first day": "first"}
_COLUMNS |= {"peak (5 to 95 %)": "peak", "last day": "last", "storage, mm": "storage", "ledger": "ledger"}
_COLUMNS |= {"learnt from it": "seen", "days since empty store": "spin_up_days", "rests on": "rests_on"}


def run_text(session: Session, run: str, units: Units | None) -> Iterator[RenderableType]:
    """Yield a run as a table, and print the notes on its forecasts.

    Args:
        units: of discharge; None for the usual ones of each basin.
    """
    stored = runs.get(session, run)
    results = [lookup.of_run(session, run, row.basin_id) for row in runs.basins_of(session, run)]
    forecasts = [forecast_of(session, one, units) for one in with_progress("results read", results)]
    for note in dict.fromkeys(_notes(stored, results, forecasts)):
        inform(note)
    title = (
        f"Run {run}: T0 {stored.t0}{_age(stored.t0_age_days)}, {counted(stored.horizon_days, 'day')}, "
        f"{stored.forcing_kind} {stored.product}, version {stored.version_id}, {stored.program}; median discharge"
    )
    of_basins = outlooks.of_runs(session, [(one.run, one.basin) for one in results])
    rows = [
        _row(forecast) | _peak(one, of_basins[run, one.basin.basin_id], units)
        for one, forecast in zip(results, forecasts, strict=True)
    ]
    yield listing(rows, _COLUMNS, title)


def forecast_of(session: Session, result: Latest, units: Units | None) -> BasinForecast:
    """Return the API's answer for a run's result in a basin."""
    (parts,) = service.stored_parts(session, [result], members=False)
    return service.basin_forecast(result, parts, Representation(units or usual_units(result.basin), members=False))


def _row(forecast: BasinForecast) -> dict[str, object]:
    flow, balance = forecast.published or forecast.calibrated or forecast.discharge, forecast.water_balance
    row: dict[str, object] = {
        "basin": forecast.basin,
        "status": forecast.status,
        "seen": {True: "yes", False: "no", None: None}[forecast.seen_in_training],
        "spin_up_days": forecast.spin_up_days,
        "rests_on": forecast.calibration.kind if forecast.calibration else forecast.quantiles_of,
    }
    if balance is not None:
        row["ledger"] = "closed" if balance.closes else "open"
    if forecast.storage is not None:
        row["storage"] = forecast.storage.total[-1]
    if flow is not None:
        row |= {"unit": forecast.units["discharge"], "first": flow["median"][0], "last": flow["median"][-1]}
    return row


def _peak(result: Latest, outlook: RunOutlook | Absent, units: Units | None) -> dict[str, str]:
    """Return the peak of the outlook; nothing where none is ahead."""
    peak = outlook if isinstance(outlook, Absent) else outlook.published.peak
    if isinstance(peak, Absent):
        return {}
    heights = np.array([peak.height, peak.low, peak.high])
    height, low, high = in_units(heights, result.basin, units or usual_units(result.basin))
    return {"peak": f"{height:.3g} ({low:.3g} to {high:.3g})"}


def _notes(run: runs.Run, results: Sequence[Latest], forecasts: Sequence[BasinForecast]) -> Iterator[str]:
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


def _age(days: int) -> str:
    """Return how old T0 was at issue, in words."""
    return f" ({counted(abs(days), 'day')} {'before' if days >= 0 else 'after'} the day of issue)"
