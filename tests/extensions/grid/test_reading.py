"""Runs on grids in NetCDF, Zarr and GRIB2, read as the daily weather of basins."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from extensions.grid.basin_days import LAPSE_RATE, BasinDays
from extensions.grid.days import ImpossibleAmounts, consecutive
from extensions.grid.reading import GridReader, GridWeather
from hydrology.base.calendar import Period
from hydrology.base.errors import Problem
from hydrology.base.units import daylight_mean
from hydrology.weather.climate import daylength, saturation_vapour_pressure
from ingestion.base import Files
from ingestion.feeds.base import Site
from testing.files.grids import BEGAN, GridRun, outline, shares
from tests.extensions.grid import oracle

LATITUDES, LONGITUDES = np.arange(46, 41.9, -0.5), np.arange(284, 288.1, 0.5)
DENVER, PARIS = "America/Denver", "Europe/Paris"
SITES = [
    Site("OWN-mill", 44.0, -74.0, DENVER, outline=outline(44, -74, 0.9, 1)),
    Site("OWN-ford", 43.5, -73.5, "UTC", outline=outline(43.5, -73.5, 0.2, 2)),
    Site("OWN-peak", 44.5, -74.5, DENVER, outline=outline(44.5, -74.5, 0.4, 3), elevation=1_900.0),
]


def run(**changes: Any) -> GridRun:
    return GridRun(LATITUDES, LONGITUDES, **changes)


def read(*paths: Path, wanted: str | None = None, sites: list[Site] = SITES) -> GridWeather:
    return GridReader(paths, sites, None if wanted is None else Period.parse(wanted), None, Files()).read()


def of(weather: GridWeather, basin: str) -> BasinDays:
    return weather.basins[basin]


def refused(*paths: Path, **how: Any) -> str:
    with pytest.raises(Problem) as refusal:
        read(*paths, **how)
    return str(refusal.value)


WRITERS: dict[str, Callable[[GridRun, Path], Path]] = {
    "nc": lambda of, folder: of.netcdf(folder / "run.nc"),
    "zarr": lambda of, folder: of.zarr(folder / "run.zarr"),
    "zarr in small chunks": lambda of, folder: of.zarr(folder / "run.zarr", (1, 7, 4, 3)),
    "grib": lambda of, folder: of.grib(folder / "run.grib2"),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_run_is_the_means_of_outlines_over_the_days_of_the_gauge(kind: str, tmp_path: Path) -> None:
    given = run()
    weather = read(WRITERS[kind](given, tmp_path))
    assert (weather.reference, weather.notes) == (BEGAN, [])
    for site in SITES:
        found = of(weather, site.basin)
        rings, zone = site.outline, site.time_zone
        whole = ~np.isnan(found.values["precipitation"][0])
        # three days in UTC from the beginning; at Denver, whose day begins at 07 UTC, two
        assert [str(day) for day in found.days[whole]] == [
            f"2026-11-{day}" for day in ((20, 21, 22) if zone == "UTC" else (20, 21))
        ]
        assert (found.members, set(found.values)) == (
            ("0", "1"),
            {"precipitation", "tmax", "tmin", "tmean", "srad", "vp"},
        )
        for member in range(2):
            sums = {
                name: oracle.hourly(given, oracle.means(given, name, rings)[member], str(zone)).resample("D").sum()
                for name in ("tp", "ssrd")
            }
            days = [str(day) for day in found.days[whole]]
            rain, sun = (np.array([of_days[day] for day in days]) for of_days in sums.values())
            np.testing.assert_allclose(found.values["precipitation"][member, whole], rain, rtol=1e-5)
            lit = daylength(found.days[whole], site.place()[0])[:, 0]
            np.testing.assert_allclose(found.values["srad"][member, whole], daylight_mean(sun / 1e6, lit), rtol=1e-5)
        if zone == "UTC":
            air, dew = (oracle.means(given, name, rings)[:, :24].reshape(2, 3, 8) - 273.15 for name in ("t2m", "d2m"))
            for name, expected in (("tmax", air.max(axis=2)), ("tmin", air.min(axis=2)), ("tmean", air.mean(axis=2))):
                np.testing.assert_allclose(found.values[name][:, whole], expected, atol=1e-4)
            pressure = saturation_vapour_pressure(dew.mean(axis=2))
            np.testing.assert_allclose(found.values["vp"][:, whole], pressure, rtol=1e-5)


def test_temperature_is_moved_from_the_height_of_the_grid_to_that_of_the_basin(tmp_path: Path) -> None:
    given, site = run(), SITES[2]
    path = given.netcdf(tmp_path / "run.nc")
    lower = of(read(path, sites=[Site(site.basin, *site.place(), site.time_zone, outline=site.outline)]), site.basin)
    higher = of(read(path, sites=[site]), site.basin)
    height = float((shares(LATITUDES, LONGITUDES, site.outline) * given.orography).sum())
    for name, change in (("tmax", 1), ("tmin", 1), ("tmean", 1), ("vp", 0), ("precipitation", 0)):
        moved = higher.values[name] - lower.values[name]
        np.testing.assert_allclose(moved[~np.isnan(moved)], change * -LAPSE_RATE * (1_900 - height), atol=1e-5)


def test_longitudes_and_latitudes_may_run_either_way(tmp_path: Path) -> None:
    first = read(run().netcdf(tmp_path / "run.nc"))
    turned = run()
    turned.latitudes, turned.longitudes = LATITUDES[::-1], LONGITUDES - 360
    turned.values = {name: values[..., ::-1, :] for name, values in turned.values.items()}
    turned.orography = turned.orography[::-1]
    for path in (turned.netcdf(tmp_path / "turned.nc"), turned.grib(tmp_path / "turned.grib2")):
        for name, values in of(read(path), "OWN-mill").values.items():
            np.testing.assert_allclose(values, of(first, "OWN-mill").values[name], rtol=1e-4, atol=1e-3)


def test_the_newest_run_of_a_folder_is_read_from_all_its_files(tmp_path: Path) -> None:
    earlier = run(began=BEGAN - np.timedelta64(86_400, "s"), seed=9)
    (tmp_path / "earlier").mkdir()
    earlier.grib(tmp_path / "earlier" / "run.grib2")
    whole = read(run().grib(tmp_path / "whole.grb2"))
    messages = (tmp_path / "whole.grb2").read_bytes().split(b"7777GRIB")
    (tmp_path / "whole.grb2").unlink()
    for number, message in enumerate(messages):
        start, end = b"" if number == 0 else b"GRIB", b"" if number == len(messages) - 1 else b"7777"
        (tmp_path / f"{number}.grib2").write_bytes(start + message + end)
    in_parts = read(tmp_path)
    assert in_parts.reference == BEGAN
    for name, values in of(in_parts, "OWN-ford").values.items():
        np.testing.assert_array_equal(values, of(whole, "OWN-ford").values[name])


@pytest.mark.parametrize("kind", ["nc", "grib"])
def test_a_member_without_a_step_is_left_out_and_named(kind: str, tmp_path: Path) -> None:
    weather = read(WRITERS[kind](run(members=4, missing=[(2, 5)]), tmp_path))
    assert of(weather, "OWN-mill").members == ("0", "1", "3")
    assert any("precipitation: member 2 lacks step 15 h (2026-11-20T15:00:00Z)" in note for note in weather.notes)


@pytest.mark.parametrize("kind", ["nc", "grib"])
def test_a_day_without_a_step_is_a_hole_and_named(kind: str, tmp_path: Path) -> None:
    """What is accumulated bridges a step; of a state nothing is known meanwhile."""
    given = run(missing=[(member, at) for member in range(2) for at in (9, 10)])
    weather = read(WRITERS[kind](given, tmp_path))
    whole = {name: ~np.isnan(values[0]) for name, values in of(weather, "OWN-ford").values.items()}
    assert whole["precipitation"].sum() == 3
    days = of(weather, "OWN-ford").days
    assert [str(day) for day in days[whole["tmax"]]] == ["2026-11-20", "2026-11-22"]
    hole = "step 27 h (2026-11-21T03:00:00Z) to step 33 h (2026-11-21T09:00:00Z)"
    assert f"temperature: there is nothing from {hole}." in weather.notes


@pytest.mark.parametrize("kind", ["nc", "zarr", "grib"])
def test_an_accumulation_that_falls_names_member_and_step(kind: str, tmp_path: Path) -> None:
    given = run()
    given.values["tp"][1, 8:] -= given.values["tp"][1, 7] * 0.9  # as where the model was started again
    sentence = refused(WRITERS[kind](given, tmp_path))
    assert "precipitation of member 1 falls at step 24 h (2026-11-21T00:00:00Z), from " in sentence
    assert "mm at OWN-" in sentence


def test_a_fall_within_rounding_counts_as_none(tmp_path: Path) -> None:
    given = run()
    given.values["tp"] = np.round(given.values["tp"], 1)
    given.values["tp"][:, 9] = given.values["tp"][:, 8] - 0.04
    rain = of(read(given.netcdf(tmp_path / "run.nc")), "OWN-ford").values["precipitation"]
    assert (rain[~np.isnan(rain)] >= 0).all()


def test_amounts_of_buckets_are_taken_apart_within_them(tmp_path: Path) -> None:
    """As in GFS: 0-3, 0-6, 6-9, 6-12 …, with bounds."""
    given = run(hours=tuple(range(3, 73, 3)))
    since = np.array([(hour - 1) // 6 * 6 for hour in given.hours])
    started = [given.hours.index(hour) if hour else 0 for hour in since]
    before = given.values["tp"][:, started] * (since > 0)[:, None, None]
    axes = ("number", "step", "latitude", "longitude")
    whole = given.dataset()
    bucket = whole.assign(tp=(axes, given.values["tp"] - before, whole["tp"].attrs))
    bucket["step"].attrs["bounds"] = "step_bounds"
    bucket["step_bounds"] = (("step", "side"), np.column_stack([since, given.hours]))
    states = [name for name in whole.data_vars if name not in ("tp", "orog")]
    bucket.drop_vars(states).to_netcdf(tmp_path / "bucket.nc")
    whole.drop_vars(states).to_netcdf(tmp_path / "whole.nc")
    first, second = (
        of(read(tmp_path / name), "OWN-mill").values["precipitation"] for name in ("bucket.nc", "whole.nc")
    )
    np.testing.assert_allclose(first, second, rtol=1e-4)
    assert not np.isnan(first).all()


UNITS = {
    "mm": ("tp", 1.0, "mm"),
    "m": ("tp", 1e-3, "m"),
    "kg m**-2": ("tp", 1.0, "kg m**-2"),
    "degC": ("t2m", -273.15, "degC"),
    "J m**-2": ("ssrd", 1.0, "J m**-2"),
    "MJ/m2": ("ssrd", 1e-6, "MJ/m2"),
}


@pytest.mark.parametrize("case", UNITS)
def test_units_are_those_that_the_file_states(case: str, tmp_path: Path) -> None:
    name, change, unit = UNITS[case]
    given = run()
    expected = of(read(given.netcdf(tmp_path / "run.nc")), "OWN-ford").values
    variable = given.dataset()[name]
    values = variable.values + change if name == "t2m" else variable.values.astype("f8") * change
    path = given.netcdf(tmp_path / "other.nc", **{name: (variable.dims, values, variable.attrs | {"units": unit})})
    for ours, found in of(read(path), "OWN-ford").values.items():
        np.testing.assert_allclose(found, expected[ours], rtol=1e-5, atol=1e-4)


def test_mean_rates_since_the_step_before_become_amounts(tmp_path: Path) -> None:
    given = run()
    expected = of(read(given.netcdf(tmp_path / "run.nc")), "OWN-ford").values
    rates = {}
    for name, unit in (("tp", "kg m-2 s-1"), ("ssrd", "W m-2")):
        amounts = np.diff(given.values[name], axis=1, prepend=given.values[name][:, :1])
        rates[name] = (given.dataset()[name].dims, amounts / (3 * 3_600), {"units": unit})
    for ours, found in of(read(given.netcdf(tmp_path / "rates.nc", **rates)), "OWN-ford").values.items():
        np.testing.assert_allclose(found, expected[ours], rtol=1e-4)


def test_an_unknown_unit_is_refused_by_name(tmp_path: Path) -> None:
    variable = run().dataset()["t2m"]
    path = run().netcdf(tmp_path / "run.nc", t2m=(variable.dims, variable.values, {"units": "degF"}))
    assert "has t2m in degF, which is not a unit of temperature; convert it to one of K" in refused(path)


def observed(path: Path, **attributes: Any) -> Path:
    """Write hourly observed temperature, and precipitation of the hour before, from 18 to 22 November."""
    generator = np.random.default_rng(5)
    hours = np.arange(24 * 4 + 1)
    shape = (len(hours), len(LATITUDES), len(LONGITUDES))
    axes = ("time", "lat", "lon")
    time = {"units": "hours since 2026-11-18 00:00", "standard_name": "time"} | attributes
    xr.Dataset(
        {
            "pr": (axes, generator.gamma(0.5, 1, shape), {"units": "mm"}),
            "t2m": (axes, 5 + generator.normal(0, 4, shape), {"units": "degC"}),
        },
        coords={"time": ("time", hours, time), "lat": ("lat", LATITUDES), "lon": ("lon", LONGITUDES)},
    ).to_netcdf(path)
    return path


def test_observations_are_of_the_requested_days(tmp_path: Path) -> None:
    path = observed(tmp_path / "observed.nc")
    found = of(read(path, wanted="2026-11-19..2026-11-20"), "OWN-ford")
    of_cells = shares(LATITUDES, LONGITUDES, SITES[1].outline)
    with xr.open_dataset(path, decode_times=False) as dataset:
        rain = (dataset["pr"].values * of_cells).sum(axis=(1, 2))
    at = [str(day) for day in found.days].index("2026-11-19")
    np.testing.assert_allclose(found.values["precipitation"][0, at], rain[25:49].sum(), rtol=1e-5)
    assert set(found.values) == {"precipitation", "tmax", "tmin", "tmean"}


def test_days_of_a_source_stand_for_those_of_the_gauge(tmp_path: Path) -> None:
    """Labelled at noon, as Daymet's, or with bounds."""
    axes = ("time", "lat", "lon")
    rain = np.random.default_rng(5).gamma(0.5, 4, (5, len(LATITUDES), len(LONGITUDES)))
    coords = {"lat": ("lat", LATITUDES), "lon": ("lon", LONGITUDES)}
    dataset = xr.Dataset({"prcp": (axes, rain, {"units": "mm/day"})}, coords=coords)
    noon = {"units": "hours since 2026-11-18 12:00"}
    dataset.assign_coords(time=("time", np.arange(5) * 24, noon)).to_netcdf(tmp_path / "noon.nc")
    bounded = dataset.assign_coords(time=("time", np.arange(5) * 24, noon | {"bounds": "days"}))
    sides = np.column_stack([np.arange(5) * 24 - 12, np.arange(5) * 24 + 12])
    bounded.assign(days=(("time", "side"), sides)).to_netcdf(tmp_path / "bounds.nc")
    of_cells = shares(LATITUDES, LONGITUDES, SITES[0].outline)
    for name in ("noon.nc", "bounds.nc"):
        found = of(read(tmp_path / name, wanted="2026-11-18..2026-11-22"), "OWN-mill")
        values = found.values["precipitation"][0]
        np.testing.assert_allclose(values[~np.isnan(values)], (rain * of_cells).sum(axis=(1, 2)), rtol=1e-5)
        assert str(found.days[~np.isnan(values)][0]) == "2026-11-18"


