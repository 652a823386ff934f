"""A year of one real basin, from October to July: the forecasts on the way, and the observed outcome.

USGS-09081600, Crystal River above Avalanche Creek, in the water year 1996, a test year of the shipped ensemble. From
five days of that year it forecasts until the end of July with the weather of other years, as it would have then. Two
pictures in `docs/pictures/`, and the figures of docs/understand/story.md. FRESHET_CAMELS names the data, FRESHET_DATA a
data folder, where basins that are missing are ingested first.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot
from matplotlib.axes import Axes

from benchmarks.regional.data import TEST, opened
from benchmarks.regional.simulations import observe
from hydrology.base.calendar import Day, Period, day
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from operations.training.pretrained import install, read_shipped
from operations.verification.evaluate import evaluate
from operations.verification.snow_cells import reference_snow
from records.database.engine import Database
from records.runs import run_arrays, run_types, runs
from records.runs.runs import RunRequest
from runtime.clock import Clock
from testing.work import work_of

BASIN, ENSEMBLE = "USGS-09081600", "mclstm-maurer-447"
YEAR = Period.parse("1995-10-01..1996-07-31")
ISSUES = ("1995-12-01", "1996-02-01", "1996-04-01", "1996-05-15", "1996-07-01")
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
SNOW, OTHER, LATER = "#7aa6c2", "#b5a789", "#3b6ea5"

Array = npt.NDArray[np.float64]
Series = Mapping[str, run_arrays.RunSeries]


def measure() -> dict[str, Any]:
    """Draw the pictures; return what each forecast gave until the end of July, and what was observed."""
    database, clock = opened(), Clock()
    version = install(work_of(database, clock), read_shipped(ENSEMBLE)).version_id
    evaluate(work_of(database, clock), version, Period.parse(TEST), [BASIN])
    observed = observe([BASIN], str(YEAR)).discharge[0].astype(float)
    past = _run(database, clock, version, YEAR.first - 1, "observed")
    with database.reading() as session:
        reference = reference_snow(session, BASIN, YEAR)
    assert reference is not None
    issued = {text: _run(database, clock, version, day(text), "climatology") for text in ISSUES}
    database.close()
    _draw(past, issued, observed, reference.swe.astype(float))
    return {text: _reported(series, observed, day(text)) for text, series in issued.items()}


def _run(database: Database, clock: Clock, version: str, t0: Day, weather: Any) -> Series:
    """Return the arrays of a run from a day to the end of July."""
    horizon = int((YEAR.last - t0).astype(int))
    params = ForecastParams(basins=[BASIN], t0=t0, horizon=horizon, version=version, weather=weather)
    (run,) = forecast(work_of(database, clock), RunRequest(params, purpose="reforecast"))
    with database.reading() as session:
        return runs.series_of(session, run.id, BASIN)


def _reported(series: Series, observed: Array, t0: Day) -> dict[str, float]:
    """Return amounts of water in mm until the end of July."""
    parts = _means(series)
    cells = series["cells_at_t0"].values.sum(axis=1, dtype=np.float64).mean()
    volumes = series[run_arrays.PATHS].values.sum(axis=-1, dtype=np.float64)
    came = observed[int((t0 - YEAR.first).astype(int)) + 1 :].sum()
    return {
        "stored_at_t0": round(float(cells), 1),
        "snow_at_t0": round(float(_snow_before(series)), 1),
        "runs_off_of_what_is_stored": round(float(parts["stored"].sum()), 1),
        "of_it_snow": round(float(parts["snow"].sum()), 1),
        "runs_off_of_what_has_yet_to_fall": round(float(parts["yet_to_fall"].sum()), 1),
        "forecast_p05": round(float(np.quantile(volumes, 0.05)), 1),
        "forecast_median": round(float(np.median(volumes)), 1),
        "forecast_p95": round(float(np.quantile(volumes, 0.95)), 1),
        "observed": round(float(came), 1),
    }


def _means(series: Series) -> dict[str, Array]:
    origin = series[run_types.ORIGIN]
    return {name: rows[0].astype(float) for name, rows in zip(origin.axes["origin"], origin.values, strict=True)}


def _snow_before(series: Series) -> float:
    """Return the snow on the first day ahead, the mean of members and traces, mm."""
    snow = series["snow"]
    return float(snow.values[..., 0].mean(dtype=np.float64))


def _draw(past: Series, issued: Mapping[str, Series], observed: Array, reference: Array) -> None:
    pyplot.switch_backend("svg")
    pyplot.rcParams.update({"svg.hashsalt": "freshet", "svg.fonttype": "none"})  # the same file each time
    PICTURES.mkdir(parents=True, exist_ok=True)
    _draw_year(past, observed, reference)
    _draw_origins(issued, observed)


def _draw_year(past: Series, observed: Array, reference: Array) -> None:
    figure, (rain, stored, flow) = pyplot.subplots(3, sharex=True, figsize=(8, 7), height_ratios=(1, 2, 2))
    days = YEAR.days
    rain.bar(days, past["precipitation"].values, width=1.0, color=LATER)
    rain.set_ylabel("precipitation\nmm/day")
    snow = past["snow"].values.mean(axis=0)
    stored.fill_between(days, 0, snow, color=SNOW, label="in the cells that read as snow")
    stored.fill_between(days, snow, past["storage"].values.mean(axis=0), color=OTHER, label="in the other cells")
    stored.plot(days, reference, color="black", linewidth=1, label="reference snow (University of Arizona)")
    stored.set_ylabel("water in the basin\nmm")
    stored.legend(frameon=False)
    flow.plot(days, past["discharge"].values.mean(axis=0), color=LATER, label="simulated")
    flow.plot(days, observed, color="black", linewidth=1, label="observed")
    flow.set_ylabel("discharge\nmm/day")
    flow.legend(frameon=False)
    _save(figure, "story-year.svg")


def _draw_origins(issued: Mapping[str, Series], observed: Array) -> None:
    figure, panels = pyplot.subplots(len(issued), sharex=True, sharey=True, figsize=(8, 9))
    for panel, (text, series) in zip(panels, issued.items(), strict=True):
        _draw_origin(panel, series, day(text))
        panel.plot(YEAR.days, observed, color="black", linewidth=1, label="observed")
        panel.set_title(f"issued {text}", loc="left", fontsize=9)
        panel.set_ylabel("mm/day")
    panels[0].legend(frameon=False, fontsize=8)
    _save(figure, "story-origin.svg")


def _draw_origin(panel: Axes, series: Series, t0: Day) -> None:
    parts = _means(series)
    days = Period(t0 + 1, YEAR.last).days
    heights = [parts["other"], parts["snow"], parts["yet_to_fall"]]
    names = ["was in other cells at T0", "was snow at T0", "falls after T0 (mean of other years)"]
    panel.stackplot(days, heights, colors=[OTHER, SNOW, LATER], labels=names)


def _save(figure: Any, name: str) -> None:
    figure.tight_layout()
    figure.savefig(PICTURES / name, metadata={"Date": None})
    pyplot.close(figure)
