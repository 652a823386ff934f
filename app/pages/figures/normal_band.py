"""Band and mean of other years, behind a figure's curves."""

from collections.abc import Sequence
from datetime import date

from app.basins.normals import Normals
from app.pages.figures import Band, Curve, Figure, edge, on_days
from hydrology.base.absent import Absent

USUAL, NORMAL = "usual range", "normal"


def with_usual(figure: Figure, normals: Normals | Absent, variable: str, time: Sequence[date]) -> Figure:
    """Add the usual range (80 % of other years) to a figure; if it is not known, add a note with the reason."""
    if figure.reason is not None:
        return figure
    usual = None if isinstance(normals, Absent) else normals.variables.get(variable)
    if isinstance(normals, Absent) or usual is None:
        reason = str(normals) if isinstance(normals, Absent) else normals.missing.get(f"variables.{variable}", "")
        return figure.but(note=f"{figure.note} Usual range: {reason}".strip())
    days = normals.time
    curves = [
        edge("", on_days(time, days, usual.p10), "range"),
        edge(USUAL, on_days(time, days, usual.p90), "range"),
        Curve(label=NORMAL, values=on_days(time, days, usual.mean), colour="normal", style="dashed"),
    ]
    shifted = [b.model_copy(update={"low": b.low + len(curves), "high": b.high + len(curves)}) for b in figure.bands]
    bands = [Band(low=0, high=1, colour="range", label=USUAL), *shifted]
    return figure.but(curves=[*curves, *figure.curves], bands=bands)
