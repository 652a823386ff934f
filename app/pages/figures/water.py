"""Figures of weather, snow, storage, and the origin and age of the discharge."""

from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from app.forecasts.forecast import BasinForecast
from app.forecasts.stored_water import SnowRead
from app.forecasts.water.origin import AgeOfRun, FlowOfAge, OriginOfRun
from app.forecasts.water.storage import PastWater
from app.forecasts.words import number, on
from app.pages.figures import Band, Colour, Curve, Figure, Values, edge, on_days
from hydrology.base.errors import counted
from hydrology.snow import snow17
from hydrology.water.storage import OLDER, YET_TO_FALL

NOT_TRAINED = "Read from the cells that follow snow; the model was not trained on snow."
SPREAD = "90 % of members"
FILLS: tuple[Colour, ...] = ("band-90", "part-stored", "part-snow")
"""Colours below all discharge, stored water and snow."""
AGE_FILLS: Mapping[str, Colour] = {
    OLDER: "older",
    YET_TO_FALL: "band-90",
    "DJF": "djf",
    "MAM": "mam",
    "JJA": "jja",
    "SON": "son",
}
PRECIPITATION = "precipitation"
FALLS: tuple[tuple[str, Colour], ...] = (("rain", "rain"), ("snow", "snow"), ("rain or snow", "median"))
"""Kinds of precipitation and their colours; the last where the temperature is not known."""
TEMPERATURES: tuple[tuple[str, str, Colour], ...] = (("tmin", "lowest", "cold"), ("tmax", "highest", "warm"))
"""Variable, label, colour."""
SNOW_AT_MOST = snow17.Parameters().pxtemp
"""Highest mean temperature of a day at which its precipitation is snow, °C."""


def snow(forecast: BasinForecast, past: PastWater | None, time: Sequence[date], call: str) -> Figure:
    """Draw the water stored as snow until T0 and after it, with the spread of the members."""
    storage = forecast.storage
    figure = Figure(
        name=f"{forecast.basin}-snow",
        title="Snow water equivalent",
        unit="mm",
        described="Water in the cells that read as snow, at the end of each day.",
        call=call,
        time=list(time),
        t0=forecast.t0,
    )
    if storage is None or storage.snow is None:
        return figure.but(reason=forecast.missing.get("storage.snow") or forecast.missing["storage"])
    ahead = Curve(label="snow", values=on_days(time, forecast.time, storage.snow), colour="snow")
    curves = [ahead, *_until_t0(past, None if past is None else past.snow, time)]
    read = storage.snow_read
    if read is None:
        return figure.but(note=NOT_TRAINED, curves=curves)
    curves += [edge(SPREAD, on_days(time, forecast.time, values), "snow") for values in (read.p05, read.p95)]
    bands = [Band(low=len(curves) - 2, high=len(curves) - 1, colour="part-snow", label=SPREAD)]
    return figure.but(note=_of_reading(read, forecast), curves=curves, bands=bands)


def _of_reading(read: SnowRead, forecast: BasinForecast) -> str:
    """Describe the snow cells, their skill, and the snow at T0."""
    sentences = [NOT_TRAINED, *([read.mapping_note] if read.mapping == "regional" else [])]
    if read.skill is None:
        sentences.append(f"Their skill is not known: {forecast.missing['storage.snow_read.skill']}")
    else:
        where = "" if read.skill.basins is None else f" in the median of {counted(read.skill.basins, 'other basin')}"
        known = f"r {read.skill.r:.2f}, bias {read.skill.bias_pct:+.0f} %"
        if read.skill.bare_mm is not None:
            known += f", and {number(read.skill.bare_mm)} mm on days without snow"
        sentences.append(f"Against reference snow such cells have {known}{where}.")
    at_t0 = read.at_t0
    shown = f"At T0 {number(at_t0.mean)} mm"
    if at_t0.percent_of_normal is not None or at_t0.uncertain:
        shown += f", {at_t0.in_words}"
    if at_t0.reference is not None:
        shown += f"; the reference {at_t0.reference.product} has {number(at_t0.reference.mm)} mm"
    if at_t0.snow17 is not None:
        shown += f"; Snow-17, by the basin's own weather, has {number(at_t0.snow17)} mm"
    return " ".join([*sentences, f"{shown}."])


def storage(forecast: BasinForecast, past: PastWater | None, time: Sequence[date], call: str) -> Figure:
    """Draw all water in the model's store until T0 and after it."""
    figure = Figure(
        name=f"{forecast.basin}-storage",
        title="Water in the basin",
        unit="mm",
        described="All water in the model's cells, at the end of each day.",
        call=call,
        time=list(time),
        t0=forecast.t0,
    )
    if forecast.storage is None:
        return figure.but(reason=forecast.missing.get("storage"))
    stored = on_days(time, forecast.time, forecast.storage.total)
    ahead = Curve(label="storage", values=stored, colour="storage")
    return figure.but(curves=[ahead, *_until_t0(past, None if past is None else past.total, time)])


def _until_t0(past: PastWater | None, values: Sequence[float | None] | None, time: Sequence[date]) -> list[Curve]:
    """Return the curve of the water on the days up to T0; none where none is known."""
    if past is None or values is None or all(value is None for value in values):
        return []
    return [Curve(label="until T0", values=on_days(time, past.time, values), colour="observed")]


