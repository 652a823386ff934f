"""What is in a snowy basin on 1 April beside what ran off from April to July: ten test years of 40 basins.

From the states of 31 March the ensemble goes on to 31 July with the weather of other years (ESP); of its discharge the
part is taken that was in the basin on 31 March, the mean of members and traces. Beside it stands the reference snow
water equivalent of 1 April, from which such volumes are often estimated. Each is compared with the observed volume by
its correlation over the years of a basin.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import TEST, opened
from benchmarks.regional.seasonal.hindcasts import fanned_out, read_forcings, started, traces_of
from benchmarks.regional.seasonal.volumes import issues_of
from benchmarks.regional.simulations import observe
from benchmarks.regional.snow_cells import snowy
from models.ensemble import ArrayMap, Ensemble
from models.forcing import days_of
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.simulate import LATER, ORIGINS, OTHER
from operations.forecasting.weather_ahead import RunDays
from operations.verification.snow_cells import reference_snow

Array = npt.NDArray[np.float64]

FIRST_DAY = "04-01"
MIN_YEARS = 5  # with an observed volume and a reference: fewer give no correlation


def measure(ensemble: Ensemble) -> dict[str, Any]:
    """Return the correlations."""
    database = opened()
    names = snowy(database)
    basins = read_forcings(ensemble, names)
    record = basins[0].period
    with database.reading() as session:
        references = [reference_snow(session, name, record) for name in names]
    database.close()
    issues = issues_of((FIRST_DAY,), None)
    flow = observe(names, str(record)).discharge.astype(np.float64)
    volumes = np.stack([flow[:, days_of(record, issue.ahead)].sum(axis=1) for issue in issues], axis=1)
    on_the_day = [int((issue.ahead.first - record.first).astype(int)) for issue in issues]
    swe = np.stack([np.full(len(issues), np.nan) if one is None else one.swe[on_the_day] for one in references])
    stored, discharge = _forecast(ensemble, basins, issues)
    by_basin = {
        name: {
            "years": int(known.sum()),
            "stored": _correlation(of_stored[known], observed[known]),
            "reference": _correlation(of_swe[known], observed[known]),
            "all_discharge": _correlation(of_all[known], observed[known]),
        }
        for name, of_stored, of_swe, of_all, observed, known in zip(
            names, stored, swe, discharge, volumes, np.isfinite(volumes) & np.isfinite(swe), strict=True
        )
        if known.sum() >= MIN_YEARS
    }
    return {
        "judged_on": TEST,
        "basins": len(by_basin),
        "correlation": {
            name: np.percentile(np.array([row[name] for row in by_basin.values()]), [25, 50, 75]).tolist()
            for name in ("stored", "reference", "all_discharge")
        },
        "share_stored": float(np.median(stored / discharge)),
        "by_basin": by_basin,
    }


def _forecast(ensemble: Ensemble, basins: Sequence[BasinForcing], issues: Sequence[RunDays]) -> tuple[Array, Array]:
    """Return the volume that was in each basin at T0, and all that is forecast, (basins, issues), mm."""
    stored, discharge = list[Array](), list[Array]()
    for days, _, states in started(ensemble, basins, issues):
        print(f"from {days.t0}", file=sys.stderr, flush=True)
        weather, count = traces_of(basins, days)
        split = [fanned_out(_distinguished(member), count) for member in states]
        tag = np.full(days.horizon, LATER)
        parts = np.mean(
            [
                outputs["discharge_by_tag"].sum(axis=1, dtype=np.float64)
                for outputs, _ in ensemble.each(weather, split, ("discharge_by_tag",), tag)
            ],
            axis=0,
        ).reshape(len(basins), count, len(ORIGINS))
        stored.append(parts[..., OTHER].mean(axis=1))
        discharge.append(parts.sum(axis=-1).mean(axis=1))
    return np.stack(stored, axis=1), np.stack(discharge, axis=1)


def _distinguished(state: ArrayMap) -> ArrayMap:
    """Return a state with all of its water of one origin."""
    tags = np.zeros((*state["c"].shape, len(ORIGINS)), state["c"].dtype)
    tags[..., OTHER] = state["c"]
    return state | {"tags": tags}


def _correlation(shown: Array, observed: Array) -> float:
    return float(np.corrcoef(shown, observed)[0, 1])
