"""Snow and all water in the basin, and where the water of its discharge was at T0."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from app.forecasts.schemas import BasinForecast
from app.forecasts.words import number, on
from app.pages.figures import Band, Colour, Curve, Figure, as_csv, on_days
from app.water.schemas import OriginOfRun

FILLS: tuple[Colour, ...] = ("band-90", "part-stored", "part-snow")
"""Under all discharge, under what was stored, under what was snow."""


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
        csv=as_csv(call),
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
        csv=as_csv(call),
        reason=None if stored else forecast.missing.get("storage"),
        time=list(time),
        curves=[Curve(label="storage", values=on_days(time, forecast.time, stored), colour="storage")]
        if stored
        else [],
        t0=forecast.t0,
    )


def origin(told: OriginOfRun, time: Sequence[date], call: str) -> Figure:
    """Return the discharge by where its water was at T0: all of it, of that what was stored, of that what was snow."""
    figure = Figure(
        name=f"{told.basin}-origin",
        title="Where the water of the discharge was",
        unit="mm/day",
        described="The discharge of each day ahead, the part of it that was in the basin at T0, and the part that was "
        "snow then.",
        call=call,
        csv=as_csv(call),
        time=list(time),
        t0=told.t0,
    )
    if told.discharge is None or told.stored is None:
        return figure.without(told.missing["discharge"])
    flows: list[tuple[str, Sequence[float], Colour]] = [
        ("all discharge", told.discharge, "median"),
        ("stored at T0", told.stored.mean, "storage"),
    ]
    if told.snow is not None:
        flows.append(("as snow", told.snow.mean, "snow"))
    curves = [Curve(label=label, values=on_days(time, told.time, flow), colour=colour) for label, flow, colour in flows]
    nothing = on_days(time, told.time, [0.0] * len(told.time))
    curves.append(Curve(label="nothing", values=nothing, colour="members", listed=False))
    bands = [Band(low=at + 1, high=at, colour=fill) for at, fill in enumerate(FILLS[: len(flows)])]
    return replace(figure, note=_in_words(told, told.discharge, told.stored.mean), curves=curves, bands=bands)


def _in_words(told: OriginOfRun, discharge: Sequence[float], stored: Sequence[float]) -> str:
    total = sum(discharge)
    if not total:
        return "No water is expected to flow."
    sentence = f"{100 * sum(stored) / total:.0f} % of the discharge until {on(told.time[-1])} was in the basin at T0"
    if told.snow is not None:
        sentence += f", {100 * sum(told.snow.mean) / total:.0f} % as snow"
    if told.ceiling is not None:
        sentence += f". At most {number(told.ceiling)} mm of what was stored could still run off"
    return f"{sentence}."
