"""A storm after a wet month and after a dry one, where no snow lies."""

import numpy as np

from models.examination import weather
from models.examination.exam import COLD, NOT_ASKED, YEAR, Exam, Numbers
from models.examination.question import Experiment, Question

MONTH, EVENT_DAYS = 30, 10
STARTS = (0, 3 * YEAR // 4)  # October and July where the examined days begin with a water year
WET_MM, STORM_MM = 5.0, 50.0

QUESTIONS = (
    Question(
        "dry ground",
        "how much more of a storm of 50 mm flows off in ten days after a month without rain than after a wet one, as a "
        "share of the storm; months and events without frost",
        "1",
        0.001,
        "Dry ground has room for the storm; wet ground has less.",
    ),
)


def measure(exam: Exam) -> tuple[Numbers, ...]:
    """Return the worst figure of the months."""
    figures = []
    for start in STARTS:
        dry, wet = (_event(exam, start, daily) for daily in (0.0, WET_MM))
        mild = exam.temperature[:, start : start + MONTH + EVENT_DAYS].min(axis=1) > COLD
        figures.append(np.where(mild, (dry - wet) / STORM_MM, NOT_ASKED))
    return (np.max(figures, axis=0),)


def _event(exam: Exam, start: int, daily: float) -> Numbers:
    """Return the flow in mm that a storm adds in its days, after a month of equal daily rain."""
    forcing = weather.first_days(exam.forcing, start + MONTH + EVENT_DAYS)
    rain = forcing.mass.copy()
    rain[:, start : start + MONTH] = daily
    rain[:, start + MONTH :] = 0
    without = weather.with_rain(forcing, rain)
    with_storm = weather.with_added_rain(without, np.full(len(rain), start + MONTH), STORM_MM)
    added: Numbers = (exam.respond(with_storm).discharge - exam.respond(without).discharge).sum(axis=-1)
    return added


EXPERIMENT = Experiment(QUESTIONS, measure)
