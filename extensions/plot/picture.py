"""A plume as a picture, by matplotlib (the extra `plot`)."""

from pathlib import Path
from typing import Any

from extensions.plot.content import BANDS, MEDIAN, Plume
from hydrology.base.errors import InvalidInput

ENDINGS = (".png", ".svg")
_COLOUR = "#0072B2"  # distinct from black for the colour-blind (Okabe and Ito 2008)


def require_picture(file: Path) -> None:
    """Raise unless a picture can be written to a file of that name.

    Raises:
        InvalidInput: its name ends otherwise, or matplotlib is not installed.
    """
    if file.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"--to {file} is not a picture: end its name with {' or '.join(ENDINGS)}.")
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise InvalidInput("Pictures need matplotlib: pip install 'freshet[plot]', or leave --to out.") from error


def write(plume: Plume, file: Path) -> None:
    """Write the plume to a PNG or SVG file, by the end of its name.

    Raises:
        OSError: it cannot be written.
    """
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
