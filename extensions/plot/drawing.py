"""A plume drawn: for the terminal, a row a day with flow from left to right; and as a picture, by matplotlib (the extra
`plot`)."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from extensions.plot.content import BANDS, MEDIAN, Plume
from hydrology.base.errors import InvalidInput

ENDINGS = (".png", ".svg")
_COLOUR = "#0072B2"  # distinct from black for the colour-blind (Okabe and Ito 2008)
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


def require_picture(file: Path) -> None:
    """Raise unless a picture can be written to a file of that name."""
    if file.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"--to {file} is not a picture: end its name with {' or '.join(ENDINGS)}.")
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise InvalidInput("Pictures need matplotlib: pip install matplotlib, or leave --to out.") from error


def write_picture(plume: Plume, file: Path) -> None:
    """Write the plume to a PNG or SVG file, by the end of its name."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.8), layout="constrained")
    axes = figure.subplots()
    for shade, (low, high) in zip((0.2, 0.35), BANDS, strict=True):
        label = f"{low:.0%} to {high:.0%}"
        limits = plume.quantiles[low], plume.quantiles[high]
        axes.fill_between(plume.ahead, *limits, color=_COLOUR, alpha=shade, linewidth=0, label=label)
    axes.plot(plume.ahead, plume.quantiles[MEDIAN], color=_COLOUR, marker=".", label=f"median ({plume.of})")
    axes.plot(plume.days, plume.observed, color="black", marker=".", label="observed")
    day: Any = plume.t0  # of an axis of days
    axes.axvline(day, color="black", linewidth=0.8, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"discharge, {plume.unit}")
    axes.set_title(plume.title, fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=9)
    figure.autofmt_xdate()
    if plume.notes:
        figure.supxlabel("\n".join(plume.notes), fontsize=7, wrap=True)
    figure.savefig(file)
