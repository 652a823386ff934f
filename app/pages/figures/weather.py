"""Figures of precipitation and temperature."""

from collections.abc import Sequence
from datetime import date

from app.basins.observations import Observations
from app.forecasts.forecast import BasinForecast
from app.pages.figures import Colour, Curve, Figure, on_days
from hydrology.base.absent import Absent

PRECIPITATION = "precipitation"
TEMPERATURES: tuple[tuple[str, str, Colour], ...] = (("tmin", "lowest", "cold"), ("tmax", "highest", "warm"))
"""Variable, label, colour."""


def precipitation(forecast: BasinForecast, observed: Observations | Absent, time: Sequence[date], call: str) -> Figure:
    """Draw observed and forecast precipitation."""
    curves = []
    if not isinstance(observed, Absent) and PRECIPITATION in observed.values:
        values = [
            value if day <= forecast.t0 else None
            for day, value in zip(observed.time, observed.values[PRECIPITATION], strict=True)
        ]
        past = on_days(time, observed.time, values)
        curves.append(Curve(label="until T0", values=past, colour="rain", style="bars"))
    if forecast.precipitation is not None:
        ahead = on_days(time, forecast.time, forecast.precipitation)
        label = "after T0" if forecast.traces is None else "after T0, mean of the traces"
        curves.append(Curve(label=label, values=ahead, colour="median", style="bars"))
    return Figure(
        name=f"{forecast.basin}-precipitation",
        title="Precipitation",
        unit="mm/day",
        described="Rain and snow of each day. The values stand behind the call below.",
        note=forecast.forcing_note,
        call=call,
        reason=None if curves else str(observed),
        time=list(time),
        curves=curves,
        t0=forecast.t0,
    )


def temperature(forecast: BasinForecast, observed: Observations | Absent, time: Sequence[date], call: str) -> Figure:
    """Draw the daily minimum and maximum temperature."""
    curves = []
    if not isinstance(observed, Absent):
        curves = [
            Curve(label=label, values=on_days(time, observed.time, observed.values[name]), colour=colour)
            for name, label, colour in TEMPERATURES
            if name in observed.values
        ]
    reason = str(observed) if isinstance(observed, Absent) else f"{forecast.product} has no temperature."
    return Figure(
        name=f"{forecast.basin}-temperature",
        title="Temperature",
        unit="°C",
        described="The lowest and the highest temperature of each day. The values stand behind the call below.",
        call=call,
        reason=None if curves else reason,
        time=list(time),
        curves=curves,
        t0=forecast.t0,
    )
