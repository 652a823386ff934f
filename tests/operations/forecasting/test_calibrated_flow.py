"""A basin's calibrated flow: what the last observed flow and the recalibration change, and on which days."""

import numpy as np
import pytest

from hydrology.base.calendar import Day, day
from hydrology.uncertainty.error_model import (
    FLOW_CLASSES,
    LEVELS,
    NO_FLOW_KNOWN,
    BasinErrorModel,
    BasinErrors,
    Shape,
    shifted,
)
from hydrology.uncertainty.recalibration import Recalibration
from operations.forecasting.calibrated_flow import Calibration, LastFlow
from operations.forecasting.weather_ahead import RunDays
from records.runs.run_summary import RunCalibration

SIZE = (NO_FLOW_KNOWN + 1, len(FLOW_CLASSES) - 1)
T0 = day("2005-05-01")
MEDIAN = LEVELS.index(0.5)
FLOW = np.full((2, 5), 2.0) + np.array([[0.5], [-0.5]])
"""Two traces of five days, mm/day."""
SUMMARY = RunCalibration(
    kind="provisional",
    sha256="error model",
    weather="a/b",
    weather_issues=0,
    fitted_on="1980-10-01..1989-09-30",
    own_days=3200,
    last_flow_day=None,
    last_flow_mm=None,
    simulated_mm=None,
)


def last_flow(at: Day, observed: float) -> LastFlow:
    """Return one after a simulated flow of 2 mm/day until T0."""
    return LastFlow(at, np.array([np.nan, observed]), np.full(2, 2.0))


def calibration(filled: int, last: LastFlow | None = None, spread: float = 0.5) -> Calibration:
    """Return one whose errors have the same size on all days, and do not fade."""
    table, levels = np.full(SIZE, 0.1), np.linspace(-2, 2, len(LEVELS))
    errors = BasinErrors(2.0, np.linspace(0.1, 20, SIZE[1]), np.ones(SIZE), np.zeros(SIZE), table, 3000)
    shape = Shape(np.ones(SIZE), np.zeros(SIZE), table, np.broadcast_to(levels, (*SIZE, len(LEVELS))))
    recalibration = Recalibration(np.zeros(1), np.full(1, spread))
    return Calibration(BasinErrorModel(shape, errors), recalibration, RunDays(T0, 5, filled), last, SUMMARY)


def test_past_days_are_not_recalibrated() -> None:
    none, two = (calibration(filled).of(FLOW).quantiles for filled in (0, 2))
    before = calibration(0, spread=1.0).of(FLOW).quantiles
    np.testing.assert_allclose(two[:, :2], before[:, :2], rtol=1e-6)
    np.testing.assert_array_equal(two[:, 2:], none[:, 2:])
    assert (np.ptp(two[:, 2:], axis=0) < np.ptp(before[:, 2:], axis=0)).all()


@pytest.mark.parametrize("lead", [1, 2])
def test_each_trace_is_corrected_by_its_own_difference_to_a_flow_after_t0(lead: int) -> None:
    last = last_flow(T0 + lead, 3.0)
    corrected = calibration(2, last)
    median = corrected.of(FLOW).quantiles[MEDIAN]
    np.testing.assert_allclose(median, 3.0, rtol=0.02)  # both traces are as far from it on all days
    assert corrected.summary(FLOW.mean(axis=0)).simulated_mm == pytest.approx(2.0)


def test_a_flow_of_t0_is_compared_with_the_state() -> None:
    of_t0 = calibration(0, last_flow(T0, 3.0))
    assert of_t0.of(FLOW).quantiles[MEDIAN].mean() > calibration(0).of(FLOW).quantiles[MEDIAN].mean()
    assert of_t0.summary(FLOW.mean(axis=0)) is SUMMARY


@pytest.mark.parametrize("last", [None, last_flow(T0, 1.4), last_flow(T0 + 1, 1.4)])
def test_the_flow_of_days_ahead_is_moved_to_its_calibrated_median(last: LastFlow | None) -> None:
    of_basin, flow, leads = calibration(1, last), FLOW[0], [2, 3, 4, 5]
    shifts = of_basin.root_shifts(flow, leads)
    median = of_basin.of(flow[None]).quantiles[MEDIAN]
    moved = [shifted(flow, of_basin.error_model.errors.class_flow, of_lead)[0] for of_lead in shifts]
    np.testing.assert_allclose(moved, median[1:], rtol=0.01)
    assert (shifts[0] < 0).all() == (last is not None)
