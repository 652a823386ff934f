"""A plume drawn for the terminal, a row a day with flow from left to right."""

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from extensions.plot.content import BANDS, MEDIAN, Plume

SHADES = ("░", "▓")
"""Of the bands, the widest first."""
MIDDLE, OBSERVED = "┃", "●"
WIDTH = 40  # columns of the drawing: with the numbers before it the rows fit a terminal of 80


def drawn(plume: Plume) -> RenderableType:
    """Return the plume as text."""
    highest = float(np.nanmax([*plume.observed, *plume.quantiles[BANDS[0][1]]]))
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("day", "observed", "median", f"{BANDS[0][0]:.0%} to {BANDS[0][1]:.0%}"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column(f"0 to {highest:.3g} {plume.unit}", no_wrap=True)
    for day, observed in zip(plume.days, plume.observed, strict=True):
        grid.add_row(*_row(plume, day, observed, highest))
    shades = ", ".join(f"{shade} {low:.0%} to {high:.0%}" for shade, (low, high) in zip(SHADES, BANDS, strict=True))
    legend = f"{OBSERVED} observed, {MIDDLE} median, {shades} of the chances"
    return Group(Text(plume.title), grid, Text(legend), *map(Text, plume.notes))


def _row(plume: Plume, day: np.datetime64, observed: float, highest: float) -> tuple[str, str, str, str, str]:
    line = [" "] * WIDTH
    shown = ("", "")
    (lead,) = np.nonzero(plume.ahead == day)
    if lead.size:
        quantiles = {level: float(values[lead[0]]) for level, values in plume.quantiles.items()}
        for shade, (low, high) in zip(SHADES, BANDS, strict=True):
            first, last = _column(quantiles[low], highest), _column(quantiles[high], highest)
            line[first : last + 1] = shade * (last + 1 - first)
        line[_column(quantiles[MEDIAN], highest)] = MIDDLE
        low, high = BANDS[0]
        shown = f"{quantiles[MEDIAN]:.3g}", f"{quantiles[low]:.3g} to {quantiles[high]:.3g}"
    if not np.isnan(observed):
        line[_column(observed, highest)] = OBSERVED
    return str(day), "" if np.isnan(observed) else f"{observed:.3g}", *shown, "".join(line).rstrip()


def _column(flow: float, highest: float) -> int:
    return round(flow / highest * (WIDTH - 1)) if highest > 0 else 0
