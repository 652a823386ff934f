"""A real forecast of a basin, and others like it: its values times a factor, which compress as the real ones do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from records.database.array_codec import decode_ranks, encode_ranks
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_arrays import PATHS, Ledger, RunSeries, SinceEmpty
from records.runs.tables import NewState, State


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a day's runs left of a basin.

    Attributes:
        results: of its runs, by the kind of their weather.
        state: of T0.
        weather: the forecast that the run with supplied weather used.
    """

    results: Mapping[str, run_types.BasinResult]
    state: State
    weather: WeatherForecast

    @classmethod
    def read(
        cls, session: Session, basin: str, by_kind: Mapping[str, run_types.Run], weather: WeatherForecast
    ) -> "Pattern":
        """Return what is stored of a basin.

        Args:
            by_kind: the run of each kind of weather.
        """
        results = {}
        for kind, run in by_kind.items():
            row = runs.basin_of(session, run.id, basin)
            content = runs.content_of_many(session, [(run.id, basin)])[run.id, basin]
            results[kind] = run_types.BasinResult(basin=row, series=[*content.series.values()], ledgers=content.ledgers)
        state = states.get(session, run.version_id, basin, run.t0)
        assert state is not None
        return cls(results, state, weather)

    def state_like(self, basin: str, t0: Day, factor: np.float32) -> NewState:
        """Return the state of another basin and day."""
        sums, flow = self.state.sums, self.state.recent_flow
        assert sums is not None
        assert flow is not None
        return NewState(
            version_id=self.state.version_id,
            basin_id=basin,
            day=t0,
            product=self.state.product,
            arrays={name: values * factor for name, values in self.state.arrays.items()},
            parent_day=t0 - 1,
            parent_hash=self.state.sha256,
            inputs_hash=self.state.inputs_hash,
            spin_up_days=self.state.spin_up_days,
            sums={name: values * float(factor) for name, values in sums.items()},
            recent_flow=flow * factor,
        )

    def result_like(self, kind: str, state: State, factor: np.float32) -> run_types.BasinResult:
        """Return the result of a run of some kind of weather that began from such a state."""
        result = self.results[kind]
        return run_types.BasinResult(
            basin=replace(
                result.basin,
                basin_id=state.basin_id,
                parent_day=state.parent_day,
                parent_hash=state.parent_hash,
                state_hash=state.sha256,
            ),
            series=_scaled(result.series, factor),
            ledgers=[_scaled_ledger(ledger, float(factor)) for ledger in result.ledgers],
        )

    def weather_like(self, issue: WeatherIssue, basin: str, first: Day, factor: np.float32) -> WeatherForecast:
        """Return a weather forecast of another basin and day."""
        rain = self.weather.values["precipitation"] * factor
        values = {**self.weather.values, "precipitation": rain}
        return replace(self.weather, issue=issue, basin=basin, first=first, values=values)


def _scaled(series: Sequence[RunSeries], factor: np.float32) -> list[RunSeries]:
    before = {of.variable: of for of in series}
    after = {of.variable: replace(of, values=of.values * factor) for of in series}
    if PATHS in after:  # paths that are stored by the ranks of their quantiles stay so
        levels, quantiles = before[run_arrays.CALIBRATED].axes["level"], before[run_arrays.CALIBRATED].values
        ranks = encode_ranks(before[PATHS].values, levels, quantiles)
        if ranks is not None:
            after[PATHS] = replace(
                after[PATHS], values=decode_ranks(ranks, levels, after[run_arrays.CALIBRATED].values)
            )
    return [*after.values()]


def _scaled_ledger(ledger: Ledger, factor: float) -> Ledger:
    since = ledger.since_empty
    return replace(
        ledger,
        terms={name: amount * factor for name, amount in ledger.terms.items()},
        residual_mm=ledger.residual_mm * factor,
        tolerance_mm=ledger.tolerance_mm * factor,
        since_empty=SinceEmpty(
            residual_mm=since.residual_mm * factor, precipitation_mm=since.precipitation_mm * factor
        ),
    )
