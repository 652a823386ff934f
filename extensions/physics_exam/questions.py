"""The experiments of an examination, in the order of their report."""

from collections.abc import Collection, Iterator

import numpy as np

from extensions.physics_exam import air, basin, rain
from extensions.physics_exam.exam import NOT_ASKED, Exam, Experiment, Numbers, Question
from hydrology.water.probes import ProbeResult
from jobspec.network import BucketsConfig
from jobspec.training import AREA, TrainingConfig

EXPERIMENTS = (
    *(rain.storms, rain.dry_ground, rain.less_rain, basin.dry_months),
    *(air.other_air, air.snow_or_rain, basin.lasting_snow, basin.equal_years, air.energy, basin.other_area),
)
QUESTIONS = tuple(question for experiment in EXPERIMENTS for question in experiment.questions)


def _names(*experiments: Experiment) -> frozenset[str]:
    return frozenset(question.name for experiment in experiments for question in experiment.questions)


OF_RAIN = _names(rain.storms, rain.less_rain)
"""Questions that networks cannot fail whose gates see neither rain nor water except a cell's own."""


def ruled_out(config: TrainingConfig) -> frozenset[str]:
    """Return the questions that a configuration's networks cannot fail by design, whatever their weights.

    More rain lowers no flow of buckets, their snow melts, and no more evaporates than the air takes up. An area that is
    no input moves no runoff.
    """
    buckets = isinstance(config.network, BucketsConfig)
    blind = all({"rain", "water"} <= {*unseen} for unseen in config.unseen) and bool(config.unseen)
    cannot_fail = OF_RAIN if blind or buckets else frozenset[str]()
    if buckets:
        cannot_fail |= _names(basin.lasting_snow) | _names(air.energy)
    return cannot_fail if AREA in config.inputs.static else cannot_fail | _names(basin.other_area)


def answers(exam: Exam, binding: Collection[str] = ()) -> tuple[ProbeResult, ...]:
    """Return the result of every question that applies: the figure of the worst of an exam's members and basins."""
    return tuple(
        _result(question, figures[:-1], question.name in binding)
        for question, figures in ask(exam)
        if (figures != NOT_ASKED).any()
    )


def _result(question: Question, figures: Numbers, binding: bool) -> ProbeResult:
    asked = figures[figures != NOT_ASKED]
    worst, failing = float(asked.max()), float((~(asked <= question.limit)).mean())
    value = worst if np.isfinite(worst) else None
    parts = (question.name, question.asks, question.unit, question.limit, value, question.reason, failing, binding)
    return ProbeResult(*parts)


def ask(exam: Exam) -> Iterator[tuple[Question, Numbers]]:
    """Yield each question with its figures, (members + 1, basins)."""
    for experiment in EXPERIMENTS:
        asked = [exam.examined.outputs.issuperset(question.needs) for question in experiment.questions]
        none = np.full(exam.usual.discharge.shape[:2], NOT_ASKED)
        figures = experiment.measure(exam) if any(asked) else [none] * len(asked)
        for question, of, is_asked in zip(experiment.questions, figures, asked, strict=True):
            yield question, of if is_asked else none
