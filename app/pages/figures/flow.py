"""The hydrograph: observed and forecast flow, its uncertainty, and levels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from app.forecasts.forecast import BasinForecast
from app.forecasts.schemas import Columns
from app.forecasts.words import UNITS, number, on
from app.outlooks.schemas import OutlookPeak
from app.pages.figures import Band, Colour, Curve, Figure, Peak, Values, edge, level_line, on_days
from app.pages.words import NO_ESTIMATE, RANGE_KINDS
from hydrology.base.units import Units
from hydrology.extremes.level_names import level_title, percent

REACH = 1.5
"""Highest level drawn, relative to the highest flow."""
BANDS: tuple[tuple[str, str, Colour, str], ...] = (
    ("p05", "p95", "band-90", "90 % range"),
    ("p25", "p75", "band-50", "50 % range"),
)


@dataclass(frozen=True, slots=True)
class PlottedLevel:
    """A level of discharge, in the units of the figure, with the chance of passing it; None where it is not known."""

    name: str
    discharge: float
    chance: float | None = None

    @property
    def label(self) -> str:
        """The name and the chance."""
        return level_title(self.name) + ("" if self.chance is None else f", {percent(self.chance)}")


@dataclass(frozen=True, slots=True)
class Observed:
    """Observed values of some days, or why there are none."""

    days: Sequence[date]
    values: Values
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """The median of the forecast before, by its T0."""

    t0: date
    days: Sequence[date]
    median: Values


@dataclass(frozen=True, slots=True)
class Beside:
    """What is drawn beside the forecast: levels, the forecast before, and the peak."""

    observed: Observed
    levels: Sequence[PlottedLevel]
    before: Before | None = None
    peak: OutlookPeak | None = None


def hydrograph(forecast: BasinForecast, beside: Beside, units: Units, time: Sequence[date], call: str) -> Figure:
    """Draw observed and forecast flow over the days of the page."""
    observed, levels = beside.observed, beside.levels
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
    if beside.before is not None:
        label, before = f"forecast of {on(beside.before.t0)}", beside.before
        of_days = on_days(time, before.days, before.median)
        curves.append(Curve(label=label, values=of_days, colour="before", style="dashed"))
    curves += [Curve(label="observed", values=on_days(time, observed.days, observed.values), colour="observed")]
    highest = max(value for curve in curves for value in curve.values if value is not None)
    near = [level for level in levels if level.discharge <= REACH * highest]
    curves += [level_line(level.label, level.discharge, len(time)) for level in near]
    return figure.but(
        described=_described(forecast, quantiles, units),
        note=" ".join(_notes(forecast, observed, [level for level in levels if level not in near], units)),
        time=list(time),
        curves=curves,
        bands=bands,
        t0=forecast.t0,
        peak=None if beside.peak is None else _peak(beside.peak),
        log=True,
    )


def _peak(peak: OutlookPeak) -> Peak:
    return Peak(height=peak.discharge, low=peak.p05, high=peak.p95, day=peak.day, first=peak.day_p05, last=peak.day_p95)


def _plume(forecast: BasinForecast, quantiles: Columns, time: Sequence[date]) -> tuple[list[Curve], list[Band]]:
    curves: list[Curve] = []
    bands: list[Band] = []
    for low, high, colour, label in BANDS:
        curves += [edge(label, on_days(time, forecast.time, quantiles[name]), colour) for name in (low, high)]
        shown = label if forecast.calibrated is not None else f"{label.removesuffix(' range')} of members"
        bands.append(Band(low=len(curves) - 2, high=len(curves) - 1, colour=colour, label=shown))
    for label, values in forecast.members.items():
        on = on_days(time, forecast.time, values)
        curves.append(Curve(label=label, values=on, colour="members", style="thin", listed=False))
    curves.append(Curve(label="median", values=on_days(time, forecast.time, quantiles["median"]), colour="median"))
    return curves, bands


def _notes(forecast: BasinForecast, observed: Observed, far: Sequence[PlottedLevel], units: Units) -> Iterator[str]:
    kind = getattr(forecast.calibration, "kind", "")
    if forecast.calibrated is None:
        yield f"{NO_ESTIMATE}: the range is the spread of the members, which is too narrow."
    elif kind in RANGE_KINDS:
        yield f"{RANGE_KINDS[kind].capitalize()}: fewer issued forecasts than usual are behind it."
    if observed.reason is not None:
        yield f"Observed: {observed.reason}"
    if far:
        lowest = min(far, key=lambda level: level.discharge)
        yield f"Above the picture: {lowest.label}, {number(lowest.discharge)} {UNITS[units]}, and higher levels."


def _described(forecast: BasinForecast, quantiles: Columns, units: Units) -> str:
    median = quantiles["median"]
    last = forecast.time[-1]
    return (
        f"Hydrograph. From {number(median[0])} {UNITS[units]} on {on(forecast.time[0])} to {number(median[-1])} on "
        f"{on(last)}, with 90 chances in 100 between {number(quantiles['p05'][-1])} and {number(quantiles['p95'][-1])} "
        "on the last day. The values stand in the table below."
    )
