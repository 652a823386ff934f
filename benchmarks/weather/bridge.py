"""What a bridge is worth in flow: the shipped ensemble driven by Daymet and NLDAS, as they are and bridged to Maurer.

Two tests on real basins (FRESHET_CAMELS). USGS-01031500 has Daymet until 2014: bridges are fitted in the training years
and judged by the flow after Maurer ends, and by that of the years before. Four basins have Daymet and NLDAS in
2000-2002: bridges are fitted on two of the years and judged by the flow of the third, each in turn; the states of the
day before 2000 come from Maurer.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import camels
from benchmarks.weather.bridge_forms import NONE, POOLED, STORED, bridges
from hydrology.base.calendar import Day, Period, day
from hydrology.base.units import Area, to_mm_per_day
from hydrology.scores.scores import nse
from hydrology.weather.bridge import BRIDGED, MOVED, PRECIPITATION, DailyWeather
from ingestion.sources.camels import CamelsSource
from models.ensemble import Ensemble
from models.forcing import Forcing, days_of
from models.pretrained import DEFAULT, SHELF, form
from models.pretrained.form import load

LONG, FOUR = "USGS-01031500", ("USGS-01022500", "USGS-01547700", "USGS-02064000", "USGS-03015500")
MAURER, DAYMET, NLDAS = "maurer_extended", "daymet", "nldas"
FITTED, AFTER = Period.parse("1999-10-01..2008-09-30"), Period.parse("2009-10-01..2014-09-30")
TEST_YEARS = Period.parse("1989-10-01..1999-09-30")
SHORT = Period.parse("2000-01-01..2002-12-31")
YEARS = (2000, 2001, 2002)
MIXTURES = {"stored, with Maurer's precipitation": (PRECIPITATION,), "stored, with Maurer's temperatures": MOVED}
"""The stored form with some variables of Maurer itself, to find out whose errors matter."""
_SPIN_UP = np.timedelta64(730, "D")

Flow = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gauge:
    """A basin: weather by product, attributes by name, discharge in mm/day from its first day on."""

    weather: Mapping[str, DailyWeather]
    attributes: Mapping[str, float]
    first: Day
    discharge: Flow


@dataclass(frozen=True, slots=True)
class Drive:
    """A simulation: the weather of a basin, and the days that it is judged by."""

    basin: str
    weather: DailyWeather
    judged: Period


def measure() -> dict[str, Any]:
    """Return the NSE of each form, with Maurer's where it has those years."""
    shipped = form.read(SHELF / DEFAULT)
    ensemble = load(shipped)
    gauges = {basin: gauge(basin) for basin in (LONG, *FOUR)}
    return {
        "ensemble": f"{shipped.name}, {len(ensemble.networks)} members",
        LONG: _long(ensemble, gauges),
        "four basins": {product: _four(ensemble, gauges, product) for product in (DAYMET, NLDAS)},
    }


def gauge(basin: str) -> Gauge:
    """Return one of the basins of the two tests."""
    folder = camels()
    long = [folder / "maurer_extended.zip", folder / "basin_timeseries_v1p2_metForcing_obsFlow.zip"]
    data = CamelsSource([*long, folder / "camels_attributes_v2.0", folder / "daymet_record"]).read(basin)
    series = list(data.series)
    if basin in FOUR:
        for product in (DAYMET, NLDAS):
            extract = folder / "original_formats" / f"{product}_3yr_extract"
            series += CamelsSource([extract], product).read(basin).series
    by_key = {(one.product, one.variable): one.series for one in series}
    weather = {}
    for product in {product for product, variable in by_key if variable == PRECIPITATION}:
        whole = by_key[product, PRECIPITATION].period
        values = {name: by_key[product, name].over(whole).values.astype(np.float64) for name in BRIDGED}
        weather[product] = DailyWeather(whole.first, values)
    flow = by_key["usgs", "discharge"]
    depth = to_mm_per_day(flow.values, unit=flow.unit, area=Area(MAURER, data.areas[MAURER]))
    return Gauge(weather, data.attributes, flow.start, depth.astype(np.float64))


