"""What assimilating observed flow is worth beside the correction of the error model, with observed weather.

100 real basins, forecasts of ten days from every fifth day, of the shipped ensemble: as they are, from states that the
flow of the last days has changed (`operations.states.changed_states`), with the error model's correction by the last
observed
flow, and with both. Each of the four has an error model of its own, fitted to its forecasts of the validation years;
NSE is of its median. Assimilation gains in a basin if the CRPS of its forecasts of the validation years, over all
leads, is lower with it. FRESHET_CAMELS names the data, FRESHET_DATA a data folder, where basins that are missing are
ingested first; one thread.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import TEST, VALIDATION
from benchmarks.regional.data import basins as all_basins
from benchmarks.regional.seasonal.hindcasts import read_forcings
from benchmarks.regional.simulations import observe
from hydrology.base.calendar import Period
from hydrology.scores.probabilistic import crps
from hydrology.scores.scores import nse
from hydrology.uncertainty.error_fit import ErrorPairs, by_class, fit, fit_errors
from hydrology.uncertainty.error_model import LEVELS, BasinErrorModel, BasinErrors, errors_of
from hydrology.uncertainty.error_network import DaysAhead
from models.ensemble import ArrayMap, Ensemble
from models.forcing import Forcing, days_of
from models.pretrained import SHELF, form
from models.pretrained.form import load
from operations.basin_data.dataset import stacked
from operations.states.changed_states import WINDOW_DAYS, increments

ENSEMBLE = "mclstm-maurer-447"
EVERY_DAYS, LEADS = 5, 10
PLAIN, ASSIMILATED = "as computed", "assimilated"
NEITHER, CORRECTED, BOTH = "neither", "corrected", "both"
RIVALS = {
    NEITHER: (PLAIN, False),
    ASSIMILATED: (ASSIMILATED, False),
    CORRECTED: (PLAIN, True),
    BOTH: (ASSIMILATED, True),
}
REPORTED_LEADS = (1, 2, 3, 5, 10)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PastForecasts:
    """Issued forecasts of a basin, mm/day.

    Attributes:
        of_simulation: the errors of its simulation, which scale its flows.
        forecast: (T0, leads), the mean of members and traces.
        observed: (T0, leads), NaN where flow was not observed.
        last_error: (T0,), `errors_of` T0; NaN where flow was not observed.
    """

    of_simulation: BasinErrors
    forecast: Array
    observed: Array
    last_error: Array

    @property
    def mean_flow(self) -> float:
        """Mean flow of the simulation, mm/day."""
        return self.of_simulation.mean_flow

    @property
    def class_flow(self) -> Array:
        """The median simulated flow of each class, mm/day."""
        return self.of_simulation.class_flow

    @property
    def observed_days(self) -> int:
        """Number of T0 with a forecast of at least one observed day."""
        return int(np.isfinite(self.observed).any(axis=1).sum())

    def before(self, gap: int | None) -> tuple[list[Array], list[Array]]:
        """Return the errors at the lead of a gap by class, and those of T0; without a gap of all leads, and zeros.

        A gap beyond the longest lead uses the longest.
        """
        if gap is None:
            forecast, observed = self.forecast.ravel(), self.observed.ravel()
            earlier = np.zeros(len(forecast))
        else:
            lead = min(gap, self.forecast.shape[1]) - 1
            forecast, observed, earlier = self.forecast[:, lead], self.observed[:, lead], self.last_error
        errors = errors_of(self.of_simulation, forecast, observed)
        return by_class(np.abs(forecast[:, None] - self.class_flow).argmin(axis=1), errors, earlier)


@dataclass(frozen=True, slots=True)
class Record:
    """The simulation of some basins over their whole record.

    Attributes:
        forcing: (basins, days).
        discharge: the members' mean, (basins, days), mm/day; observed likewise, NaN where missing.
        states: after every fifth day, each of its arrays (members, basins, days / 5, ...).
    """

    period: Period
    forcing: Forcing
    discharge: Array
    observed: Array
    states: ArrayMap

    def issues(self, text: str) -> npt.NDArray[np.int64]:
        """Return the numbers of the states from which forecasts of a period's days begin."""
        days = days_of(self.period, Period.parse(text))
        number = np.arange(WINDOW_DAYS // EVERY_DAYS, self.states["c"].shape[2])
        first = (number + 1) * EVERY_DAYS
        issues: npt.NDArray[np.int64] = number[(first > days.start) & (first + LEADS <= days.stop)]
        return issues

    def of_days(self, numbers: npt.NDArray[np.int64], first: int, after: int) -> npt.NDArray[np.int64]:
        """Return the places of some days from the first one after each state on, (states, days)."""
        places: npt.NDArray[np.int64] = ((numbers + 1) * EVERY_DAYS)[:, None] + np.arange(first, after)
        return places

    def forcing_of(self, basin: int, places: npt.NDArray[np.int64]) -> Forcing:
        """Return the forcing of some stretches of days of a basin, a sample each."""
        static = np.repeat(self.forcing.static[basin : basin + 1], len(places), axis=0)
        ids = (self.forcing.ids[basin],) * len(places)
        mass, auxiliary = self.forcing.mass[basin][places], self.forcing.auxiliary[basin][places]
        return Forcing(self.forcing.first, mass, auxiliary, static, ids)

    def states_of(self, basin: int, numbers: npt.NDArray[np.int64]) -> list[ArrayMap]:
        """Return states of a basin, a sample each, one map a member."""
        members = len(self.states["c"])
        return [
            {name: values[member, basin, numbers] for name, values in self.states.items()} for member in range(members)
        ]


@dataclass(frozen=True, slots=True)
class Forecasts:
    """The forecasts of a basin over a period: (issues, leads), mm/day, and the error of the simulation at T0."""

    flow: Mapping[str, Array]
    observed: Array
    simulated_t0: Array
    observed_t0: Array


def measure(basins: int = 100) -> dict[str, Any]:
    """Return NSE and CRPS of the four by lead, and in how many basins assimilation gains."""
    names = all_basins()[:: len(all_basins()) // basins][:basins]
    ensemble = load(form.read(SHELF / ENSEMBLE))
    record = _record(ensemble, names)
    validation, test = (
        {name: _forecasts(ensemble, record, at, text) for at, name in enumerate(names)} for text in (VALIDATION, TEST)
    )
    models = {rival: _fitted(record, names, validation, *how) for rival, how in RIVALS.items()}
    scores = {
        text: {
            rival: [_scores(models[rival][name], part[name], *how) for name in names] for rival, how in RIVALS.items()
        }
        for text, part in ((VALIDATION, validation), (TEST, test))
    }
    return {
        "shape": f"{len(names)} basins, every {EVERY_DAYS} days, leads 1 to {LEADS}, window {WINDOW_DAYS} days",
        **{text: {rival: _reported(rows) for rival, rows in of_period.items()} for text, of_period in scores.items()},
        "gains": _gains(scores),
    }


def _record(ensemble: Ensemble, names: list[str]) -> Record:
    forcings = read_forcings(ensemble, names)
    whole, period = stacked([basin.forcing for basin in forcings]), forcings[0].period
    states: list[ArrayMap] | None = None
    flow, at_ends = [], []
    for first in period.days[: len(period) // EVERY_DAYS * EVERY_DAYS : EVERY_DAYS]:
        outputs, states = ensemble.simulate(whole.over(Period(first, first + EVERY_DAYS - 1)), states, ("discharge",))
        flow.append(outputs["discharge"].mean(axis=0, dtype=np.float64))
        at_ends.append({name: np.stack([member[name] for member in states]) for name in states[0]})
    print(f"{len(names)} basins are simulated", file=sys.stderr)
    discharge = np.concatenate(flow, axis=1)
    return Record(
        period,
        whole,
        discharge,
        observe(names, str(period)).discharge[:, : discharge.shape[1]].astype(float),
        {name: np.stack([states_of_day[name] for states_of_day in at_ends], axis=2) for name in at_ends[0]},
    )


def _forecasts(ensemble: Ensemble, record: Record, basin: int, text: str) -> Forecasts:
    numbers = record.issues(text)
    window, ahead = (record.of_days(numbers, *days) for days in ((-WINDOW_DAYS, 0), (0, LEADS)))
    observed, mean_flow = record.observed[basin], float(np.nanmean(record.observed[basin]))
    before = record.states_of(basin, numbers - WINDOW_DAYS // EVERY_DAYS)
    changed = [
        state | {"c": (state["c"] + increment).astype(np.float32)}
        for state, increment in increments(
            ensemble, record.forcing_of(basin, window), before, observed[window], mean_flow
        )
    ]
    outputs, _ = ensemble.simulate(record.forcing_of(basin, ahead), changed, ("discharge",))
    flow = {PLAIN: record.discharge[basin][ahead], ASSIMILATED: outputs["discharge"].mean(axis=0, dtype=np.float64)}
    t0 = window[:, -1]
    return Forecasts(flow, observed[ahead], record.discharge[basin][t0], observed[t0])


def _fitted(
    record: Record, names: list[str], forecasts: Mapping[str, Forecasts], flow: str, corrected: bool
) -> dict[str, BasinErrorModel]:
    days = days_of(record.period, Period.parse(VALIDATION))
    pairs = {name: ErrorPairs(record.discharge[at, days], record.observed[at, days]) for at, name in enumerate(names)}
    simulation = fit(pairs).basins
    past = {}
    for name, of_basin in forecasts.items():
        last = errors_of(simulation[name], of_basin.simulated_t0, of_basin.observed_t0)
        past[name] = PastForecasts(
            simulation[name], of_basin.flow[flow], of_basin.observed, last if corrected else np.zeros_like(last)
        )
    fitted = fit_errors(past)
    return {name: fitted.of_basin(name) for name in names}


def _scores(model: BasinErrorModel, forecasts: Forecasts, flow: str, corrected: bool) -> Array:
    """Return NSE of the median and mean CRPS of each lead, (2, leads), of the days that any rival can be judged on."""
    last = errors_of(model.errors, forecasts.simulated_t0, forecasts.observed_t0)
    rows = []
    for lead in range(1, LEADS + 1):
        at, observed = forecasts.flow[flow][:, lead - 1], forecasts.observed[:, lead - 1]
        known = np.isfinite(observed + last)
        gap = np.full(int(known.sum()), float(lead))
        error = last[known] if corrected else np.zeros(len(gap))
        quantiles = model.quantiles(DaysAhead.after(at[known], gap, error))
        median = quantiles[:, LEVELS.index(0.5)]
        score = nse(median, observed[known]).value if known.any() else None
        mean_crps = crps(quantiles, LEVELS, observed[known]).mean() if known.any() else np.nan
        rows.append((np.nan if score is None else score, mean_crps))
    return np.array(rows).T


def _reported(rows: list[Array]) -> dict[str, dict[str, float]]:
    nses, scores = np.array(rows).swapaxes(0, 1)
    return {
        str(lead): {
            "nse_median_basin": float(np.nanmedian(nses[:, lead - 1])),
            "crps_mm": float(np.nanmean(scores[:, lead - 1])),
        }
        for lead in REPORTED_LEADS
    }


def _gains(scores: Mapping[str, Mapping[str, list[Array]]]) -> dict[str, Any]:
    """Return in how many basins it gains by the validation years, and what it is worth in the test years."""
    shown = {}
    for name, (without, having) in {"alone": (NEITHER, ASSIMILATED), "with the correction": (CORRECTED, BOTH)}.items():
        chosen, judged = (
            np.array([[np.nanmean(row[1]) for row in scores[text][rival]] for rival in (without, having)])
            for text in (VALIDATION, TEST)
        )
        on = chosen[1] < chosen[0]
        shown[name] = {
            "basins_where_it_gains": int(on.sum()),
            "crps_there_without": float(np.nanmean(judged[0, on])) if on.any() else None,
            "crps_there_with": float(np.nanmean(judged[1, on])) if on.any() else None,
            "of_them_lower_in_test_years": int((judged[1, on] < judged[0, on]).sum()),
            "crps_where_chosen_on_all": float(np.nanmean(np.where(on, judged[1], judged[0]))),
            "crps_never": float(np.nanmean(judged[0])),
            "crps_always": float(np.nanmean(judged[1])),
        }
    return shown
