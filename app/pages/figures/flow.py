"""The hydrograph, and the recession without further rain."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from app.forecasts.forecast import BasinForecast
from app.forecasts.water.recession import DrainDownOfRun, LowFlow
from app.forecasts.words import UNITS, number, on
from app.outlooks.schemas import BasinOutlook, OutlookPeak
from app.pages.figures import Band, Colour, Curve, Figure, Peak, Values, edge, level_line, on_days
from app.pages.render import STALE, in_full
from hydrology.base.absent import Absent
from hydrology.base.errors import counted
from hydrology.base.units import Units
from hydrology.extremes.level_checks import level_title, percent
from hydrology.extremes.levels import OF_MODEL

REACH = 1.5
"""Highest level drawn, relative to the highest flow."""
BANDS: tuple[tuple[str, str, Colour, str], ...] = (
    ("p05", "p95", "band-90", "90 % range"),
    ("p25", "p75", "band-50", "50 % range"),
)
NO_ESTIMATE = "No uncertainty estimate yet"
RANGE_KINDS = {"provisional": "provisional range", "backfilled": "range from past forecasts"}
"""Label of a calibrated range by the kind of its error model; others need none."""
Flow = Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class PlottedLevel:
    """A level of discharge, in the units of the figure, with the chance of passing it; None where it is not known."""

    name: str
    discharge: float
    chance: float | None = None

    @property
    def label(self) -> str:
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
    """What is drawn beside the forecast."""

    observed: Observed
    outlook: BasinOutlook
    before: Before | None = None

    @property
    def levels(self) -> list[PlottedLevel]:
        """The rising levels: floods of the record, and those of operators."""
        is_calibrated = self.outlook.flow == "calibrated"
        return [
            PlottedLevel(level.level, level.discharge, level.chance if is_calibrated else None)
            for level in self.outlook.threat.levels or ()
            if level.direction == "rising"
        ]

    @property
    def peak(self) -> OutlookPeak | None:
        """The peak; None where it rests on no errors."""
        return self.outlook.peak if self.outlook.flow == "calibrated" else None


def flow_of(forecast: BasinForecast) -> Flow | None:
    """Return the flow to show: adjusted where it is, else that of all days, those included that had ended at issue."""
    return forecast.published if forecast.adjustment is not None else forecast.calibrated or forecast.discharge


def hydrograph(forecast: BasinForecast, beside: Beside, units: Units, time: Sequence[date], call: str) -> Figure:
    """Draw observed and forecast flow over the days of the page."""
    observed, levels, before = beside.observed, beside.levels, beside.before
    figure = Figure(
        name=f"{forecast.basin}-discharge", title="Discharge", unit=UNITS[units], call=f"{call}?units={units}"
    )
    quantiles = flow_of(forecast)
    if quantiles is None:
        return figure.but(reason=forecast.reason or "The run has no discharge.")
    curves, bands = _plume(forecast, quantiles, time)
    if before is not None:
        of_days = on_days(time, before.days, before.median)
        curves.append(Curve(label=f"forecast of {on(before.t0)}", values=of_days, colour="before", style="dashed"))
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


def _plume(forecast: BasinForecast, quantiles: Flow, time: Sequence[date]) -> tuple[list[Curve], list[Band]]:
    curves: list[Curve] = []
    bands: list[Band] = []
    for low, high, colour, label in BANDS:
        curves += [edge(label, on_days(time, forecast.time, quantiles[name]), colour) for name in (low, high)]
        shown = label if forecast.calibrated is not None else f"{label.removesuffix(' range')} of members"
        bands.append(Band(low=len(curves) - 2, high=len(curves) - 1, colour=colour, label=shown))
    for label, values in forecast.members.items():
        on = on_days(time, forecast.time, values)
        curves.append(Curve(label=label, values=on, colour="members", style="thin", listed=False))
    issued = forecast.calibrated or forecast.discharge
    if forecast.adjustment is not None and issued is not None:
        of_days = on_days(time, forecast.time, issued["median"])
        curves.append(Curve(label="as issued", values=of_days, colour="members", style="dashed"))
    label = "median" if forecast.adjustment is None else "as adjusted"
    curves.append(Curve(label=label, values=on_days(time, forecast.time, quantiles["median"]), colour="median"))
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


def _described(forecast: BasinForecast, quantiles: Flow, units: Units) -> str:
    columns = zip(forecast.time, *(quantiles[name] for name in ("median", "p05", "p95")), strict=True)
    known = [(day, flow, low or 0.0, high or 0.0) for day, flow, low, high in columns if flow is not None]
    (first, flow, *_), (last, at_last, low, high) = known[0], known[-1]
    return (
        f"Hydrograph. From {number(flow)} {UNITS[units]} on {on(first)} to {number(at_last)} on {on(last)}, with 90 "
        f"chances in 100 between {number(low)} and {number(high)} on the last day. The values stand in the table below."
    )


def drain_down(shown: DrainDownOfRun | Absent, basin: str, units: Units, call: str) -> Figure:
    """Draw the recession, or the reason why there is none."""
    figure = Figure(name=f"{basin}-drain-down", title="If no more rain or snow fell", unit=UNITS[units], call=call)
    if isinstance(shown, Absent):
        return figure.but(reason=str(shown))
    if shown.discharge is None:
        return figure.but(reason=shown.missing["discharge"])
    low, median, high = (shown.discharge[name] for name in ("p05", "median", "p95"))
    levels = [
        level_line(level_title(level.name), level.discharge, len(shown.time))
        for level in _levels_reached(shown)
        if level.discharge is not None
    ]
    return figure.but(
        described="The discharge of each day, if nothing fell after T0 and all other weather were the mean of other "
        "years. It is not a forecast.",
        note=" ".join(_notes_of_recession(shown)),
        time=list(shown.time),
        curves=[
            edge("", low, "band-90"),
            edge("90 % of members", high, "band-90"),
            Curve(label="median", values=[*median], colour="median"),
            *levels,
        ],
        bands=[Band(low=0, high=1, colour="band-90", label="90 % of members")],
        log=True,
    )


def _levels_reached(shown: DrainDownOfRun) -> list[LowFlow]:
    """Return the levels that flow falls below; only those of the model if it has some."""
    reached = [level for level in shown.low_flows or [] if level.day is not None]
    return [level for level in reached if level.name.startswith(OF_MODEL)] or reached


def _notes_of_recession(shown: DrainDownOfRun) -> Iterator[str]:
    yield f"From T0 {in_full(shown.t0)}{STALE if shown.stale else ''}."
    if shown.in_words is not None:
        yield shown.in_words
    reached = _levels_reached(shown)
    if reached:
        yield from (str(level.in_words) for level in reached[-1:])
    else:
        yield f"Within {counted(shown.horizon_days, 'day')} flow falls below no level that it was not below at T0."
    yield "It is not a forecast; the band is the spread of the members."
