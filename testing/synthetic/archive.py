"""Writes the synthetic basins of `testing.synthetic.basins` in the CAMELS-US text layout.

Every name contains synthetic: the basins (SYNTH-01, "Synthetic basin 1 (arid)"), the forcing product, the region
(00, which no real one has). Gauge data are without noise; the second basin lacks ten days.
"""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from hydrology.base.calendar import Day, Period, as_date, day
from hydrology.base.errors import InvalidInput, excerpt
from hydrology.base.units import Area, converted
from hydrology.weather.climate import ClimateIndices, climate_indices
from testing.synthetic.basins import Landscape, SyntheticWater, Weather, landscape, water, weather

PRODUCT = "synthetic"
REGION = "00"
FIRST_DAY = day("1996-10-01")
LAST_DAY = day("2008-09-30")

_LAYOUT = 1  # increase it whenever the same settings would write other bytes
_SETTINGS = "synthetic.json"
_MISSING_DAYS = slice(100, 110)
_TABLES = {
    "clim": " ".join(field.name for field in fields(ClimateIndices)),
    "geol": "geol_1st_class glim_1st_class_frac geol_2nd_class glim_2nd_class_frac carbonate_rocks_frac geol_porostiy "
    "geol_permeability",
    "hydro": "q_mean runoff_ratio slope_fdc baseflow_index stream_elas q5 q95 high_q_freq high_q_dur low_q_freq "
    "low_q_dur zero_q_freq hfd_mean",
    "name": "huc_02 gauge_name",
    "soil": "soil_depth_pelletier soil_depth_statsgo soil_porosity soil_conductivity max_water_content sand_frac "
    "silt_frac clay_frac water_frac organic_frac other_frac",
    "topo": "gauge_lat gauge_lon elev_mean slope_mean area_gages2 area_geospa_fabric",
    "vege": "frac_forest lai_max lai_diff gvf_max gvf_diff dom_land_cover_frac dom_land_cover root_depth_50 "
    "root_depth_99",
}
"""The attributes of each table, in the order of its columns."""


def write(
    folder: Path, *, seed: int = 1, basins: int = 8, first_day: Day = FIRST_DAY, last_day: Day = LAST_DAY
) -> None:
    """Write the folder atomically. A folder with the same content is left unchanged.

    The same settings write the same bytes; other content is refused. Basins range from arid to alpine.
    """
    period = Period(first_day, last_day)
    if last_day - first_day < np.timedelta64(364, "D"):
        raise InvalidInput(f"Synthetic data need at least a year of days; {period} is shorter.")
    settings = {"layout": _LAYOUT, "seed": seed, "basins": basins, "period": str(period)}
    if folder.exists():
        return _accept_the_same(folder, settings)
    land = landscape(basins)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        unfinished = Path(scratch) / "created"
        for name, lines in _files(land, period, seed):
            _write_lines(unfinished / name, lines)
        _write_lines(unfinished / _SETTINGS, [json.dumps(settings)])
        try:
            unfinished.rename(folder)
        except OSError:  # another process created the folder meanwhile
            _accept_the_same(folder, settings)


def _accept_the_same(folder: Path, settings: dict[str, object]) -> None:
    try:
        stored = json.loads((folder / _SETTINGS).read_text(encoding="ascii"))
    except (OSError, ValueError, RecursionError):
        stored = None
    if stored != settings:
        created = f"synthetic data created with {excerpt(stored)}"
        content = "something that is not synthetic data" if stored is None else created
        raise InvalidInput(
            f"{folder} holds {content}, and {settings} is asked for: name another folder or remove this one."
        )


def _write_lines(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="ascii", newline="\n")


def _files(land: Landscape, period: Period, seed: int) -> Iterator[tuple[str, list[str]]]:
    sky = weather(land, period, seed=seed)
    truth = water(land, sky, period.days)
    yield from _attribute_files(land, sky, truth, period)
    dates = [as_date(day) for day in period.days]
    spaced = [f"{d:%Y %m %d}" for d in dates]
    tabbed = [f"{d.year}\t{d.month}\t{d.day}\t12" for d in dates]
    for b, code in enumerate(_codes(land)):
        yield (
            f"basin_mean_forcing/{PRODUCT}/{REGION}/{code}_lump_{PRODUCT}_forcing_leap.txt",
            _forcing(land, sky, tabbed, b),
        )
        yield f"usgs_streamflow/{REGION}/{code}_streamflow_qc.txt", _streamflow(land, sky, truth, spaced, b)
        yield (
            f"swe_reference/{REGION}/{code}_swe.csv",
            [f"date,{PRODUCT}_snow_swe", *(f"{d},{v:.4f}" for d, v in zip(dates, truth.swe[:, b], strict=True))],
        )
        yield (
            f"model_output/flow_timeseries/{PRODUCT}/{REGION}/{code}_01_model_output.txt",
            _model_output(sky, truth, spaced, b),
        )


def _codes(land: Landscape) -> list[str]:
    return [f"SYNTH-{number:02d}" for number in range(1, len(land.area) + 1)]


