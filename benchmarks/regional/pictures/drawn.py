"""Draws curves of the trials and the stored members, and forecast reliability, in `docs/pictures/`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot
from matplotlib.figure import Figure

from benchmarks.regional.members import ENSEMBLE
from benchmarks.regional.pictures import uncertainty
from benchmarks.regional.recipes import RECIPES
from benchmarks.regional.trials import RESULTS
from models.pretrained import form

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
STORED = "the stored members"
LOWEST = 0.6  # of the axis: what a training passes in its first minutes

Curve = tuple[list[float], list[float]]


def draw() -> None:
    """Draw the validation skill over the core-minutes of the steps, and the pictures of probabilities."""
    pyplot.switch_backend("svg")
    pyplot.rcParams.update({"svg.hashsalt": "freshet", "svg.fonttype": "none"})  # the same file each time
    PICTURES.mkdir(parents=True, exist_ok=True)
    _draw_trials()
    for name, figure in uncertainty.pictures().items():
        _save(name, figure)


def _draw_trials() -> None:
    trials = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    curves: list[tuple[str, Curve]] = []
    small: list[tuple[str, Curve]] = []
    for trial in trials:
        of = curves if RECIPES[trial["recipe"]].every == 1 else small
        of.append((trial["recipe"], _curve(trial["log"], trial["core_minutes"], trial["steps"])))
    logs = [member.log for member in form.read(ENSEMBLE).description.members]
    curves += [(STORED, _curve(log["validation"], log["seconds"] / 60, log["validation"][-1]["step"])) for log in logs]
    _plot("recipe.svg", "447 basins, one member a line", curves, LOWEST)
    if small:
        _plot("sequence-to-one.svg", "40 basins, one member a line", small, 0.0)


def _curve(log: Sequence[Mapping[str, Any]], minutes: float, steps: int) -> Curve:
    """Return core-minutes and skill of the validations; every one of the steps takes the same time."""
    return [row["step"] / steps * minutes for row in log], [row["validation_nse"] for row in log]


def _plot(name: str, title: str, curves: list[tuple[str, Curve]], lowest: float) -> None:
    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    colours = {recipe: f"C{n}" for n, recipe in enumerate(dict.fromkeys(recipe for recipe, _ in curves))}
    labelled: set[str] = set()
    for recipe, (minutes, skill) in curves:
        label = recipe if recipe not in labelled else "_"
        labelled.add(recipe)
        axes.plot(minutes, skill, color=colours[recipe], linewidth=1.2, label=label)
    axes.set(title=title, xlabel="core-minutes of the steps", ylabel="median NSE of the validation period")
    axes.set_ylim(bottom=lowest)
    axes.grid(alpha=0.3)
    axes.legend()
    _save(name, figure)


def _save(name: str, figure: Figure) -> None:
    figure.savefig(PICTURES / name, metadata={"Date": None})
    pyplot.close(figure)
