"""The questions of physics to an ensemble or a trial, on the weather of its basins: `results/physics/NAME.json`.

The days lie in the validation years: no flow is read, and no weather of the test years.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regional import trials
from benchmarks.regional.data import basins, opened, require_all
from benchmarks.regional.members import NAMES, series
from benchmarks.regional.simulations import shipped
from extensions.physics_exam.exam import NOT_ASKED, Exam, Numbers, Question
from extensions.physics_exam.members import Members
from extensions.physics_exam.questions import QUESTIONS, ask
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from models.ensemble import GROUP, Ensemble
from models.pretrained import SHELF, form
from models.pretrained.form import load
from operations.basin_data.dataset import BasinForcing, load_forcing, stacked
from records.basins import basins as basin_records

RESULTS = Path(__file__).parent / "results" / "physics"
DAYS = Period.parse("1983-10-01..1987-09-30")
WARM_UP = np.timedelta64(2 * 365, "D")


def examine(name: str, every: int = 1) -> None:
    """Ask the members of a series, a shipped ensemble or a trial (`NAME-SEED`), and write and print what was found.

    Args:
        every: how many basins one stands for.
    """
    ensemble = _members(name)
    if not ensemble.conserving:
        raise SystemExit(f"{name} has no water to examine: name members that conserve it.")
    names = basins(ensemble.config.inputs.product)[::every]
    figures = figures_of(ensemble, names)
    result = {
        "members": list(ensemble.labels),
        "basins": len(names),
        "days": str(DAYS),
        "questions": {
            question.name: summary(question, figures[question.name])
            for question in QUESTIONS
            if (figures[question.name] != NOT_ASKED).any()
        },
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


def _members(name: str) -> Ensemble:
    if name in NAMES:
        return load(shipped(series(name).folder))
    return load(shipped(SHELF / name)) if name in form.names(SHELF) else trials.trained(name)


def figures_of(ensemble: Ensemble, names: Sequence[str]) -> dict[str, Numbers]:
    """Return the figures of each question, (members + 1, basins)."""
    forcings, latitudes = _weather(ensemble, names)
    figures = defaultdict(list)
    for start in range(0, len(forcings), GROUP):
        group = slice(start, start + GROUP)
        forcing = stacked([one.forcing.over(Period(DAYS.first - WARM_UP, DAYS.last)) for one in forcings[group]])
        for question, of_group in ask(Exam(Members(ensemble), forcing, latitudes[group], DAYS)):
            figures[question.name].append(of_group)
    return {name: np.concatenate(parts, axis=1) for name, parts in figures.items()}


def _weather(ensemble: Ensemble, names: Sequence[str]) -> tuple[list[BasinForcing], list[float]]:
    """Return the weather and the latitudes of basins."""
    database = opened(ensemble.config.inputs.product)
    with database.reading() as session:
        loadings = {name: load_forcing(session, name, ensemble.config) for name in names}
        latitudes = {name: basin_records.get(session, name).latitude for name in names}
    database.close()
    left_out = {name: f"{name} has no latitude." for name, latitude in latitudes.items() if latitude is None}
    require_all(left_out | {name: str(reason) for name, reason in loadings.items() if isinstance(reason, Absent)})
    forcings = [loading for loading in loadings.values() if not isinstance(loading, Absent)]
    return forcings, [latitude for latitude in latitudes.values() if latitude is not None]


def summary(question: Question, figures: Numbers) -> dict[str, Any]:
    """Return how many members and basins fail a question, and by how much."""
    asked, mean = (part[part != NOT_ASKED] for part in (figures[:-1], figures[-1]))
    failing = asked[~(asked <= question.limit)]
    return {
        "unit": question.unit,
        "limit": question.limit,
        "asked": len(asked),
        "failing": len(failing),
        "asked_of_mean": len(mean),
        "failing_of_mean": int((~(mean <= question.limit)).sum()),
        "median": float(np.median(asked)),
        "median_of_failing": float(np.median(failing)) if len(failing) else None,
        "largest": float(asked.max()),
        "largest_of_mean": float(mean.max()),
    }


def table(result: dict[str, Any]) -> str:
    """Return what was found as a table in Markdown."""
    columns = (
        "question",
        "limit",
        "members × basins that fail",
        "their median, the largest",
        "basins where the mean fails",
        "largest of the mean",
    )
    lines = [f"| {' | '.join(columns)} |", len(columns) * "|---" + "|"]
    for name, row in result["questions"].items():
        unit = "" if row["unit"] == "1" else f" {row['unit']}"
        sizes = "" if row["median_of_failing"] is None else f"{row['median_of_failing']:.3g}, "
        lines.append(
            f"| {name} | {row['limit']:g}{unit} | {_share(row['failing'], row['asked'])} |"
            f" {sizes}{row['largest']:.3g} | {_share(row['failing_of_mean'], row['asked_of_mean'])} |"
            f" {row['largest_of_mean']:.3g} |"
        )
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "not asked"
