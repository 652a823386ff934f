"""Figure of the recession without further rain."""

from collections.abc import Iterator

from app.forecasts.water.recession import DrainDownOfRun, LowFlow
from app.forecasts.words import UNITS
from app.pages.figures import Band, Curve, Figure, edge, level_line
from app.pages.words import t0_of
from hydrology.base.absent import Absent
from hydrology.base.errors import counted
from hydrology.base.units import Units
from hydrology.extremes.level_names import level_title
from hydrology.extremes.thresholds import OF_MODEL


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
        for level in _shown_levels(shown)
        if level.discharge is not None
    ]
    return figure.but(
        described="The discharge of each day, if nothing fell after T0 and all other weather were the mean of other "
        "years. It is not a forecast.",
        note=" ".join(_notes(shown)),
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


def _shown_levels(shown: DrainDownOfRun) -> list[LowFlow]:
    """Return the levels that flow falls below; only those of the model if it has some."""
    reached = [level for level in shown.low_flows or [] if level.day is not None]
    return [level for level in reached if level.name.startswith(OF_MODEL)] or reached


def _notes(shown: DrainDownOfRun) -> Iterator[str]:
    yield f"From {t0_of(shown)}."
    if shown.in_words is not None:
        yield shown.in_words
    reached = _shown_levels(shown)
    if reached:
        yield from (str(level.in_words) for level in reached[-1:])
    else:
        yield f"Within {counted(shown.horizon_days, 'day')} flow falls below no level that it was not below at T0."
    yield "It is not a forecast; the band is the spread of the members."
