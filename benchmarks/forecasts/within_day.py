"""What a flow measured at noon gains for a day's forecast: CRPS of the rest of day 0 to day 3, with and without it.

12 real basins, 60 days of replayed issues of the shipped ensemble: 11 traces of perturbed weather, T0 is the day
before. CAMELS-US has daily flow alone, so the flow of noon is derived: by the slope at noon of the monotone cubic
curve through the cumulated volumes at the midnights (Fritsch and Carlson 1980, doi:10.1137/0717021), which conserves
the mean of each day; the update itself interpolates otherwise. It is then given an error of 5 % (lognormal), as of a
rating. `without_error` leaves that out. The rest of day 0 is its afternoon. CPU seconds are of a whole update as it is
stored, after a first one. FRESHET_CAMELS names the data, FRESHET_DATA a folder to hold the replay for another time.
"""

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from benchmarks.pages.stores import ENSEMBLE, run
from benchmarks.regional import data
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, as_date, begin_of
from hydrology.base.units import mm_per_day_to_m3s
from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.exceedance import FlowAdjustment, FlowAhead
from hydrology.uncertainty.weighted import weighted_quantiles
from hydrology.uncertainty.within_day import flow_at, moves
from operations.basin_data.dataset import load_discharge
from records.access.audit import Actor
from records.database.engine import Database
from records.outlooks import updates
from records.outlooks.flow_outlooks import ARRAYS, flow_before
from records.runs import runs
from records.runs.run_types import Run, RunBasin
from records.versions import versions

FIRST, SPACING = "1997-01-15", 37
NOON, ERROR, LEADS = 0.5, 0.05, 4
AFTERNOON = np.linspace(NOON, 1, 25)


def measure(basins: int = 12, days: int = 60) -> dict[str, Any]:
    """Return the CRPS by day, the share of basins in which it is lower with the update, and CPU seconds."""
    names = data.basins()[::SPACING][:basins]
    with TemporaryDirectory(dir="/tmp") as folder:
        store = Path(os.environ.get("FRESHET_DATA", folder))
        period = Period.parse(f"{FIRST}..{np.datetime64(FIRST) + (days - 1)}")
        if not (store / "freshet.sqlite").exists():
            _make(store, names, period)
        database = Database(f"sqlite:///{store / 'freshet.sqlite'}")
        try:
            scores = {name: _scores(database, name, period) for name in names}
            return {"basins": len(names), "days": days, **_reported(scores), "cost": _cost(database, names)}
        finally:
            database.close()


def _make(store: Path, names: list[str], period: Period) -> None:
    after = datetime.combine(as_date(period.last) + timedelta(days=30), datetime.min.time(), UTC)
    files = [part for file in data.FILES for part in ("--from", str(data.camels() / file))]
    run(store, after, "ingest", "camels", *files, *(part for name in names for part in ("--basin", name)))
    run(store, after, "models", "install-pretrained", ENSEMBLE, "--promote")
    dates = ("--from", str(period.first), "--to", str(period.last))
    run(store, after, "replay", *dates, "--horizon", "5", "--latency", "0")


def _scores(database: Database, name: str, period: Period) -> dict[str, Array]:
    """Return the CRPS of the issues, (issues, days), by forecast."""
    chance = np.random.default_rng(len(name) + int(name[-8:]))
    around = Period(period.first - 3, period.last + 10)
    found: dict[str, list[list[float]]] = {"issued": [], "updated": [], "without_error": []}
    with database.reading() as session:
        issued = runs.list_runs(session, basin=name, purpose="operational")
        flow = load_discharge(session, name, versions.get(session, issued[0].version_id).area_products, around)
        assert isinstance(flow, np.ndarray)
        for one in issued:
            at = int((one.t0 - around.first).astype(int)) + 1
            observed = flow.astype(float)[at - 2 : at + LEADS + 2]
            series = runs.series_of(session, one.id, name, ARRAYS)
            ahead = runs.calibrated_flow(series)
            if ahead is None or not np.isfinite(observed).all():
                continue
            volumes = PchipInterpolator(np.arange(len(observed) + 1), np.append(0.0, observed.cumsum()))
            noon, afternoon = float(volumes(2 + NOON, 1)), float(volumes(3) - volumes(2 + NOON)) / (1 - NOON)
            before = flow_before(one, runs.basin_of(session, one.id, name), series, ("calibrated", ahead))
            assert before is not None
            happened = np.array([afternoon, *observed[2 : 2 + LEADS]])
            read = noon * float(np.exp(ERROR * chance.standard_normal()))
            forecasts = {"issued": ahead}
            for kind, flow_of_noon in (("updated", read), ("without_error", noon)):
                moved = moves(ahead.paths, before, 0, NOON, flow_of_noon)
                forecasts[kind] = FlowAdjustment(moves=moved.tolist()).adjusted_ahead(ahead)
            for kind, forecast in forecasts.items():
                found[kind].append(_crps(forecast, before, happened))
    return {kind: np.array(rows) for kind, rows in found.items()}


def _crps(forecast: FlowAhead, before: float, happened: Array) -> list[float]:
    """Return the CRPS of the afternoon of day 0 and of its days, from day 0 on."""
    yesterday = np.full((len(forecast.paths), 1), before)
    rest = flow_at(AFTERNOON, yesterday, forecast.paths[:, :1], forecast.paths[:, 1:2]).mean(axis=1)
    quantiles = np.vstack([weighted_quantiles(rest, forecast.levels, None), forecast.quantiles.T[:LEADS]])
    return [float(value) for value in crps(quantiles, forecast.levels, happened)]


def _reported(scores: Mapping[str, Mapping[str, Array]]) -> dict[str, Any]:
    days = ("rest of day 0", *(f"day {lead}" for lead in range(LEADS)))
    means = {kind: np.array([of[kind].mean(axis=0) for of in scores.values()]) for kind in ("issued", "updated")}
    plain = np.array([of["without_error"].mean(axis=0) for of in scores.values()])
    shown = {}
    for at, day in enumerate(days):
        issued, updated = means["issued"][:, at], means["updated"][:, at]
        shown[day] = {
            "crps_issued_mm": round(float(issued.mean()), 4),
            "crps_updated_mm": round(float(updated.mean()), 4),
            "crps_without_error_mm": round(float(plain[:, at].mean()), 4),
            "median_gain_percent": round(100 * float(np.median(1 - updated / issued)), 1),
            "better_in_percent_of_basins": round(100 * float((updated < issued).mean()), 1),
        }
    return {"issues": int(sum(len(of["issued"]) for of in scores.values())), "scores": shown}


def _cost(database: Database, names: list[str]) -> dict[str, float]:
    """Return the CPU seconds of an update of each basin's last forecast, as it is stored."""
    spent = []
    for name in [names[0], *names]:
        with database.reading() as session:
            newest: Run = runs.list_runs(session, basin=name, purpose="operational")[0]
            of_basin: RunBasin = runs.basin_of(session, newest.id, name)
            ahead = runs.calibrated_flow(runs.series_of(session, newest.id, name))
        assert ahead is not None
        assert of_basin.area is not None
        flow = float(mm_per_day_to_m3s(float(ahead.median[0]), area=of_basin.area))
        measured_at = begin_of(newest.t0 + 1, "UTC") + timedelta(hours=19)
        began = time.process_time()
        with database.transaction() as session:
            updates.update(session, name, measured_at, flow, Actor("benchmark"), measured_at)
            session.rollback()  # so that it can be measured again
        spent.append(time.process_time() - began)
    return {"cpu_s_median": round(float(np.median(spent[1:])), 3), "cpu_s_most": round(max(spent[1:]), 3)}
