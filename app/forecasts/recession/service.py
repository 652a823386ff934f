"""Recession without further rain, from a run with dry weather."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from app.basins.run_levels import AnsweredLevel, levels_of
from app.forecasts import service as forecasts
from app.forecasts.discharge import Representation, in_units, quantile_columns
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.recession.schemas import AmountOfWater, DrainDownOfRun, DrainedBy, LowFlow
from app.forecasts.words import UNITS, number, on
from app.http.json_numbers import column, rounded
from hydrology.base.absent import Absent, absent, text, texts
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, Units
from hydrology.climatology.volumes import million_m3
from hydrology.uncertainty.weighted import weighted_mean, weighted_quantiles
from hydrology.water.recession import Array, Drained, first_days_below, milestones, reached_by
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs
from records.runs.run_parts import weights_of_members
from records.versions import versions

_LOW, _HIGH = run_types.SPREAD_LEVELS


_ACCOUNT = ("ceiling", "runs_off", "lost", "left", "totals", "in_words")
"""Fields about the fate of the stored water."""


def recession_of_run(session: Session, latest: Latest, at: datetime | None, units: Units) -> DrainDownOfRun:
    """Return the recession of a run with dry weather; `at`: clock time for the newest run.

    Raises:
        NoArea: the run names no area, and flows are requested.
    """
    run, basin, days = latest.run, latest.basin, days_ahead(latest.run)
    wanted = ("discharge", "discharge_quantiles", "loss", "storage", "cells_at_t0")
    arrays = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    missing = missing_in_header(basin)
    account = _account(arrays, basin, days["time"])
    if account["ceiling"] is None:
        conserving = versions.conserving(session, [run.version_id])[run.version_id]
        missing |= dict.fromkeys(account, forecasts.why_no_account(basin, conserving))
    elif basin.area_m2 is None:
        missing["totals.runs_off_volume"] = absent(Reason.RUN_WITHOUT_AREA)
    discharge = low_flows = None
    if not arrays:
        missing |= dict.fromkeys(("discharge", "low_flows"), basin.why_missing)
    else:
        discharge = quantile_columns(arrays["discharge_quantiles"], basin, Representation(units, members=False))
        spell = _Spell(
            arrays["discharge"].values.astype(np.float64), _weights(arrays, basin), basin, days["time"], units
        )
        low_flows = [
            spell.low_flow(level) for level in levels_of(session, run, basin, units) if level.direction == "falling"
        ]
    return DrainDownOfRun(
        **header(latest, at),
        **days,
        units={
            **dict.fromkeys(("discharge", "low_flows.discharge"), units),
            **dict.fromkeys(("ceiling", "runs_off", "lost", "left", "totals"), "mm"),
            "totals.runs_off_volume": "1e6 m3",
        },
        discharge=discharge,
        **account,
        low_flows=low_flows,
        missing=texts(missing),
    )


def _account(
    arrays: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin, days: Sequence[date]
) -> dict[str, Any]:
    if "storage" not in arrays:
        return dict.fromkeys(_ACCOUNT)
    held, weights = arrays["cells_at_t0"].values.sum(axis=1, dtype=np.float64), _weights(arrays, basin)
    flow, loss, storage = (arrays[name].values for name in ("discharge", "loss", "storage"))
    drained = Drained.of(flow, loss, storage, held)
    of_members = (drained.runs_off, drained.lost, drained.left)
    runs_off, lost, left = (column(weighted_mean(values, weights)) for values in of_members)
    ceiling = rounded(float(weighted_mean(held, weights)))
    return {
        "ceiling": ceiling,
        "runs_off": runs_off,
        "lost": lost,
        "left": left,
        "totals": [_by(drained, weights, lead, basin, days) for lead in milestones(len(days))],
        "in_words": f"If no more rain or snow fell, {number(runs_off[-1])} of the {number(ceiling)} mm of water in the "
        f"basin would run off by {on(days[-1])}, {number(lost[-1])} mm be lost and {number(left[-1])} mm be left.",
    }


def _weights(arrays: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin) -> Array | None:
    return weights_of_members(basin.summary.parts, arrays["discharge"].axes["member"])


def _by(
    drained: Drained, weights: Array | None, lead: int, basin: run_types.RunBasin, days: Sequence[date]
) -> DrainedBy:
    runs_off, lost, left = (values[:, lead - 1] for values in (drained.runs_off, drained.lost, drained.left))
    volume = None
    if basin.area_m2 is not None and basin.area_name is not None:
        mean = weighted_mean(runs_off[:, np.newaxis], weights)
        (volume,) = column(million_m3(mean, Area(basin.area_name, basin.area_m2)))
    return DrainedBy(
        day=days[lead - 1],
        days=lead,
        runs_off=_amount(runs_off, weights),
        runs_off_volume=volume,
        lost=_amount(lost, weights),
        left=_amount(left, weights),
    )


def _amount(of_members: Array, weights: Array | None) -> AmountOfWater:
    spread = weighted_quantiles(of_members, (_LOW, _HIGH), weights)
    mean, low, high = column(np.array([weighted_mean(of_members, weights), *spread]))
    return AmountOfWater(mean=mean, p05=low, p95=high)


@dataclass(frozen=True, slots=True)
class _Spell:
    """Members' flow in a dry spell, (members, days) in mm/day, with their weights, and the answer's unit."""

    flow: Array
    weights: Array | None
    basin: run_types.RunBasin
    days: Sequence[date]
    units: Units

    def low_flow(self, level: AnsweredLevel) -> LowFlow:
        """Return the first day with flow below a level."""
        firsts = np.full(len(self.flow), np.inf)
        reason = self._why_not_asked(level)
        if reason is None and level.depth is not None:
            firsts = first_days_below(self.flow, level.depth)
            below = int(np.isfinite(firsts).sum())
            if reached_by(firsts, _HIGH, self.weights) is None:
                reason = absent(Reason.LEVEL_NOT_PASSED, below=below, members=len(firsts), days=len(self.days))
        low, half, high = (reached_by(firsts, share, self.weights) for share in (_LOW, 0.5, _HIGH))
        return LowFlow(
            name=level.name or "",
            discharge=None if level.shown is None else rounded(level.shown),
            day=self._day(half),
            p05=self._day(low),
            p95=self._day(high),
            days=half,
            in_words=None if half is None else self._sentence(level, low, half, high),
            reason=text(reason),
        )

    def _why_not_asked(self, level: AnsweredLevel) -> Absent | None:
        """Return why flow cannot fall below a level; None where it can."""
        if level.depth is None:
            return level.reason
        if level.depth == 0:
            return absent(Reason.DRY_RIVER)
        at_t0 = self.basin.summary.flow_at_t0_mm
        if at_t0 is None or at_t0 >= level.depth:
            return None
        (flow,) = in_units(np.array([at_t0]), self.basin, self.units).tolist()
        return absent(Reason.BELOW_AT_T0, flow=number(flow), unit=UNITS[self.units])

    def _day(self, lead: int | None) -> date | None:
        return None if lead is None else self.days[lead - 1]

    def _sentence(self, level: AnsweredLevel, low: int | None, half: int, high: int | None) -> str:
        assert level.shown is not None
        assert low is not None
        sentence = (
            f"Without rain, flow falls below {level.name} ({number(level.shown)} {UNITS[self.units]}) on "
            f"{on(self.days[half - 1])}; in 5 % of the members by {on(self.days[low - 1])}"
        )
        return f"{sentence}." if high is None else f"{sentence}, in 95 % by {on(self.days[high - 1])}."
