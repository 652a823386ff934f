"""Figure of the discharge by age of its water."""

from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from app.forecasts.water.origin import AgeOfRun, FlowOfAge
from app.pages.figures import Band, Colour, Curve, Figure, edge, on_days
from hydrology.water.water_age import OLDER, YET_TO_FALL

FILLS: Mapping[str, Colour] = {
    OLDER: "older",
    YET_TO_FALL: "band-90",
    "DJF": "djf",
    "MAM": "mam",
    "JJA": "jja",
    "SON": "son",
}


def age(shown: AgeOfRun, ages: Sequence[FlowOfAge], time: Sequence[date], call: str) -> Figure:
    """Draw the discharge by age of its water, the oldest below."""
    means = np.array([part.mean for part in ages])
    curves = [
        edge(_label(part), on_days(time, shown.time, flow), "members")
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
        note=_in_words(ages, means),
        call=call,
        time=list(time),
        curves=curves,
        bands=[
            Band(low=low, high=high, colour=FILLS[part.age[-3:] if part.age not in FILLS else part.age])
            for part, low, high in zip(ages, lows, range(len(ages)), strict=True)
        ],
        t0=shown.t0,
    )


def _label(part: FlowOfAge) -> str:
    """Return the label of the water below a curve."""
    if part.age == YET_TO_FALL:
        return "all discharge"
    return OLDER if part.age == OLDER else f"until {part.age}"


def _in_words(ages: Sequence[FlowOfAge], means: np.ndarray) -> str:
    total = means.sum()
    if not total:
        return "No water is expected to flow."
    shares = [f"{100 * share:.0f} % {_when(part)}" for part, share in zip(ages, means.sum(axis=1) / total, strict=True)]
    return f"Of the discharge of these days, {', '.join(shares[:-1])} and {shares[-1]}."


def _when(part: FlowOfAge) -> str:
    if part.age == YET_TO_FALL:
        return "has yet to fall"
    return "is older" if part.age == OLDER else f"fell in {part.age}"
