"""The hydrograph, and the recession without further rain."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import itemgetter

import numpy as np

from app.basins.observations import DISCHARGE, Observations
from app.forecasts.forecast import BasinForecast
from app.forecasts.water.recession import DrainDownOfRun, LowFlow
from app.forecasts.words import UNITS, number, on
from app.outlooks.schemas import BasinOutlook, OutlookPeak
from app.pages.figures import Band, Colour, Curve, Figure, Level, Style, Ticks, Values, edge, on_days
from app.pages.render import STALE, in_full
from hydrology.base.absent import Absent
from hydrology.base.errors import counted
from hydrology.base.units import M_PER_FT, Area, Units, converted
from hydrology.extremes.level_checks import level_title, percent
from hydrology.extremes.levels import OF_MODEL
from hydrology.ratings import Rating
from jobspec.levels import CategoryName

REACH = 1.5
"""Highest level drawn, relative to the highest flow."""
BANDS: tuple[tuple[str, str, Colour, str], ...] = (
    ("p05", "p95", "band-90", "90 % range"),
    ("p25", "p75", "band-50", "50 % range"),
)
STAGE_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MAX_STAGES = 12
"""Maximum number of steps between stages; those too close to be read are left out in drawing."""
NO_ESTIMATE = "No uncertainty estimate yet"
GROUNDS: Mapping[CategoryName | None, Colour] = {
    "action": "warning-1",
    "minor": "warning-2",
    "moderate": "warning-3",
    "major": "before",
}
"""Colours of official flood categories."""
RANGE_KINDS = {"provisional": "provisional range", "backfilled": "range from past forecasts"}
"""Label of a calibrated range by the kind of its error model; others need none."""
Flow = Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class Beside:
    """What is drawn beside the forecast."""

    observed: Observations | Absent
    outlook: BasinOutlook
    before: BasinForecast | None = None
    rating: Rating | None = None
    categories: Mapping[str, CategoryName | None] = field(default_factory=dict)
    rivals: Sequence[Curve] = ()

    @property
    def levels(self) -> list[Level]:
        """The rising levels from the lowest on: floods of the record, official categories, and those of operators."""
        is_calibrated = self.outlook.flow == "calibrated"
        levels = [level for level in self.outlook.threat.levels or () if level.direction == "rising"]
        return [
            Level(
                label=level.title + (f", {percent(level.chance)}" if is_calibrated else ""),
                value=level.discharge,
                ground=GROUNDS.get(self.categories.get(level.level)),
            )
            for level in sorted(levels, key=lambda level: level.discharge)
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
    observed, levels, before, peak = beside.observed, beside.levels, beside.before, beside.peak
    figure = Figure(
        name=f"{forecast.basin}-discharge", title="Discharge", unit=UNITS[units], call=f"{call}?units={units}"
    )
    quantiles = flow_of(forecast)
    if quantiles is None:
        return figure.but(reason=forecast.reason or "The run has no discharge.")
    curves, bands = _plume(forecast, quantiles, time)
    if before is not None and (earlier := flow_of(before)) is not None:
        of_days = on_days(time, before.time, earlier["median"])
        curves.append(Curve(label=f"forecast of {on(before.t0)}", values=of_days, colour="before", style="dashed"))
    curves += beside.rivals
    days, seen = ((), ()) if isinstance(observed, Absent) else (observed.time, observed.values[DISCHARGE])
    curves += [Curve(label="observed", values=on_days(time, days, seen), colour="observed")]
    highest = max(value for curve in curves for value in curve.values if value is not None)
    highest = max(highest, 0 if peak is None else peak.p95)
    near = [level for level in levels if level.value <= REACH * highest]
    top = max(highest, *(level.value for level in near)) if near else highest
    return figure.but(
        described=_described(forecast, quantiles, units),
        note=" ".join(_notes(forecast, observed, [level for level in levels if level not in near], units)),
        time=list(time),
        curves=curves,
        bands=bands,
        t0=forecast.t0,
        levels=near,
        stages=None if beside.rating is None else _stages(beside.rating, top, forecast, units),
        peak=peak,
        peak_label="" if peak is None else f"{number(peak.discharge)} {UNITS[units]} on {on(peak.day)}",
        log=True,
    )


def _stages(rating: Rating, highest: float, forecast: BasinForecast, units: Units) -> Ticks | None:
    """Return round stages up to a flow, ft beside ft³/s and else m; None where the rating does not reach so low."""
    area = None if forecast.area is None else Area(forecast.area.name, forecast.area.km2 * 1e6)
    if area is None and units == "mm/day":
        return None
    unit, metres = ("ft", M_PER_FT) if units == "cfs" else ("m", 1.0)
    low, discharges = rating.stages[0], rating.discharges
    flow = min(float(converted(highest, unit=units, into="m3/s", area=area)), discharges[-1])
    if flow <= discharges[0]:
        return None
    high = float(rating.stage(flow))
    step = next(step for step in STAGE_STEPS if (high - low) / metres <= MAX_STAGES * step)
    stages = step * np.arange(np.ceil(low / metres / step), np.floor(high / metres / step) + 1)
    flows = converted(rating.discharge(stages * metres), unit="m3/s", into=units, area=area)
    return Ticks(unit=f"Stage, {unit}", values=flows.tolist(), labels=[f"{stage:g}" for stage in stages.round(1)])


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
    label = "median" if forecast.adjustment is None else "as updated" if forecast.update else "as adjusted"
    curves.append(Curve(label=label, values=on_days(time, forecast.time, quantiles["median"]), colour="median"))
    return curves, bands


def _notes(
    forecast: BasinForecast, observed: Observations | Absent, far: Sequence[Level], units: Units
) -> Iterator[str]:
    kind = getattr(forecast.calibration, "kind", "")
    if forecast.calibrated is None:
        yield f"{NO_ESTIMATE}: the range is the spread of the members, which is too narrow."
    elif kind in RANGE_KINDS:
        yield f"{RANGE_KINDS[kind].capitalize()}: fewer issued forecasts than usual are behind it."
    if isinstance(observed, Absent):
        yield f"Observed: {observed}"
    if far:
        yield f"Above the picture: {far[0].label}, {number(far[0].value)} {UNITS[units]}, and higher levels."


def _described(forecast: BasinForecast, quantiles: Flow, units: Units) -> str:
    columns = zip(forecast.time, *(quantiles[name] for name in ("median", "p05", "p95")), strict=True)
    known = [(day, flow, low or 0.0, high or 0.0) for day, flow, low, high in columns if flow is not None]
    (first, flow, *_), (last, at_last, low, high) = known[0], known[-1]
    return (
        f"Hydrograph. From {number(flow)} {UNITS[units]} on {on(first)} to {number(at_last)} on {on(last)}, with 90 "
        f"chances in 100 between {number(low)} and {number(high)} on the last day. The values stand in the table below."
    )


def two_forecasts(
    figure: Figure, first: tuple[str, Flow], second: tuple[str, Flow], middle: str, look: tuple[Colour, Style]
) -> Figure:
    """Draw two forecasts of the figure's days, by their labels: the middle and the 5 to 95 % range of each.

    `look` is that of the first one's middle.
    """
    sides: Sequence[tuple[str, Flow, Colour, Colour, Style]] = (
        (*first, "range", *look),
        (*second, "band-90", "median", "line"),
    )
    edges = [
        Curve(label=f"{edge} {label}", values=[*quantiles[edge]], colour=ground, style="thin", listed=False)
        for label, quantiles, ground, *_ in sides
        for edge in ("p05", "p95")
    ]
    middles = [
        Curve(label=label, values=[*quantiles[middle]], colour=colour, style=style)
        for label, quantiles, _, colour, style in sides
    ]
    known = [{at: flow for at, flow in enumerate(curve.values) if flow is not None} for curve in middles]
    (before, low), (after, high) = (max(flows.items(), key=itemgetter(1)) for flows in known)
    return figure.but(
        described=f"Discharge day by day {first[0]} and {second[0]}. It is highest {first[0]} on "
        f"{on(figure.time[before])}, {number(low)} {figure.unit}; {second[0]} on {on(figure.time[after])}, "
        f"{number(high)} {figure.unit}. The values stand in the table below.",
        curves=[*edges, *middles],
        bands=[Band(low=0, high=1, colour="range"), Band(low=2, high=3, colour="band-90")],
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
        Level(label=level_title(level.name), value=level.discharge)
        for level in _levels_reached(shown)[-1:]  # more would cover each other near zero
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
        ],
        levels=levels,
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
        yield from (str(level.in_words).replace(level.name, level_title(level.name), 1) for level in reached[-1:])
    else:
        yield f"Within {counted(shown.horizon_days, 'day')} flow falls below no level that it was not below at T0."
    yield "It is not a forecast; the band is the spread of the members."