def origin(shown: OriginOfRun, time: Sequence[date], call: str) -> Figure:
    """Draw the discharge by origin: all of it, the stored part, and its snow."""
    figure = Figure(
        name=f"{shown.basin}-origin",
        title="Where the forecast flow comes from",
        unit="mm/day",
        described="The discharge of each day ahead, the part of it that was in the basin at T0, and the part that was "
        "snow then.",
        call=call,
        time=list(time),
        t0=shown.t0,
    )
    if shown.discharge is None or shown.stored is None:
        return figure.but(reason=shown.missing["discharge"])
    flows: list[tuple[str, Sequence[float], Colour]] = [
        ("all discharge", shown.discharge, "median"),
        ("in the basin at T0", shown.stored.mean, "storage"),
    ]
    if shown.snow is not None:
        flows.append(("snow at T0", shown.snow.mean, "snow"))
    curves = [
        Curve(label=label, values=on_days(time, shown.time, flow), colour=colour) for label, flow, colour in flows
    ]
    nothing = on_days(time, shown.time, [0.0] * len(shown.time))
    curves.append(Curve(label="nothing", values=nothing, colour="members", listed=False))
    bands = [Band(low=at + 1, high=at, colour=fill) for at, fill in enumerate(FILLS[: len(flows)])]
    return figure.but(note=_origin_in_words(shown, shown.discharge, shown.stored.mean), curves=curves, bands=bands)


def _origin_in_words(shown: OriginOfRun, discharge: Sequence[float], stored: Sequence[float]) -> str:
    total = sum(discharge)
    if not total:
        return "No water is expected to flow."
    sentence = f"{100 * sum(stored) / total:.0f} % of the discharge until {on(shown.time[-1])} was in the basin at T0"
    if shown.snow is not None:
        sentence += f", {100 * sum(shown.snow.mean) / total:.0f} % as snow"
    if shown.ceiling is not None:
        sentence += f". At most {number(shown.ceiling)} mm of what was stored could still run off"
    return f"{sentence}."


def age(shown: AgeOfRun, ages: Sequence[FlowOfAge], time: Sequence[date], call: str) -> Figure:
    """Draw the discharge by age of its water, the oldest below."""
    means = np.array([part.mean for part in ages])
    curves = [
        edge(_words_of_age(part.age)[0], on_days(time, shown.time, flow), "members")
        for part, flow in zip(ages, means.cumsum(axis=0).tolist(), strict=True)
    ]
    nothing = on_days(time, shown.time, [0.0] * len(shown.time))
    curves.append(Curve(label="nothing", values=nothing, colour="members", listed=False))
    lows = [len(ages), *range(len(ages) - 1)]
    return Figure(
        name=f"{shown.basin}-age",
        title="When the water of the forecast flow fell",
        unit="mm/day",
        described="The discharge of each day ahead, its water by the season in which it fell, the oldest below.",
        note=_age_in_words(ages, means),
        call=call,
        time=list(time),
        curves=curves,
        bands=[
            Band(low=low, high=high, colour=AGE_FILLS[part.age[-3:] if part.age not in AGE_FILLS else part.age])
            for part, low, high in zip(ages, lows, range(len(ages)), strict=True)
        ],
        t0=shown.t0,
    )


def _words_of_age(age: str) -> tuple[str, str]:
    """Return the label of water of an age and older, and the clause of its share."""
    words = {YET_TO_FALL: ("all discharge", "has yet to fall"), OLDER: (OLDER, "is older")}
    return words.get(age, (f"until {age}", f"fell in {age}"))


def _age_in_words(ages: Sequence[FlowOfAge], means: np.ndarray) -> str:
    total = means.sum()
    if not total:
        return "No water is expected to flow."
    shares = [
        f"{100 * share:.0f} % {_words_of_age(part.age)[1]}"
        for part, share in zip(ages, means.sum(axis=1) / total, strict=True)
    ]
    return f"Of the discharge of these days, {', '.join(shares[:-1])} and {shares[-1]}."


def weather(forecast: BasinForecast, known: Mapping[str, Values], time: Sequence[date], call: str) -> Figure:
    """Draw rain, snow and temperature over the days of the figure."""
    nothing = [None] * len(time)
    low, high, falls = (known.get(name, nothing) for name in ("tmin", "tmax", PRECIPITATION))
    kinds = [_kind_of_fall(*of_day) for of_day in zip(low, high, strict=True)]
    curves = [
        Curve(
            label=label,
            values=[mm if kind == label else None for mm, kind in zip(falls, kinds, strict=True)],
            colour=colour,
            style="bars",
        )
        for label, colour in FALLS
    ]
    curves += [
        Curve(label=label, values=[*known.get(name, nothing)], colour=colour, right=True)
        for name, label, colour in TEMPERATURES
    ]
    curves = [curve for curve in curves if any(value is not None for value in curve.values)]
    return Figure(
        name=f"{forecast.basin}-weather",
        title="Rain, snow and temperature",
        unit="mm/day",
        right_unit="°C",
        described="Rain or snow of each day, and its lowest and highest temperature. The values stand behind the call.",
        note=f"{forecast.forcing_note} Drawn as snow on days that are cold enough for it in Snow-17.",
        call=call,
        reason=None if curves else f"No weather of these days is stored for {forecast.product}.",
        time=list(time),
        curves=curves,
        t0=forecast.t0,
    )


def _kind_of_fall(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "rain or snow"
    return "snow" if (low + high) / 2 <= SNOW_AT_MOST else "rain"
