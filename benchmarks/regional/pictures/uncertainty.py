"""Draws the skill of the shipped ensemble's probabilities (`results/uncertainty.json`)."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from benchmarks.regional.members import RESULTS
from benchmarks.regional.uncertainty import UNCORRECTED
from hydrology.verification.forecasts import CALIBRATED, RAW
from hydrology.verification.results import TENTHS
from hydrology.verification.verify import CLIMATOLOGY

ByLead = Mapping[str, Mapping[str, Any]]
"""The figures of each forecaster by lead, as `uncertainty.measure` returns them."""


class _Style(NamedTuple):
    """How a forecaster looks in every picture."""

    name: str
    colour: str
    marker: str
    line: str


_STYLES = {  # colours that the colour-blind distinguish (Okabe and Ito 2008), and markers that need none
    CALIBRATED: _Style("error model", "#0072B2", "o", "-"),
    UNCORRECTED: _Style("without the last flow", "#E69F00", "s", "--"),
    RAW: _Style("members as they are", "#D55E00", "^", "-."),
    CLIMATOLOGY: _Style("climatology", "#666666", "D", ":"),
}
_SHOWN_LEADS = ("1", "5", "10")
_PERCENT = PercentFormatter(1, decimals=0, symbol=" %")


def pictures() -> dict[str, Figure]:
    """Return the pictures by the names of their files."""
    by_lead = json.loads((RESULTS / "uncertainty.json").read_text())["leads"]
    return {"pit.svg": _pit(by_lead), "reliability.svg": _reliability(by_lead), "skill-by-lead.svg": _skill(by_lead)}


def _pit(by_lead: ByLead) -> Figure:
    """Return the histograms of the PIT: a row a lead, a column a forecaster."""
    shown, leads = (CALIBRATED, RAW, CLIMATOLOGY), ("1", "10")
    figure, rows = pyplot.subplots(
        len(leads), len(shown), figsize=(8.5, 4.8), sharex=True, sharey="col", layout="constrained"
    )
    middles = (np.arange(TENTHS) + 0.5) / TENTHS
    for row, lead in zip(rows, leads, strict=True):
        for axes, name in zip(row, shown, strict=True):
            style, tenths = _STYLES[name], by_lead[lead][name]["pit"]
            axes.bar(middles, [tenth["share"] for tenth in tenths], 0.92 / TENTHS, color=style.colour, alpha=0.55)
            _, low, high = np.array([tenth["of_basins"] for tenth in tenths]).T
            axes.vlines(middles, low, high, color="black", linewidth=1)
            axes.axhline(1 / TENTHS, color="black", linewidth=1, linestyle="--")
            axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
            axes.yaxis.set_major_formatter(_PERCENT)
            axes.grid(axis="y", alpha=0.3)
        row[0].set_ylabel(f"{_days(lead)}\nshare of the days")
    for axes, name in zip(rows[0], shown, strict=True):
        axes.set_title(_STYLES[name].name, fontsize=10)
    figure.supxlabel(
        "where the observed flow lay in the forecast's distribution, from its lowest to its highest tenth", fontsize=10
    )
    return figure


def _reliability(by_lead: ByLead) -> Figure:
    """Return how often the level of high flows was passed, by the chance that was given."""
    figure, row = pyplot.subplots(1, len(_SHOWN_LEADS), figsize=(9, 3.9), sharey=True, layout="constrained")
    for axes, lead in zip(row, _SHOWN_LEADS, strict=True):
        axes.plot([0, 1], [0, 1], color="black", linewidth=0.8, label="perfect reliability")
        for name, style in _STYLES.items():
            bins = by_lead[lead][name]["reliability"]
            reported, came = ([tenth[part] for tenth in bins] for part in ("forecast", "observed"))
            axes.plot(reported, came, style.marker + style.line, color=style.colour, markersize=4.5, label=style.name)
        axes.set(title=_days(lead), xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="chance given")
        axes.set_xticks([0, 0.5, 1])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(_PERCENT)
        axes.grid(alpha=0.3)
    row[0].set_ylabel("share of the days that passed")
    _legend_below(figure, row[0])
    return figure


def _skill(by_lead: ByLead) -> Figure:
    """Return skill and coverage by lead: medians over the basins, and their quartiles as bands."""
    figure, row = pyplot.subplots(1, 3, figsize=(9.5, 3.9), layout="constrained")
    panels: list[tuple[str, str, float, Callable[[str], bool]]] = [
        ("crpss_climatology", "CRPSS against climatology", 0.0, lambda name: name != CLIMATOLOGY),
        ("crpss_persistence", "CRPSS against persistence", 0.0, lambda _name: True),
        ("coverage_90", "days that the 90 % interval held", 0.9, lambda _name: True),
    ]
    for axes, (score, title, mark, is_shown) in zip(row, panels, strict=True):
        for name, style in _STYLES.items():
            if is_shown(name):
                median, low, high = np.array([by_lead[lead][name][score] for lead in by_lead]).T
                leads = [int(lead) for lead in by_lead]
                axes.fill_between(leads, low, high, color=style.colour, alpha=0.15, linewidth=0)
                axes.plot(leads, median, style.marker + style.line, color=style.colour, markersize=4, label=style.name)
        axes.axhline(mark, color="black", linewidth=0.8, zorder=1)
        axes.set(title=title, xlabel="days ahead", xticks=[1, 3, 5, 7, 10])
        axes.title.set_fontsize(10)
        axes.grid(alpha=0.3)
    row[2].yaxis.set_major_formatter(_PERCENT)
    row[2].set_ylim(0.2, 1)
    _legend_below(figure, row[1])
    return figure


def _days(lead: str) -> str:
    return "1 day ahead" if lead == "1" else f"{lead} days ahead"


def _legend_below(figure: Figure, axes: Axes) -> None:
    """Set one legend for all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
