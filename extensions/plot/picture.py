"""A briefing drawn by matplotlib (the extra `plot`), in the light colours of the pages."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, TypeVar

import numpy as np

from app.pages import render
from app.pages.figures import Curve, Figure
from extensions.plot.briefing import Briefing
from hydrology.base.errors import InvalidInput

Item = TypeVar("Item")
Ending = Literal["png", "svg"]
ENDINGS: tuple[Ending, ...] = ("png", "svg")
LINES: dict[str, tuple[float, str]] = {"line": (1.8, "-"), "thin": (0.8, "-"), "dashed": (1.4, "--")}
"""Width and dashes by the style of a curve."""
NEAR = 0.035
"""Least distance of words above one another, as a share of the height."""


def require_picture(file: Path) -> None:
    """Raise unless a picture can be written to a file of that name."""
    if file.suffix.lower().removeprefix(".") not in ENDINGS:
        raise InvalidInput(f"--to {file} is not a picture: end its name with .{' or .'.join(ENDINGS)}.")
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise InvalidInput("Pictures need matplotlib: pip install matplotlib, or leave --to out.") from error


def picture(briefing: Briefing, ending: Ending) -> bytes:
    """Return the picture of a briefing as PNG or SVG, the same bytes each time."""
    from matplotlib import rc_context
    from matplotlib.dates import DateFormatter
    from matplotlib.figure import Figure as Picture

    drawn = Picture(figsize=(10, 6.2), layout="constrained", facecolor="white", dpi=144)
    axes, figure = drawn.subplots(), briefing.figure
    days = np.array(figure.time, dtype="datetime64[D]")
    _draw_curves(axes, figure, days)
    _draw_marks(axes, figure, days)
    axes.set_xlim(days[0], days[-1])
    axes.set_ylabel(f"Discharge, {figure.unit}")
    axes.set_title(f"{briefing.title}\n", fontsize=14, fontweight="bold", loc="left")
    axes.text(0, 1.015, briefing.issue, transform=axes.transAxes, fontsize=10)
    axes.xaxis.set_major_formatter(DateFormatter("%-d %b"))  # type: ignore[no-untyped-call]
    axes.grid(color=_colours()["line"], linewidth=0.6)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), ncols=4, frameon=False, fontsize=9)
    drawn.supxlabel("\n".join(fill(sentence, 150) for sentence in briefing.sources), fontsize=8, x=0.01, ha="left")
    written = BytesIO()
    with rc_context({"svg.hashsalt": briefing.title}):
        title = {"Title": f"{briefing.title}. {briefing.issue}", "Date": None}
        drawn.savefig(written, format=ending, metadata=title)
    return written.getvalue()


@cache
def _colours() -> dict[str, str]:
    """Return the light colours of the style sheet, which stand in it before the dark ones."""
    found = re.findall(r"--([\w-]+): (#[0-9a-fA-F]{6})", (render.FOLDER / "pages.css").read_text(encoding="utf-8"))
    return dict(reversed(found))


def _values(curve: Curve) -> Any:
    return np.array(curve.values, dtype=np.float64)


def _draw_curves(axes: Any, figure: Figure, days: Any) -> None:
    colours, edges = _colours(), {at for band in figure.bands for at in (band.low, band.high)}
    for band in figure.bands:
        low, high = (_values(figure.curves[at]) for at in (band.low, band.high))
        axes.fill_between(days, low, high, color=colours[band.colour], linewidth=0, label=band.label or None)
    for at, curve in enumerate(figure.curves):
        if at not in edges:
            width, dashes = LINES.get(curve.style, LINES["line"])
            label = curve.label if curve.listed else None
            axes.plot(days, _values(curve), dashes, color=colours[curve.colour], linewidth=width, label=label)


def _draw_marks(axes: Any, figure: Figure, days: Any) -> None:
    """Draw the levels, T0, now, the peak with its range, and stages on the right."""
    colours, peak, half = _colours(), figure.peak, np.timedelta64(12, "h")
    highest = max(axes.get_ylim()[1], *(level.value for level in figure.levels), 0 if peak is None else peak.p95)
    top = 1.08 * highest
    axes.set_ylim(0, top)
    official = [level for level in figure.levels if level.ground]
    for at, level in enumerate(official):
        upper = official[at + 1].value if at + 1 < len(official) else top
        axes.axhspan(level.value, upper, color=colours[str(level.ground)], alpha=0.3, linewidth=0, zorder=0)
    for level in figure.levels:
        axes.axhline(level.value, color=colours["level"], linewidth=0.8, linestyle="-" if level.ground else ":")
    for levels in _apart(figure.levels, lambda level: level.value, NEAR * top):
        names, place = ", ".join(level.label for level in levels), (days[0], levels[0].value)
        axes.annotate(names, place, (4, 2), textcoords="offset points", color=colours["level"], fontsize=8)
    upright = [] if figure.t0 is None else [("T0", np.datetime64(figure.t0, "h") + half, "--")]
    if figure.now is not None:
        upright.append(("now", np.datetime64(figure.now.replace(tzinfo=None), "h") - half, "-"))
    for name, instant, dashes in upright:
        if days[0] <= instant <= days[-1]:
            axes.axvline(instant, color=colours["ink"], linewidth=0.9, linestyle=dashes)
            axes.annotate(name, (instant, top), (3, -11), textcoords="offset points", fontsize=9)
    if peak is not None:
        day, first, last = (np.datetime64(one) for one in (peak.day, peak.day_p05, peak.day_p95))
        axes.plot([day, day], [peak.p05, peak.p95], "_-", color=colours["ink"], linewidth=1)
        axes.plot([first, last], [peak.discharge, peak.discharge], "|-", color=colours["ink"], linewidth=1)
        axes.plot([day], [peak.discharge], "o", color=colours["ink"], label="peak, median and 90 % range")
        axes.annotate(figure.peak_label, (day, peak.discharge), (7, 6), textcoords="offset points", fontsize=9)
    if figure.stages is not None:
        right = axes.twinx()
        right.set_ylim(0, top)
        ticks = [*zip(figure.stages.values, figure.stages.labels, strict=True)]
        ticks = [near[0] for near in _apart(ticks, itemgetter(0), NEAR * top)]
        right.set_yticks([value for value, _ in ticks], [label for _, label in ticks])
        right.set_ylabel(figure.stages.unit)


def _apart(rising: Sequence[Item], height: Callable[[Item], float], distance: float) -> list[list[Item]]:
    """Return items in groups: those of a group are closer to its first than a distance."""
    groups: list[list[Item]] = []
    for item in rising:
        if groups and height(item) - height(groups[-1][0]) < distance:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups
