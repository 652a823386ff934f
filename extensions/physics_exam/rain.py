"""Experiments with more and with less rain."""

from collections.abc import Sequence

import numpy as np

from extensions.physics_exam import weather
from extensions.physics_exam.exam import COLD, NOT_ASKED, YEAR, Exam, Numbers, Question, experiment
from extensions.physics_exam.water_response import largest_excess, returned_share
from models.forcing import Forcing

STORM_DAYS = 2 * YEAR  # a storm falls in the first year, and at least most of a year follows
SEASONS = (15, 105, 195, 285)
ADDED_MM = 30.0
MONTH, RUNOFF_DAYS = 30, 10
MONTH_STARTS = (0, 3 * YEAR // 4)  # October and July where the examined days begin with a water year
WET_MM, ADDED_STORM_MM = 5.0, 50.0
DRIER = np.float32(0.8)


@experiment(
    Question(
        "less flow after rain",
        "how far flow falls below that without an additional storm, on any day after it",
        "mm/day",
        0.01,
        "Water that is added leaves no store with less water, so it lowers the flow of no day.",
    ),
    Question(
        "more flow than rain",
        "the largest share of an additional storm that additional flow has returned by any day",
        "1",
        1.001,
        "Flow beyond the storm's own water would leave the stores emptier than without the storm.",
    ),
    Question(
        "less loss after rain",
        "how far the total loss after an additional storm falls below that without it, as a share of the storm",
        "1",
        0.001,
        "Under the same air a wetter basin evaporates as much or more.",
        ("loss",),
    ),
)
def storms(exam: Exam) -> tuple[Numbers, ...]:
    """Double the largest storm of a year, and add one on a day of each season; return the worst figures."""
    forcing = weather.first_days(exam.forcing, STORM_DAYS)
    without = exam.usual.first_days(STORM_DAYS)
    basins = len(forcing.mass)
    largest = forcing.mass[:, :YEAR].argmax(axis=1)
    storms = [(largest, forcing.mass[np.arange(basins), largest])]
    storms += [(np.full(basins, day), np.full(basins, ADDED_MM, np.float32)) for day in SEASONS]
    responses = exam.respond(*(weather.with_added_rain(forcing, day, depth) for day, depth in storms))
    figures = []
    for (_, depth), response in zip(storms, responses, strict=True):
        added = depth.astype(np.float64)
        figures.append(
            (
                largest_excess(without.discharge, response.discharge),
                returned_share(response.discharge, without.discharge, added),
                (without.loss - response.loss).sum(axis=-1) / added,
            )
        )
    return tuple(np.max(figures, axis=0))


@experiment(
    Question(
        "dry ground",
        "how much more of a storm of 50 mm flows off in ten days after a month without rain than after a wet one, as a "
        "share of the storm; months and events without frost",
        "1",
        0.001,
        "Dry ground has room for the storm; wet ground has less.",
    ),
)
def dry_ground(exam: Exam) -> tuple[Numbers, ...]:
    """Compare a storm after a wet and after a dry month, where no snow lies; return the worst figure of the months."""
    figures = []
    for start in MONTH_STARTS:
        dry, wet = _storm_runoff(exam, start, (0.0, WET_MM))
        mild = exam.temperature[:, start : start + MONTH + RUNOFF_DAYS].min(axis=1) > COLD
        figures.append(np.where(mild, (dry - wet) / ADDED_STORM_MM, NOT_ASKED))
    return (np.max(figures, axis=0),)


def _storm_runoff(exam: Exam, start: int, daily: Sequence[float]) -> list[Numbers]:
    """Return the flow in mm that a storm adds in its days, after a month of each equal daily rain."""
    forcing = weather.first_days(exam.forcing, start + MONTH + RUNOFF_DAYS)
    runs = list[Forcing]()
    for depth in daily:
        rain = forcing.mass.copy()
        rain[:, start : start + MONTH] = depth
        rain[:, start + MONTH :] = 0
        without = weather.with_rain(forcing, rain)
        runs += [without, weather.with_added_rain(without, np.full(len(rain), start + MONTH), ADDED_STORM_MM)]
    flows = [response.discharge for response in exam.respond(*runs)]
    return [(with_storm - without).sum(axis=-1) for without, with_storm in zip(flows[::2], flows[1::2], strict=True)]


@experiment(
    Question(
        "more flow from less rain",
        "how far flow rises on any day where a fifth less rain falls every day",
        "mm/day",
        0.01,
        "Less rain leaves less water in every store, which raises the flow of no day.",
    ),
    Question(
        "more loss from less rain",
        "how far the loss of all days rises where a fifth less rain falls every day, as a share of precipitation",
        "1",
        0.001,
        "Under the same air a drier basin evaporates as much or less.",
        ("loss",),
    ),
)
def less_rain(exam: Exam) -> tuple[Numbers, ...]:
    """Take a fifth of the rain from every day; return the figures of flow and loss."""
    (drier,) = exam.respond(weather.with_rain(exam.forcing, exam.forcing.mass * DRIER))
    loss = (drier.loss - exam.usual.loss).sum(axis=-1) / exam.precipitation
    return largest_excess(drier.discharge, exam.usual.discharge), loss
