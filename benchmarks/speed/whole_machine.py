"""Training members and evaluating ten on the 447 basins: today's network beside the one before, two cores beside one.

Before: 64 cells with R in full. CPU seconds of a member's steps and wall seconds of `evaluate` are compared. On two
cores, members are trained side by side, and parts of the basins evaluated. FRESHET_CAMELS names the data,
FRESHET_DATA a folder that may be thrown away.

`--only divided` instead evaluates, reforecasts and replays 30 days in one process and in two
(`benchmarks.divided`), by default in all 447 basins.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.divided import timed
from benchmarks.regional.data import TEST, opened
from benchmarks.regional.data import basins as regional_basins
from benchmarks.regional.recipes import RECIPES, Recipe
from benchmarks.regional.trials import lone_member
from records.database.engine import Database
from runtime.clock import Clock
from testing.jobs.alone import alone
from testing.training import train
from testing.work import work_of

BEFORE, NOW = "first-members", "members"
STEPS = 20
MEMBERS = 10
REPLAYED = ("2000-09-30..2000-09-30", "2000-10-01..2000-10-30", "2000-10-31..2000-11-29")
"""The first day replays what leads to it."""
TRAINED_STEPS = 300
"""Of each member. All are trained, for they differ in what a step costs; a shipped ensemble's have 3 000 steps."""


def measure(basins: int | None = None, only: str | None = None) -> dict[str, Any]:
    """Return seconds, and ratios: before over now, one core over two."""
    if only == "divided":
        return {"jobs": [*_divided(regional_basins()[:basins])]}
    steps = {name: _seconds_of_a_step(RECIPES[name]) for name in (BEFORE, NOW)}
    database, clock = opened(), Clock()
    versions = {name: _untrained(database, clock, RECIPES[name]) for name in (BEFORE, NOW)}
    evaluations = {name: _seconds(_evaluation(database, clock, version)) for name, version in versions.items()}
    evaluations["now, two cores"] = _seconds(_evaluation(database, clock, versions[NOW], cores=2))
    trainings = {cores: _seconds(_training(database, clock, RECIPES[NOW], cores)) for cores in (1, 2)}
    database.close()
    return {
        "shape": f"{len(regional_basins())} basins, {MEMBERS} members evaluated, and trained for {TRAINED_STEPS} steps",
        "cpu_seconds_of_a_step": steps,
        "seconds_of_evaluation": evaluations,
        "seconds_of_training_by_cores": trainings,
        "ratios": {
            "step, now over before": steps[NOW] / steps[BEFORE],
            "evaluation, now over before": evaluations[NOW] / evaluations[BEFORE],
            "evaluation, one core over two": evaluations[NOW] / evaluations["now, two cores"],
            "training, one core over two": trainings[1] / trainings[2],
        },
    }


def _divided(names: list[str]) -> Iterator[dict[str, Any]]:
    database, clock = opened(), Clock()
    version = _untrained(database, clock, RECIPES[NOW])

    def of(cores: int, kind: str, **params: Any) -> dict[str, Any]:
        return timed(work_of(database, clock, cores=cores), kind, len(names), basins=names, **params)[0]

    for kind in ("evaluation", "reforecast"):
        for cores in (1, 2):
            yield of(cores, kind, version=version, period=TEST)
    first, *following = REPLAYED
    of(2, "replay", period=first)
    for cores, days in enumerate(following, start=1):
        yield of(cores, "replay", period=days)
    database.close()


def _seconds_of_a_step(recipe: Recipe) -> float:
    """Return the CPU seconds of a training step, the mean of some."""
    steps: dict[str, Any] = {"schedule": {"kind": "cosine", "steps": STEPS}, "validation_period": None}
    return lone_member(recipe.config(**steps), regional_basins(), seed=0).run().seconds / STEPS


def _untrained(database: Database, clock: Clock, recipe: Recipe) -> str:
    """Return a version of ten members after one step each: what they learnt is nothing to the time they take."""
    config = recipe.config(members=MEMBERS, schedule={"kind": "cosine", "steps": 1}, validation_period=None)
    return train(work_of(database, clock, cores=2), config, regional_basins()).version_id


def _evaluation(database: Database, clock: Clock, version: str, cores: int = 1) -> Callable[[], object]:
    work = work_of(database, clock, cores=cores)
    return lambda: alone(work, "evaluation", version=version, period=TEST, basins=[*regional_basins()])


def _training(database: Database, clock: Clock, recipe: Recipe, cores: int) -> Callable[[], object]:
    """Return a training that was never started: the seed makes it another one at each core count."""
    config = recipe.config(
        members=MEMBERS, seed=1000 * cores, schedule={"kind": "cosine", "steps": TRAINED_STEPS}, validation_period=None
    )
    return lambda: train(work_of(database, clock, cores=cores), config, regional_basins())


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