def _long(ensemble: Ensemble, gauges: Mapping[str, Gauge]) -> dict[str, Any]:
    """Return the NSE of each form in the years after Maurer, and in those before the fitted ones."""
    daymet = {basin: gauge.weather[DAYMET] for basin, gauge in gauges.items()}
    fitted = {LONG: FITTED} | dict.fromkeys(FOUR, SHORT)
    pairs = {
        basin: (daymet[basin].over(days), gauges[basin].weather[MAURER].over(days)) for basin, days in fitted.items()
    }
    forms = {name: bridge(daymet[LONG]) for name, bridge in bridges(LONG, pairs).items()}
    result: dict[str, Any] = {}
    for judged in (AFTER, TEST_YEARS):
        drives = {name: Drive(LONG, weather, judged) for name, weather in forms.items()}
        if judged == TEST_YEARS:
            drives[MAURER] = Drive(LONG, gauges[LONG].weather[MAURER], judged)
        result[str(judged)] = _scores(ensemble, gauges, drives)
    return {"fitted": str(FITTED), "nse": result}


def _four(ensemble: Ensemble, gauges: Mapping[str, Gauge], product: str) -> dict[str, Any]:
    """Return each form's mean NSE over the basins and years, and of the chief ones that of each basin and year."""
    drives: dict[tuple[str, str, int], Drive] = {}
    for year in YEARS:
        judged = Period(day(f"{year}-01-01"), day(f"{year}-12-31"))
        pairs = {}
        for basin in FOUR:
            of_two = gauges[basin].weather[product].over(SHORT)
            for values in of_two.values.values():
                values[days_of(SHORT, judged)] = np.nan
            pairs[basin] = (of_two, gauges[basin].weather[MAURER].over(SHORT))
        for basin in FOUR:
            maurer = gauges[basin].weather[MAURER]
            for name, bridge in bridges(basin, pairs).items():
                bridged = bridge(gauges[basin].weather[product].over(SHORT))
                joined = _joined(maurer, bridged)
                drives[name, basin, year] = Drive(basin, joined, judged)
                if name == STORED:
                    for mixture, variables in MIXTURES.items():
                        mixed = dict(joined.values) | {variable: maurer.values[variable] for variable in variables}
                        drives[mixture, basin, year] = Drive(basin, DailyWeather(maurer.first, mixed), judged)
            drives[MAURER, basin, year] = Drive(basin, maurer, judged)
    scores = _scores(ensemble, gauges, drives)
    by_form: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, basin, year), score in scores.items():
        by_form[name][f"{basin} {year}"] = score
    return {
        "mean nse of each year held out": {
            name: round(float(np.mean(list(of_years.values()))), 3) for name, of_years in by_form.items()
        },
        "nse": {name: by_form[name] for name in (NONE, STORED, *MIXTURES, POOLED, MAURER)},
    }


def _joined(maurer: DailyWeather, bridged: DailyWeather) -> DailyWeather:
    """Return Maurer's weather with another's on the days that it has; the last day may wait for the next."""
    days = days_of(maurer.period, SHORT)
    values = {name: of_all.copy() for name, of_all in maurer.values.items()}
    for name, other in bridged.values.items():
        values[name][days] = np.where(bridged.complete, other, values[name][days])
    return DailyWeather(maurer.first, values)


def _scores(ensemble: Ensemble, gauges: Mapping[str, Gauge], drives: Mapping[Any, Drive]) -> dict[Any, float]:
    """Run the drives together, each from an empty store two years before its days, and return their NSE."""
    first = min(drive.judged.first for drive in drives.values()) - _SPIN_UP
    days = Period(first, max(drive.judged.last for drive in drives.values()))
    inputs = ensemble.config.inputs
    parts = [drive.weather.over(days).values for drive in drives.values()]
    forcing = Forcing(
        first,
        np.stack([values[inputs.mass] for values in parts]).astype(np.float32),
        np.stack([np.stack([values[name] for name in inputs.auxiliary], -1) for values in parts]).astype(np.float32),
        np.array([[gauges[drive.basin].attributes[name] for name in inputs.static] for drive in drives.values()], "f4"),
        tuple(drive.basin for drive in drives.values()),
    )
    outputs, _ = ensemble.simulate(forcing, None, ("discharge",))
    flows = outputs["discharge"].mean(axis=0)
    scores = {}
    for (key, drive), flow in zip(drives.items(), flows, strict=True):
        gauge, judged = gauges[drive.basin], days_of(days, drive.judged)
        of_gauge = Period(gauge.first, gauge.first + np.timedelta64(len(gauge.discharge) - 1, "D"))
        score = nse(flow[judged], gauge.discharge[days_of(of_gauge, drive.judged)], days=drive.judged.days)
        assert score.value is not None, f"{key} {score.reason}"
        scores[key] = round(score.value, 3)
    return scores
