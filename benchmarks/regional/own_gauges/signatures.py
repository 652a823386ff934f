"""Signatures of rivers without a gauge: how far the folds of `freshet-us` err in basins that they never saw.

`signatures` leaves a few basins out at a time, fits the factors to the others and judges the ranges in those, for both
products and for Maurer alone; then it writes the shipped factors, which are of all basins that both products cover.
"""

import json
from typing import Any

import numpy as np

from benchmarks.regional import us
from benchmarks.regional.members import FOLDS, RESULTS, series
from benchmarks.regional.seasonal.hindcasts import read_forcings
from benchmarks.regional.simulations import observe, shipped
from hydrology.base.calendar import Period
from hydrology.extremes.signatures import DRY, NAMES, SignatureErrors, Signatures, signatures
from hydrology.water.storage import SPIN_UP_DAYS
from models.pretrained import signature_errors
from models.pretrained.form import load
from runtime.stored_files import replace_file

LEFT_OUT = 84
"""Number of times that basins are left out."""


def measure() -> None:
    """Write how well signatures are estimated in basins left out, and the shipped factors."""
    result = {}
    for combination in ("both", "maurer"):
        simulated, observed = _of_folds(combination)
        result[combination] = _judged(simulated, observed)
        if combination == "both":
            shipped_errors = {"freshet-us": SignatureErrors.fit(simulated, observed)}
            replace_file(
                signature_errors.FILE, signature_errors.BY_ENSEMBLE.dump_json(shipped_errors, indent=1) + b"\n"
            )
    (RESULTS / "signatures.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def _of_folds(combination: str) -> tuple[list[Signatures], list[Signatures]]:
    """Return the signatures of basins never seen, simulated and observed on the same days."""
    weights, maurer = us.common_weights(combination), load(shipped(series("us-maurer").folder))
    pairs = list[tuple[Signatures, Signatures]]()
    for number in range(1, FOLDS + 1):
        names, run = us.left_out_over_record(weights, number)
        days = Period(run.record.first + SPIN_UP_DAYS, run.record.last)
        flows = run.over(days)[0].astype(float), observe(names, str(days)).discharge.astype(float)
        for forcing, simulated, observed in zip(read_forcings(maurer, names), *flows, strict=True):
            if np.isfinite(observed).any():
                rain = float(forcing.forcing.over(days).mass.mean())
                both = np.where(np.isfinite(observed), simulated, np.nan), observed
                pairs.append((signatures(both[0], days.days, rain), signatures(both[1], days.days, rain)))
    whole = [pair for pair in pairs if all(len(of) == len(NAMES) for of in pair)]
    return [simulated for simulated, _ in whole], [observed for _, observed in whole]


def _judged(simulated: list[Signatures], observed: list[Signatures]) -> dict[str, Any]:
    """Return by signature the median error in % and the share of the ranges that hold what was observed."""
    errors, held = ({name: list[float]() for name in NAMES} for _ in range(2))
    order = np.random.default_rng(0).permutation(len(simulated))
    for left in range(LEFT_OUT):
        others, out = [int(at) for at in np.delete(order, slice(left, None, LEFT_OUT))], order[left::LEFT_OUT]
        fitted = SignatureErrors.fit([simulated[at] for at in others], [observed[at] for at in others])
        for at in out:
            for name, of in fitted.estimates(simulated[at]).items():
                truth = observed[at][name]
                held[name].append(of.low <= max(truth, DRY) <= max(of.high, DRY))
                errors[name].append(abs(max(of.value, DRY) / max(truth, DRY) - 1))
    return {
        "basins": len(simulated),
        "signatures": {
            name: {
                "median_error_percent": 100 * float(np.median(errors[name])),
                "held_percent": 100 * float(np.mean(held[name])),
            }
            for name in NAMES
        },
    }
