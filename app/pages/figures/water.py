"""Figures of weather, snow, storage, and the origin and age of the discharge."""

from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from app.basins.observations import Observations
from app.forecasts.forecast import BasinForecast
from app.forecasts.stored_water import SnowRead
from app.forecasts.water.origin import AgeOfRun, FlowOfAge, OriginOfRun
from app.forecasts.water.storage import PastWater
from app.forecasts.words import number, on
from app.pages.figures import Band, Colour, Curve, Figure, edge, on_days
from hydrology.base.absent import Absent
from hydrology.base.errors import counted
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
TEMPERATURES: tuple[tuple[str, str, Colour], ...] = (("tmin", "lowest", "cold"), ("tmax", "highest", "warm"))
"""Variable, label, colour."""


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
        edge(_label_of_age(part), on_days(time, shown.time, flow), "members")
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


def _label_of_age(part: FlowOfAge) -> str:
    if part.age == YET_TO_FALL:
        return "all discharge"
    return OLDER if part.age == OLDER else f"until {part.age}"


def _age_in_words(ages: Sequence[FlowOfAge], means: np.ndarray) -> str:
    total = means.sum()
    if not total:
        return "No water is expected to flow."
    shares = [f"{100 * share:.0f} % {_when(part)}" for part, share in zip(ages, means.sum(axis=1) / total, strict=True)]
    return f"Of the discharge of these days, {', '.join(shares[:-1])} and {shares[-1]}."


def _when(part: FlowOfAge) -> str:
    if part.age == YET_TO_FALL:
        return "has yet to fall"
    return "is older" if part.age == OLDER else f"fell in {part.age}"


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
