"""Snow and all water in the basin."""

from collections.abc import Sequence
from datetime import date

from app.forecasts.schemas import BasinForecast
from app.pages.figures import Curve, Figure, on_days


def snow(forecast: BasinForecast, time: Sequence[date], call: str) -> Figure:
    """Return the water stored as snow."""
    stored = None if forecast.storage is None else forecast.storage.snow
    reason = forecast.missing.get("storage.snow") or forecast.missing.get("storage")
    return Figure(
        name=f"{forecast.basin}-snow",
        title="Snow water equivalent",
        unit="mm",
        described="Water in the cells that read as snow, at the end of each day.",
        note="Read from the cells that follow snow; the model was not trained on snow.",
        call=call,
        csv=f"{call}?format=csv",
        reason=None if stored else reason,
        time=list(time),
        curves=[Curve(label="snow", values=on_days(time, forecast.time, stored), colour="snow")] if stored else [],
        t0=forecast.t0,
    )


def storage(forecast: BasinForecast, time: Sequence[date], call: str) -> Figure:
    """Return all water in the model's store."""
    stored = None if forecast.storage is None else forecast.storage.total
    return Figure(
        name=f"{forecast.basin}-storage",
        title="Water in the basin",
        unit="mm",
        described="All water in the model's cells, at the end of each day.",
        call=call,
        csv=f"{call}?format=csv",
        reason=None if stored else forecast.missing.get("storage"),
        time=list(time),
        curves=[Curve(label="storage", values=on_days(time, forecast.time, stored), colour="storage")]
        if stored
        else [],
        t0=forecast.t0,
    )