@pytest.mark.parametrize(
    ("attributes", "cause"),
    [
        ({"calendar": "360_day"}, r"not counted since an instant in UTC of the standard calendar .but of 360_day"),
        ({"units": "fortnights since 2026-11-18"}, "not counted since an instant in UTC"),
        ({"units": "hours since 9999-11-18"}, "outside 1800-01-01"),
        ({"climatology": "bounds"}, "of a climatology"),
    ],
)
def test_times_that_are_not_of_the_calendar_are_refused(tmp_path: Path, attributes: Any, cause: str) -> None:
    with pytest.raises(Problem, match=cause):
        read(observed(tmp_path / "observed.nc", **attributes), wanted="2026-11-19..2026-11-20")


def test_files_that_cannot_be_used_are_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "not.nc").write_bytes(b"no NetCDF" * 100)
    (tmp_path / "not.grib2").write_bytes(b"no GRIB" * 100)
    (tmp_path / "empty.zarr").mkdir()
    one = (run(hours=(0, 24), members=1).grib(tmp_path / "one.grib2")).read_bytes()
    (tmp_path / "cut.grib2").write_bytes(one[:-300])
    (tmp_path / "old.grib2").write_bytes(one[:7] + b"\1" + one[8:])
    assert "cannot be read as nc" in refused(tmp_path / "not.nc")
    assert "is not GRIB" in refused(tmp_path / "not.grib2")
    assert "cannot be read as zarr" in refused(tmp_path / "empty.zarr")
    assert "has a damaged message" in refused(tmp_path / "cut.grib2")
    assert "is of GRIB 1" in refused(tmp_path / "old.grib2")
    assert "does not state when its run began" in refused(observed(tmp_path / "observed.nc"))
    dataset = run().dataset()
    dataset.assign(prate=dataset["tp"]).to_netcdf(tmp_path / "two.nc")
    assert "which are both precipitation_amount" in refused(tmp_path / "two.nc")
    dataset.rename(latitude="y", longitude="x").to_netcdf(tmp_path / "projected.nc")
    assert "has no axis of latitudes" in refused(tmp_path / "projected.nc")
    (tmp_path / "linked.zarr").mkdir()
    (tmp_path / "linked.zarr" / ".zgroup").symlink_to("/etc/hostname")
    assert "has links in it" in refused(tmp_path / "linked.zarr")
    (tmp_path / "nothing").mkdir()
    assert "There are 0 files" in refused(tmp_path / "nothing")


