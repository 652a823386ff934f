"""Splits the error of a forecast, once its days are observed, into those of the weather, initial state and network."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Measure = Literal["volume", "peak"]
CAUSES = ("weather", "initial_state", "network")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSplit:
    """The error of a forecast in one number, and its parts, which add up to it.

    Attributes:
        observed: volume in mm, or highest daily mean flow in mm/day, of the observed flow.
        error: forecast less observed.
        weather: the change by the forecast weather in place of the observed, from the state of the forecast.
        initial_state: the change by that state in place of the one from data as revised since, with observed weather.
        network: the error that is left with observed weather from the revised state.
    """

    observed: float
    error: float
    weather: float
    initial_state: float
    network: float


def split_error(
    measure: Measure, issued: Array, from_issued: Array, from_revised: Array, observed: Array
) -> ErrorSplit:
    """Split the error of a forecast over its days, from discharge (days,) in mm/day.

    Args:
        from_issued: with observed weather, from the state of the forecast.
        from_revised: with observed weather, from the state of the same day by data as revised since.
    """
    of_each = [_measured(measure, flow) for flow in (issued, from_issued, from_revised, observed)]
    forecast, by_issued, by_revised, truth = of_each
    return ErrorSplit(
        observed=truth,
        error=forecast - truth,
        weather=forecast - by_issued,
        initial_state=by_issued - by_revised,
        network=by_revised - truth,
    )


def _measured(measure: Measure, flow: Array) -> float:
    return float(flow.sum(dtype=np.float64) if measure == "volume" else flow.max())
