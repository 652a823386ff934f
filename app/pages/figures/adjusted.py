"""Figure of a forecast as issued and as adjusted."""

from app.adjustments.schemas import AdjustedForecast
from app.forecasts.words import UNITS, number, on
from app.pages.figures import Band, Curve, Figure


def beside_issued(shown: AdjustedForecast) -> Figure:
    """Draw the median and the 5 to 95 % range as issued and as adjusted."""
    published = shown.state == "published"
    call = f"/v1/runs/{shown.run}/basins/{shown.basin}/adjusted" if published else f"/v1/adjustments/{shown.id}"
    issued, adjusted = shown.issued, shown.adjusted
    curves = [
        Curve(label="p05 as issued", values=list(issued["p05"]), colour="range", style="thin", listed=False),
        Curve(label="p95 as issued", values=list(issued["p95"]), colour="range", style="thin", listed=False),
        Curve(label="p05 as adjusted", values=adjusted["p05"], colour="band-90", style="thin", listed=False),
        Curve(label="p95 as adjusted", values=adjusted["p95"], colour="band-90", style="thin", listed=False),
        Curve(label="as issued", values=list(issued["median"]), colour="before"),
        Curve(label="as adjusted", values=adjusted["median"], colour="median"),
    ]
    return Figure(
        name=f"{shown.basin}-adjusted",
        title="Discharge as issued and as adjusted",
        unit=_unit(shown),
        described=_described(shown),
        note="Medians, and the range that nine in ten flows are expected in.",
        call=call,
        downloads=published,
        time=list(shown.time),
        curves=curves,
        bands=[Band(low=0, high=1, colour="range"), Band(low=2, high=3, colour="band-90")],
    )


def _unit(shown: AdjustedForecast) -> str:
    return next(title for unit, title in UNITS.items() if unit == shown.units["issued"])


def _described(shown: AdjustedForecast) -> str:
    issued = shown.issued["median"]
    known = {at: flow for at, flow in enumerate(shown.adjusted["median"]) if flow is not None}
    before, after = max(range(len(issued)), key=issued.__getitem__), max(known, key=known.__getitem__)
    return (
        f"Discharge day by day as issued and as adjusted. As issued it is highest on {on(shown.time[before])}, "
        f"{number(issued[before])} {_unit(shown)}; as adjusted on {on(shown.time[after])}, {number(known[after])} "
        f"{_unit(shown)}. The values stand in the table below."
    )
