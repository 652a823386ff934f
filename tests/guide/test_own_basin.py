"""docs/do/own-basin.md, as it is printed, with the complete data of a real river."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from hydrology.base.units import M2_PER_KM2, M3_PER_FT3
from hydrology.weather.climate import CLIMATE
from ingestion.sources.camels import CamelsSource
from jobspec.training import STATIC_ATTRIBUTES
from tests.guide.pages import DOCS, commands

PAGE = DOCS / "do" / "own-basin.md"
RIVER, PRODUCT = "USGS-13235000", "maurer_extended"
LEFT_OUT = ("soil_conductivity", "geol_permeability")
"""Attributes of the land that the user does not know."""
COLUMNS = {
    "precipitation": "precipitation_mm_per_day",
    "tmax": "tmax_degC",
    "tmin": "tmin_degC",
    "srad": "srad_W_per_m2",
    "vp": "vp_Pa",
}


@pytest.mark.extended
def test_the_page_ends_in_a_calibrated_forecast_beyond_the_last_day(
    camels: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    observed = write_tables(camels, tmp_path)
    steps = commands(PAGE)
    assert steps[0].startswith("freshet ingest tables --product own --basins basins.csv --observations days.csv")
    script = "\n".join([*steps, "freshet forecast --basin OWN-mill --weather climatology --json > again.json"])
    settings = environment | {"FRESHET_DATA": str(tmp_path / "data"), "FRESHET_AS_OF": "2009-01-01T12:00Z"}
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env=settings,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    assert "looks like" not in ended.stderr
    assert "T0 2008-12-31 (1 day before the day of issue), 10 days, climatology own" in ended.stdout
    assert "5 to 95 % is the calibrated range" in ended.stderr
    plotted = {line.split()[0]: line.split() for line in ended.stdout.splitlines() if line[:4] in ("2008", "2009")}
    assert float(plotted["2008-12-31"][1]) == pytest.approx(observed, rel=0.01)
    median, low, high = (float(plotted["2009-01-01"][column]) for column in (1, 2, 4))
    assert low < observed < high
    assert median == pytest.approx(observed, rel=0.2)  # 3.2 where 8.5 flowed, before it was calibrated


def write_tables(camels: Path, folder: Path) -> float:
    """Write a real river's tables as the page asks, and return the flow of the last day in m3/s."""
    names = ("maurer_extended.zip", "basin_timeseries_v1p2_metForcing_obsFlow.zip", "camels_attributes_v2.0")
    data = CamelsSource([camels / name for name in names]).read(RIVER)
    weather = {one.variable: one.series for one in data.series if one.product == PRODUCT}
    (discharge,) = (one.series for one in data.series if one.variable == "discharge")
    period = weather["precipitation"].period
    land = [name for name in STATIC_ATTRIBUTES if name not in (*CLIMATE, "area_gages2", *LEFT_OUT)]
    place = [data.latitude, data.longitude, data.areas[PRODUCT] / M2_PER_KM2, *(data.attributes[name] for name in land)]
    header = ",".join(["id,latitude,longitude,area_km2", *land])
    (folder / "basins.csv").write_text(f"{header}\nOWN-mill,{','.join(map(str, place))}\n")
    flow = discharge.over(period).values.astype(np.float64) * M3_PER_FT3
    columns = [np.char.mod("%.2f", weather[name].values) for name in COLUMNS]
    cells = [period.days.astype(str), *columns, np.where(np.isnan(flow), "", np.char.mod("%.4f", flow))]
    rows = [f"OWN-mill,{','.join(row)}" for row in zip(*cells, strict=True)]
    header = ",".join(["basin,date", *COLUMNS.values(), "discharge_m3_per_s"])
    (folder / "days.csv").write_text("\n".join([header, *rows, ""]))
    return float(flow[-1])
