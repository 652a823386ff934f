"""Attribution of changes between forecasts, and of their errors, to causes.

A change between two forecasts of the same days is split by cause. The earlier forecast is computed again with one input
after the other replaced by that of the later one, until it is the later one. A part is the difference between two
successive reruns, so the parts add up to the change, whatever the order. Where two inputs act together, the order
decides which part has their joint effect: the parts of the opposite order are given beside, and the difference of both
is the interaction.

The error of a forecast, once its days are observed, is split into those of the weather, initial state and network.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.doc import Doc

RERUN = ("revised_data", "observed_weather", "weather_forecast", "model_version")
"""The inputs in the order of their replacement: the state of the earlier T0 from data as revised since, the weather
observed from that T0 to the later one, the weather forecast of the days ahead, and the model version."""
PARTS = (*RERUN, "observed_flow")
"""The parts of a change. The last is the change of the calibrated correction, which starts from the last observed flow;
it needs no rerun."""
ORDERS = ("forward", "reverse")


def split_change(forward: Array, reverse: Array | None, correction: Array | None) -> Array:
    """Return the parts of a change, (orders, parts, days), in the unit of the flows.

    Args:
        forward: the flow of the earlier forecast, and after each replacement in the order of `RERUN`, (5, days).
        reverse: the same in the opposite order; None where it cannot be computed: these parts are NaN.
        correction: the change of the calibrated correction, (days,); None where it is unknown: that part is NaN.
    """
    parts = np.full((len(ORDERS), len(PARTS), forward.shape[1]), np.nan)
    parts[0, : len(RERUN)] = np.diff(forward, axis=0)
    if reverse is not None:
        parts[1, : len(RERUN)] = np.diff(reverse, axis=0)[::-1]
    if correction is not None:
        parts[:, -1] = correction
    return parts


def whole_change(parts: Array) -> Array:
    """Return the change that parts (orders, parts, days) add up to, (days,). Unknown parts count as 0."""
    return np.asarray(np.nansum(parts[0], axis=0))


def interaction(parts: Array) -> Array:
    """Return by how much the parts depend on the order, (parts, days): forward less reverse. They add up to 0."""
    return np.asarray(parts[0] - parts[1])


Measure = Literal["volume", "peak"]
CAUSES = ("weather", "initial_state", "network")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSplit:
    """The error of a forecast in one number, and its parts, which add up to it.

    A volume is in mm, a peak in mm/day.
    """

    observed: Annotated[float, Doc("By the observed flow.")]
    error: Annotated[float, Doc("Forecast less observed.")]
    weather: Annotated[float, Doc("Of the weather after T0: the forecast less the same with observed weather.")]
    initial_state: Annotated[
        float,
        Doc("Of the state of T0: the same with observed weather, less that from the state by data as revised since."),
    ]
    network: Annotated[float, Doc("The error that is left with observed weather from the revised state.")]


def split_error(
    measure: Measure, issued: Array, from_issued: Array, from_revised: Array, observed: Array
) -> ErrorSplit:
    """Split the error of a forecast over its days, from discharge (days,) in mm/day.

    `from_issued` is with observed weather from the state of the forecast, `from_revised` from the state of the same day
    by data as revised since.
    """
    forecast, by_issued, by_revised, truth = (
        float(flow.sum(dtype=np.float64) if measure == "volume" else flow.max())
        for flow in (issued, from_issued, from_revised, observed)
    )
    return ErrorSplit(
        observed=truth,
        error=forecast - truth,
        weather=forecast - by_issued,
        initial_state=by_issued - by_revised,
        network=by_revised - truth,
    )