def test_a_basin_beyond_the_grid_costs_no_other(tmp_path: Path) -> None:
    far = Site("OWN-far", 10.0, 10.0, "UTC", outline=outline(10, 10, 0.5))
    weather = read(run().netcdf(tmp_path / "run.nc"), sites=[far, *SITES])
    assert "goes beyond the edge of the grid" in weather.problems["OWN-far"]
    assert not np.isnan(of(weather, "OWN-mill").values["precipitation"]).all()


@given(st.lists(st.floats(0, 50), min_size=2, max_size=20), st.integers(1, 8), st.booleans())
def test_amounts_of_any_buckets_are_those_of_their_steps(amounts: list[float], size: int, whole: bool) -> None:
    """Also where the amount since the run began stands beside that of a bucket, as in GFS."""
    ends = [BEGAN + np.timedelta64(3 * number, "h") for number in range(len(amounts) + 1)]
    means: dict[Any, Any] = {}
    for at in range(len(amounts)):
        first = at // size * size
        means[ends[first], ends[at + 1]] = np.array([sum(amounts[first : at + 1])])
        if whole:
            means[ends[0], ends[at + 1]] = np.array([sum(amounts[: at + 1])])
    steps, notes = consecutive("precipitation", {"0": means}, ["OWN-mill"], BEGAN, is_rate=False)
    np.testing.assert_allclose(steps.values[0, :, 0], amounts, atol=1e-4)
    assert (notes, steps.spans.tolist()) == ([], np.column_stack([ends[:-1], ends[1:]]).astype("M8[s]").tolist())


def test_members_are_in_order_whatever_that_of_their_files() -> None:
    span: Any = (BEGAN, BEGAN + np.timedelta64(3_600, "s"))
    by_member = {label: {span: np.full(1, float(label))} for label in ("10", "2", "0")}
    steps, _ = consecutive("precipitation", by_member, ["OWN-mill"], BEGAN, is_rate=False)
    assert (steps.members, steps.values[:, 0, 0].tolist()) == (("0", "2", "10"), [0, 2, 10])


def test_amounts_that_overlap_are_refused() -> None:
    hour = np.timedelta64(3_600, "s")
    spans: dict[Any, Any] = {(BEGAN, BEGAN + 6 * hour): np.ones(1), (BEGAN + 3 * hour, BEGAN + 9 * hour): np.ones(1)}
    with pytest.raises(ImpossibleAmounts, match=r"step 9 h .* overlaps the one before"):
        consecutive("precipitation", {"0": spans}, ["OWN-mill"], BEGAN, is_rate=False)
