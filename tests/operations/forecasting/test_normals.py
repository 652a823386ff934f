"""Normal flow on the days ahead: from each basin's own record, stored with its run."""

from dataclasses import replace

import numpy as np
import pytest

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day, days_between
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, to_mm_per_day
from hydrology.climatology.normals import normals, too_few_years
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from operations.forecasting.normals import observed_normals
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.runs import run_arrays, runs
from records.runs.run_summary import ReferenceSnow, RunSnow
from records.runs.runs import RunRequest
from records.series import revisions, series, series_writer
from records.simulations import simulated_series, snow_cells
from records.simulations.simulated_series import SimulatedWater
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.records import NOW, a_source, daily
from testing.work import work_of
from tests.records.simulations.test_simulated_levels import CELLS, levels_of

SNOW = {"0": [1, 3], "1": [0]}
T0 = day("2004-03-10")
AHEAD = Period.parse("2004-03-11..2004-03-17")
EARLIER = Period.parse("1985-01-01..2000-09-30")
FLOW = np.random.default_rng(3).gamma(2.0, 100.0, len(EARLIER)).astype(np.float32)


def test_a_run_stores_the_normals_of_the_whole_record(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        source = revisions.register_source(session, "earlier flow", "0" * 64, 1, NOW)
        flow = DailySeries(EARLIER.first, FLOW, np.zeros(len(FLOW), np.uint8), "cfs")
        series_writer.write(session, BASINS[0], "synth", "discharge", flow, source, NOW)
    (run,) = forecast(
        work_of(trained_store, CLOCK),
        RunRequest(ForecastParams.model_validate({"basins": list(BASINS), "t0": T0, "horizon": len(AHEAD)})),
    )
    with trained_store.reading() as session:
        record = series.read(session, BASINS[0], "synth", "discharge")
        area = Area("synthetic", basins.get(session, BASINS[0]).areas["synthetic"])
        arrays = runs.series_of(session, run.id, BASINS[0])
        long, short = (runs.basin_of(session, run.id, basin).summary for basin in BASINS[:2])
        assert run_arrays.NORMAL not in runs.series_of(session, run.id, BASINS[1])
    assert record is not None
    expected = normals(to_mm_per_day(record.values, unit="cfs", area=area), record.period, AHEAD.days).mean
    np.testing.assert_allclose(arrays[run_arrays.NORMAL].values, expected, rtol=1e-6)
    assert long.normal_mm == pytest.approx(expected.sum())
    assert isinstance(short.normal_mm, Absent)
    assert str(short.normal_mm).startswith("7 of 7 days have fewer than 10 other years")


def test_a_run_stores_the_snow_of_t0_beside_its_normal(trained_store: Database) -> None:
    days = Period.parse("1985-01-01..2004-12-31")
    usual = np.arange(len(days), dtype=np.float32)
    with trained_store.transaction() as session:
        version = versions.newest(session).id
        reference = DailySeries(days.first, 2 * usual, np.zeros(len(days), np.uint8), "mm")
        series_writer.write(session, BASINS[0], "uaz", "swe", reference, a_source(session), NOW)
        chosen = [replace(CELLS, version_id=version, basin_id=basin, cells=SNOW) for basin in BASINS[:2]]
        snow_cells.replace(session, chosen)
        levels = replace(levels_of(session, version), basin_id=BASINS[0], first_day=days.first, last_day=days.last)
        simulated_series.replace(session, levels, {"snow": SimulatedWater(days, usual, SNOW)})
    (run,) = forecast(
        work_of(trained_store, CLOCK),
        RunRequest(ForecastParams.model_validate({"basins": list(BASINS), "t0": T0, "horizon": 3})),
    )
    with trained_store.reading() as session:
        with_normal, without, no_snow = (runs.basin_of(session, run.id, basin).summary for basin in BASINS)
        cells = runs.series_of(session, run.id, BASINS[0])["cells_at_t0"].values
    assert isinstance(with_normal.snow, RunSnow)
    assert with_normal.snow.mean_mm == pytest.approx((cells[0][[1, 3]].sum() + cells[1][0]) / 2)
    assert with_normal.snow.normal_mm == pytest.approx(normals(usual, days, np.array([T0])).mean[0])
    assert with_normal.snow.reference == ReferenceSnow(
        product="uaz",
        mm=2 * usual[days_between(days.first, T0)],
        normal_mm=float(normals(2 * usual, days, np.array([T0])).mean[0]),
    )
    assert isinstance(without.snow, RunSnow)
    assert isinstance(without.snow.reference, ReferenceSnow)
    assert without.snow.reference.product == "synthetic_snow"
    assert without.snow.reference.mm >= 0
    assert without.snow.reference.normal_mm == too_few_years(1, 1)
    assert without.snow.normal_mm == simulated_series.why_none(version)
    assert isinstance(no_snow.snow, Absent)


def test_each_record_is_read_in_its_own_unit_and_with_its_own_area(database: Database) -> None:
    days = Period.parse("1990-01-01..2005-12-31")
    area = Area("daymet", 2.0e9)
    trained_store = {
        "USGS-01013500": ("usgs", "cfs", {"daymet": 2.0e9}),
        "OWN-mill": ("own", "mm/day", {"daymet": 1.0e9}),
        "OWN-weir": ("own", "m3/s", {"daymet": 2.0e9}),
        "OWN-spring": ("own", "mm/day", {}),
        "OWN-ford": ("own", "m3/s", {}),
        "OWN-none": ("own", None, {"daymet": 1.0e9}),
    }
    with database.transaction() as session:
        source = a_source(session)
        for name, (product, unit, areas) in trained_store.items():
            basins.upsert(session, Basin(name, areas=areas))
            if unit is not None:
                flow = daily(str(days.first), *np.full(len(days), 7.0), unit=unit)
                series_writer.write(session, name, product, "discharge", flow, source, NOW)
        of_basins = {name: basins.get(session, name) for name in trained_store}
        shown = observed_normals(session, of_basins, ["daymet"], AHEAD.days)
    for name in ("USGS-01013500", "OWN-mill", "OWN-weir", "OWN-spring"):
        _, unit, _ = trained_store[name]
        assert unit is not None
        means = shown[name]
        assert not isinstance(means, Absent)
        np.testing.assert_allclose(means, to_mm_per_day(np.full(len(AHEAD), 7.0), unit=unit, area=area))
    assert str(shown["OWN-ford"]) == "OWN-ford has no area by which its discharge would be a depth."
    assert str(shown["OWN-none"]) == "No discharge of OWN-none is stored."