def _forcing(land: Landscape, sky: Weather, days: list[str], b: int) -> list[str]:
    columns = "Year Mnth Day Hr dayl(s) prcp(mm/day) srad(W/m2) swe(mm) tmax(C) tmin(C) vp(Pa)"
    values = np.stack([sky.daylength, sky.precipitation, sky.srad, 0 * sky.srad, sky.tmax, sky.tmin, sky.vp])
    return [
        f"{land.latitude[b]:7.2f}",
        f"{land.elevation[b]:7.2f}",
        f"{land.area[b]:11.0f}",
        columns.replace(" ", "\t"),
        *(f"{d}\t" + "\t".join(f"{v:.2f}" for v in row) for d, row in zip(days, values[:, :, b].T, strict=True)),
    ]


def _streamflow(land: Landscape, sky: Weather, truth: SyntheticWater, days: list[str], b: int) -> list[str]:
    cfs = converted(truth.discharge[:, b], unit="mm/day", into="cfs", area=Area(PRODUCT, float(land.area[b])))
    # Ice makes a real gauge uncertain, so its frozen days are estimates.
    flags = np.where(sky.temperature[:, b] < -5, "A:e", "A")
    if b == 1:
        cfs[_MISSING_DAYS], flags[_MISSING_DAYS] = -999.0, "M"
    code = _codes(land)[b]
    return [f"{code} {d} {v:10.4f} {flag}" for d, v, flag in zip(days, cfs, flags, strict=True)]


def _model_output(sky: Weather, truth: SyntheticWater, days: list[str], b: int) -> list[str]:
    water = (truth.swe, sky.precipitation, truth.rain_plus_melt, sky.temperature, sky.pet, truth.loss)
    values = np.stack([*water, truth.discharge, truth.discharge])[:, :, b].T
    return [
        "YR MNTH DY HR SWE PRCP RAIM TAIR PET ET MOD_RUN OBS_RUN",
        *(f"{d} 12 " + " ".join(f"{v:11.7f}" for v in row) for d, row in zip(days, values, strict=True)),
    ]


def _attribute_files(
    land: Landscape, sky: Weather, truth: SyntheticWater, period: Period
) -> Iterator[tuple[str, list[str]]]:
    """Yield the seven attribute tables. Attributes that no reader of these data needs are NA."""
    basins = [
        _measured(land, sky, truth, period, b) | _of_the_land(float(land.wetness[b]), land, b)
        for b in range(len(land.area))
    ]
    for name, attributes in _TABLES.items():
        columns = attributes.split()
        rows = (
            [code, *("NA" if column not in values else str(values[column]) for column in columns)]
            for code, values in zip(_codes(land), basins, strict=True)
        )
        yield f"camels_attributes_v2.0/camels_{name}.txt", [";".join(row) for row in (["gauge_id", *columns], *rows)]


def _measured(land: Landscape, sky: Weather, truth: SyntheticWater, period: Period, b: int) -> dict[str, float | str]:
    """Return what follows from a basin's place, weather and flow."""
    rain, flow = sky.precipitation[:, b], truth.discharge[:, b]
    climate = climate_indices(rain, sky.temperature[:, b], sky.pet[:, b], period.days)
    area_km2 = float(land.area[b]) / 1e6
    return asdict(climate) | {
        "q_mean": float(flow.mean()),
        "runoff_ratio": float(flow.sum() / rain.sum()),
        "q5": float(np.quantile(flow, 0.05)),
        "q95": float(np.quantile(flow, 0.95)),
        "zero_q_freq": float((flow == 0).mean()),
        "huc_02": REGION,
        "gauge_name": f"Synthetic basin {b + 1} ({land.climates[b]})",
        "gauge_lat": float(land.latitude[b]),
        "gauge_lon": float(land.longitude[b]),
        "elev_mean": float(land.elevation[b]),
        "area_gages2": round(area_km2, 6),
        "area_geospa_fabric": round(1.02 * area_km2, 6),
    }


def _of_the_land(w: float, land: Landscape, b: int) -> dict[str, float | str]:
    """Return what follows from a basin's wetness and soil."""
    capacity = float(land.soil_capacity[b])
    depth, sand, silt = capacity / 200, round(60 - 25 * w, 2), round(25 + 20 * w, 2)
    return {
        "geol_1st_class": "Siliciclastic sedimentary rocks",
        "glim_1st_class_frac": 1.0,
        "glim_2nd_class_frac": 0.0,
        "carbonate_rocks_frac": round(0.3 * (1 - w), 4),
        "geol_porostiy": 0.17,
        "geol_permeability": round(-13.0 - float(land.slow_rate[b]) * 40, 4),
        "soil_depth_pelletier": round(2 * depth, 4),
        "soil_depth_statsgo": round(depth, 4),
        "soil_porosity": round(0.40 + 0.05 * w, 4),
        "soil_conductivity": round(3.0 - 1.5 * w, 4),
        "max_water_content": round(capacity / 1000, 4),
        "sand_frac": sand,
        "silt_frac": silt,
        "clay_frac": round(100 - sand - silt, 2),
        **dict.fromkeys(("water_frac", "organic_frac", "other_frac"), 0.0),
        "slope_mean": round(10 + 90 * w, 4),
        "frac_forest": round(0.05 + 0.85 * w, 4),
        "lai_max": round(0.8 + 3.5 * w, 4),
        "lai_diff": round(0.5 + 2.5 * w, 4),
        "gvf_max": round(0.35 + 0.45 * w, 4),
        "gvf_diff": round(0.15 + 0.25 * w, 4),
        "dom_land_cover_frac": 0.9,
        "dom_land_cover": "Mixed Forests" if w > 0.4 else "Grasslands",
    }
