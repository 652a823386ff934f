"""Experiments with the stores of a basin and with its area."""

import numpy as np

from extensions.physics_exam import weather
from extensions.physics_exam.exam import NOT_ASKED, YEAR, Exam, Numbers, Question, experiment
from extensions.physics_exam.water_response import largest_rise
from jobspec.training import AREA

DRY_DAYS, DRAINING_DAYS = 60, 5
STARTS = (0, YEAR // 4, YEAR // 2, 3 * YEAR // 4)
LITTLE_SNOW = 0.01  # of precipitation
REPEATS = 10
WEAK_MELT, WARM, SNOW_FALLS = 1.2, 4.0, 6.5  # mm/degC/day, degC, degC
SMALL, LARGE = 100.0, 1000.0  # km2


@experiment(
    Question(
        "rise without rain",
        "the largest rise of flow in two months without rain, after five days, in basins without snow",
        "mm/day",
        0.05,
        "Without rain or melt stores only drain; a small rise is left to trees that stop drawing water.",
    ),
)
def dry_months(exam: Exam) -> tuple[Numbers, ...]:
    """Let no rain fall for two months of each season; return the worst figure of the seasons."""
    rises = []
    for start in STARTS:
        forcing = weather.first_days(exam.forcing, start + DRY_DAYS)
        rain = forcing.mass.copy()
        rain[:, start:] = 0
        (response,) = exam.respond(weather.with_rain(forcing, rain))
        rises.append(largest_rise(response.discharge[..., start + DRAINING_DAYS :]))
    return (np.where(exam.snow_share < LITTLE_SNOW, np.max(rises, axis=0), NOT_ASKED),)


@experiment(
    Question(
        "drift",
        "the change of stored water over the last of ten equal years, as a share of a year's precipitation",
        "1",
        0.001,
        "A year that repeats itself leaves the stores as it found them.",
        ("storage",),
    ),
    Question(
        "storage",
        "the most water stored at the end of one of ten equal years, in years of precipitation",
        "1",
        2.0,
        "What takes part in the flow of a basin is at most some years of its precipitation.",
        ("storage",),
    ),
)
def equal_years(exam: Exam) -> tuple[Numbers, ...]:
    """Repeat the weather of one year; return the figures of the last year, and of all years."""
    year, state, stored = weather.first_days(exam.forcing, YEAR), exam.state, []
    for _ in range(REPEATS):
        response, state = exam.run(year, state)
        stored.append(response.storage[..., -1])
    rain = year.mass.sum(axis=1, dtype=np.float64)
    return np.abs(stored[-1] - stored[-2]) / rain, np.max(stored, axis=0) / rain


@experiment(
    Question(
        "lasting snow",
        "the least water in the snow stores on any day of the last year, as a share of a year's precipitation; of "
        "networks with snow stores, where a weak melt suffices",
        "1",
        0.1,
        "Snow melts in summer; a store that holds it for years only hides water.",
        ("snow",),
    ),
)
def lasting_snow(exam: Exam) -> tuple[Numbers, ...]:
    """Return the least snow of the last year as a share of precipitation.

    It is asked where `WEAK_MELT` above `WARM` melts what falls below `SNOW_FALLS`: elsewhere snow may last.
    """
    least = exam.usually("snow")[..., -YEAR:].min(axis=-1)
    least[-1] = least[:-1].mean(axis=0)  # not the minimum of the mean
    years = exam.forcing.mass.shape[1] / YEAR
    melts = WEAK_MELT * np.maximum(exam.temperature - WARM, 0).sum(axis=1)
    snowfall = np.where(exam.temperature < SNOW_FALLS, exam.forcing.mass, 0).sum(axis=1)
    figures = least / exam.precipitation * years
    return (np.where(melts > snowfall, figures, NOT_ASKED),)


@experiment(
    Question(
        "area",
        "how far mean runoff depth differs between the basin with an area of 100 km2 and of 1000 km2, relative to "
        "itself; after a year of adaptation",
        "1",
        0.01,
        "Runoff depth is per unit of area.",
    ),
)
def other_area(exam: Exam) -> tuple[Numbers, ...]:
    """Give the basin a small and a large area; return the relative difference, 0 where no network takes the area."""
    usual = exam.usual.discharge[..., YEAR:].sum(axis=-1)
    if AREA not in exam.inputs.static:
        return (np.zeros(usual.shape),)
    areas = [np.full(len(exam.forcing.static), area) for area in (SMALL, LARGE)]
    responses = exam.respond(*(weather.with_attribute(exam.forcing, exam.inputs, AREA, area) for area in areas))
    small, large = (response.discharge[..., YEAR:].sum(axis=-1) for response in responses)
    return (np.abs(large - small) / np.where(usual == 0, 1, usual),)
