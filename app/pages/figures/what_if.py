"""Figure of the discharge with and without the changes of a what-if run."""

from datetime import date

from app.forecasts.what_if import Side, WhatIfOfRun
from app.forecasts.words import UNITS, number, on
from app.pages.figures import Band, Colour, Curve, Figure
from hydrology.base.units import Units

Look = tuple[str, Colour, Colour]
"""Label, colour and ground of a run."""
BASE: Look = ("without the changes", "observed", "range")
CHANGED: Look = ("with them", "median", "band-90")


def compared(shown: WhatIfOfRun, units: Units, call: str) -> Figure:
    """Draw both runs over the days ahead: mean and 5 to 95 % range."""
    figure = Figure(name=f"{shown.basin}-what-if", title="Discharge", unit=UNITS[units], call=call)
    if shown.base is None or shown.changed is None:
        return figure.but(reason=shown.missing["difference"])
    curves: list[Curve] = []
    bands: list[Band] = []
    for side, (label, _, ground) in ((shown.base, BASE), (shown.changed, CHANGED)):
        for statistic in ("p05", "p95"):
            values = getattr(side.discharge, statistic)
            curves.append(Curve(label=f"{statistic} {label}", values=values, colour=ground, style="thin", listed=False))
        bands.append(Band(low=len(curves) - 2, high=len(curves) - 1, colour=ground))
    curves += [_mean(shown.base, BASE), _mean(shown.changed, CHANGED)]
    return figure.but(
        described=_described(shown.time, shown.base, shown.changed, units),
        note="The mean of the members (and traces), and where nine in ten of them are. They are not calibrated.",
        time=list(shown.time),
        curves=curves,
        bands=bands,
    )


def _mean(side: Side, look: Look) -> Curve:
    label, colour, _ = look
    return Curve(label=label, values=list(side.discharge.mean), colour=colour)


def _described(days: list[date], base: Side, changed: Side, units: Units) -> str:
    base_mean, changed_mean = base.discharge.mean, changed.discharge.mean
    highest = max(range(len(days)), key=changed_mean.__getitem__)
    return (
        f"Discharge day by day with the changes and without. With them it is highest on {on(days[highest])}, "
        f"{number(changed_mean[highest])} {UNITS[units]} instead of {number(base_mean[highest])}. The values stand in "
        "the table below."
    )
