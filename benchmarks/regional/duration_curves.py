"""Flow duration curves of `freshet-us`: of its mean, and of draws of its calibrated flow.

The error model is fitted to the validation years alone, the curves are those of the test years.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.regional import us
from benchmarks.regional.data import TEST, VALIDATION
from benchmarks.regional.simulations import observe
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.scores.scores import OF_CURVES
from hydrology.uncertainty.draws import draw, scores_of_draws
from hydrology.uncertainty.error_fit import ErrorPairs, fit
from models.forcing import days_of

SHARES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99)
"""Non-exceedance shares of the days at which the curves are compared."""


def measure() -> dict[str, Any]:
    """Return quartiles over the basins of the scores of curves, and of the curves' errors in % at `SHARES`."""
    names, run = us.mean_over_record("both")
    simulated, observed = run.discharge[0].astype(float), observe(names, str(run.record)).discharge.astype(float)
    fitted, judged = (days_of(run.record, Period.parse(days)) for days in (VALIDATION, TEST))
    model = fit({name: ErrorPairs(s[fitted], o[fitted]) for name, s, o in zip(names, simulated, observed, strict=True)})
    scores: dict[str, list[Any]] = {"mean": [], "draws": []}
    errors: dict[str, list[Array]] = {"mean": [], "draws": []}
    for name, s, o in zip(names, simulated[:, judged], observed[:, judged], strict=True):
        if not np.isfinite(o).any():
            continue
        of_basin, days = model.of_basin(name), Period.parse(TEST).days
        scores["mean"].append({score.__name__: score(s, o, days=days) for score in OF_CURVES})
        scores["draws"].append(scores_of_draws(of_basin, s, o, days))
        known = np.isfinite(s + o)
        errors["mean"].append(_errors(s[None, known], o[known]))
        errors["draws"].append(_errors(draw(of_basin, s[known]), o[known]))
    return {
        "fitted_on": VALIDATION,
        "judged_on": TEST,
        "basins": len(scores["mean"]),
        "scores": {of: _of_metrics(every) for of, every in scores.items()},
        "absolute": {of: _of_metrics(every, absolute=True) for of, every in scores.items()},
        "curve_error_percent": {
            of: {str(share): _quartiles(np.stack(every)[:, at]) for at, share in enumerate(SHARES)}
            for of, every in errors.items()
        },
    }


def _errors(drawn: Array, observed: Array) -> Array:
    """Return the error in % of the mean curve of draws, (draws, days), at `SHARES`; NaN where no flow was observed."""
    curve, truth = np.quantile(drawn, SHARES, axis=1).mean(axis=1), np.quantile(observed, SHARES)
    return np.where(truth > 0, 100 * (curve / np.where(truth > 0, truth, 1) - 1), np.nan)


def _of_metrics(every: Sequence[dict[str, Any]], *, absolute: bool = False) -> dict[str, list[float]]:
    values = {name: np.array([of[name].value for of in every], dtype=float) for name in every[0]}
    return {name: _quartiles(np.abs(of) if absolute else of) for name, of in values.items()}


def _quartiles(values: Array) -> list[float]:
    """Return median, quartile and upper quartile of those that are known."""
    return [float(value) for value in np.nanquantile(values, [0.5, 0.25, 0.75])]
