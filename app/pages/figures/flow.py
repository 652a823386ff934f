"""The hydrograph: observed and forecast flow, its uncertainty, and levels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from app.forecasts.schemas import BasinForecast, Columns
from app.forecasts.words import UNITS, number, on
from app.pages.figures import Band, Colour, Curve, Figure, Values, edge, level_line, on_days
from hydrology.base.units import Units

REACH = 1.5
"""Highest level drawn, relative to the highest flow."""
BANDS: tuple[tuple[str, str, Colour], ...] = (("p05", "p95", "band-90"), ("p25", "p75", "band-50"))


@dataclass(frozen=True, slots=True)
class Level:
    """A level of discharge, in the units of the figure."""

    name: str
    discharge: float


@dataclass(frozen=True, slots=True)
class Observed:
    """Observed values of some days, or why there are none."""

    days: Sequence[date]
    values: Values
    reason: str | None = None


def hydrograph(
    forecast: BasinForecast, observed: Observed, levels: Sequence[Level], units: Units, time: Sequence[date], call: str
) -> Figure:
    """Draw observed and forecast flow over the days of the page."""
    figure = Figure(
        name=f"{forecast.basin}-discharge",
        title="Discharge",
        unit=UNITS[units],
        call=f"{call}?units={units}",
    )
    quantiles = forecast.calibrated or forecast.discharge
    if quantiles is None:
        return figure.but(reason=forecast.reason or "The run has no discharge.")
    curves, bands = _plume(forecast, quantiles, time)
    curves += [Curve(label="observed", values=on_days(time, observed.days, observed.values), colour="observed")]
    highest = max(value for curve in curves for value in curve.values if value is not None)
    near = [level for level in levels if level.discharge <= REACH * highest]
    curves += [level_line(level.name, level.discharge, len(time)) for level in near]
    return figure.but(
        described=_described(forecast, quantiles, units),
        note=" ".join(_notes(forecast, observed, [level for level in levels if level not in near], units)),
        time=list(time),
        curves=curves,
        bands=bands,
        t0=forecast.t0,
    )


def _plume(forecast: BasinForecast, quantiles: Columns, time: Sequence[date]) -> tuple[list[Curve], list[Band]]:
    curves: list[Curve] = []
    bands: list[Band] = []
    for low, high, colour in BANDS:
        curves += [edge(name, on_days(time, forecast.time, quantiles[name]), colour) for name in (low, high)]
        bands.append(Band(low=len(curves) - 2, high=len(curves) - 1, colour=colour))
    for label, values in forecast.members.items():
        on = on_days(time, forecast.time, values)
        curves.append(Curve(label=label, values=on, colour="members", style="thin", listed=False))
    curves.append(Curve(label="median", values=on_days(time, forecast.time, quantiles["median"]), colour="median"))
    return curves, bands


def _notes(forecast: BasinForecast, observed: Observed, far: Sequence[Level], units: Units) -> Iterator[str]:
    if forecast.calibrated is not None:
        yield "The bands hold the flow with chances of 90 % and 50 %."
    else:
        why = forecast.missing.get("calibrated", "")
        yield f"The bands are the spread of the members, which is too narrow: their reliability is not known. {why}"
    if observed.reason is not None:
        yield f"Observed: {observed.reason}"
    if far:
        lowest = min(far, key=lambda level: level.discharge)
        yield f"Above the picture: {lowest.name}, {number(lowest.discharge)} {UNITS[units]}, and higher levels."


def _described(forecast: BasinForecast, quantiles: Columns, units: Units) -> str:
    median = quantiles["median"]
    last = forecast.time[-1]
    return (
        f"Hydrograph. From {number(median[0])} {UNITS[units]} on {on(forecast.time[0])} to {number(median[-1])} on "
        f"{on(last)}, with 90 chances in 100 between {number(quantiles['p05'][-1])} and {number(quantiles['p95'][-1])} "
        "on the last day. The values stand in the table below."
    )
