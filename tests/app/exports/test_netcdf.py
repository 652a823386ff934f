"""Daily series as NetCDF: the content of JSON, by the conventions, as xarray reads it."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from compliance_checker.runner import CheckSuite, ComplianceChecker
from starlette.testclient import TestClient

from app.basins.observations import variable_columns
from app.exports import netcdf
from app.exports.table import Column, Table
from app.http.problems import InvalidRequest
from testing.records import BASIN
from tests.app.exports.conftest import BARE, FORECAST, FORECASTS, OBSERVATIONS, SECOND, STORAGE

ADDRESSES = [f"{FORECAST}?members=true", f"{FORECAST}?units=mm/day", FORECASTS, OBSERVATIONS, STORAGE]
Open = Callable[[str], Any]


@pytest.fixture
def opened(exporting: TestClient, tmp_path: Path) -> Open:
    """Return what opens the NetCDF of an address with xarray."""

    def open_address(address: str) -> Any:
        answer = exporting.get(address, headers={"Accept": "application/x-netcdf"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["Content-Type"] == "application/x-netcdf"
        assert answer.headers["Content-Disposition"].endswith('.nc"')
        return read(answer.content, tmp_path)

    return open_address


def read(content: bytes, folder: Path) -> Any:
    """Return the dataset of a file, which can be written again."""
    file = folder / f"{len(list(folder.iterdir()))}.nc"
    file.write_bytes(content)
    with xarray.open_dataset(file) as dataset:
        loaded = dataset.load()
    copy = file.with_suffix(".copy")
    loaded.to_netcdf(copy)
    with xarray.open_dataset(copy) as copied:
        xarray.testing.assert_equal(copied, loaded)
    return loaded


def same(values: Any, output: Sequence[float | None]) -> None:
    np.testing.assert_array_equal(values, np.array(output, dtype=np.float64))


def days(values: Any) -> list[str]:
    return [str(day) for day in values.values.astype("datetime64[D]")]


def test_a_forecast_has_the_content_of_json(exporting: TestClient, opened: Open) -> None:
    output, file = exporting.get(f"{FORECAST}?members=true").json(), opened(f"{FORECAST}?members=true")
    assert file.attrs["Conventions"] == "CF-1.8"
    assert file.attrs["featureType"] == "timeSeries"
    assert days(file["time"]) == output["time"]
    assert file["basin"].values.tolist() == [BASIN]
    assert file["basin"].attrs["cf_role"] == "timeseries_id"
    assert (file["latitude"].values.tolist(), file["longitude"].values.tolist()) == ([47.25], [-68.5])
    for variable in ("calibrated", "discharge"):
        quantiles = file[variable].isel(station=0)
        assert quantiles.attrs["units"] == "m3 s-1"
        assert quantiles.attrs["standard_name"] == "water_volume_transport_in_river_channel"
        for name, values in output[variable].items():
            level = 0.5 if name == "median" else int(name[1:]) / 100
            same(quantiles.sel({f"{variable}_quantile": level}).values, values)
    assert file["realization"].attrs["standard_name"] == "realization"
    for number, (label, values) in enumerate(output["members"].items()):
        member = file["members"].sel(realization=number).isel(station=0)
        assert str(member["member"].values) == label
        same(member.values, values)
    same(file["storage_total"].values[0], output["storage"]["total"])
    same(file["precipitation"].values[0], output["precipitation"])


def test_the_times_of_a_forecast_are_those_of_the_conventions(opened: Open) -> None:
    file = opened(FORECAST)
    reference, period = file["t0"], file["lead_days"]
    assert (reference.attrs["standard_name"], reference.ndim) == ("forecast_reference_time", 0)
    assert str(reference.values.astype("datetime64[D]")) == "2008-09-30"
    assert (period.attrs["standard_name"], period.dims) == ("forecast_period", ("time",))
    np.testing.assert_array_equal((file["time"] - reference).values / np.timedelta64(1, "D"), period.values)
    bounds = file[file["time"].attrs.get("bounds") or file["time"].encoding["bounds"]]
    np.testing.assert_array_equal(bounds.values[:, 0], file["time"].values)
    np.testing.assert_array_equal(bounds.values[:, 1] - bounds.values[:, 0], np.timedelta64(1, "D"))
    assert str(file["issued_at"].values[0].astype("datetime64[s]")) == "2008-10-01T06:00:00"


def test_many_basins_are_stations_and_none_is_left_out(exporting: TestClient, opened: Open) -> None:
    output, file = exporting.get(FORECASTS).json(), opened(FORECASTS)
    by_basin = file.set_index(station="basin")
    assert set(by_basin["station"].values) == {BASIN, SECOND, BARE}
    for forecast in output["forecasts"]:
        median = by_basin["discharge"].sel(station=forecast["basin"], discharge_quantile=0.5)
        same(median.values, forecast["discharge"]["median"])
    assert np.isnan(by_basin["calibrated"].sel(station=SECOND).values).all()
    assert np.isnan(by_basin["discharge"].sel(station=BARE).values).all()
    assert str(by_basin["reason"].sel(station=BARE).values) == output["without"][0]["reason"]
    assert str(by_basin["name"].sel(station=SECOND).values) == 'Älv, "Övre" bron'


def test_observations_have_the_content_of_json_with_their_flags(exporting: TestClient, opened: Open) -> None:
    output, file = exporting.get(OBSERVATIONS).json(), opened(OBSERVATIONS)
    assert days(file["time"]) == output["time"]
    same(file["discharge"].values[0], output["values"]["discharge"])
    assert file["discharge"].attrs["units"] == "m3 s-1"
    assert file["discharge"].encoding["_FillValue"] == pytest.approx(9.96921e36)
    flags = file["discharge_flags"]
    assert flags.values[0].tolist() == output["flags"]["discharge"]
    assert [str(bit) for bit in flags.attrs["flag_masks"]] == list(output["flag_legend"])
    assert flags.attrs["flag_meanings"].split()[:3] == ["approved", "estimated", "below_limit"]


def test_radiation_is_not_named_as_a_mean_over_the_whole_day() -> None:
    named = {name: variable_columns(name, [1.0], [0], unit, {})[0] for name, unit in (("srad", "W/m2"), ("vp", "Pa"))}
    assert (named["srad"].standard_name, named["srad"].cell_methods) == (None, None)
    assert named["srad"].meaning.endswith("mean over daylight")
    assert named["vp"].standard_name == "water_vapor_partial_pressure_in_air"


def test_storage_has_the_content_of_json(exporting: TestClient, opened: Open) -> None:
    output, file = exporting.get(STORAGE).json(), opened(STORAGE)
    for name in ("total", "snow", "other"):
        same(file[f"storage_{name}"].values[0], output[name])


@pytest.mark.extended
def test_the_checker_of_the_conventions_is_silent(exporting: TestClient, tmp_path: Path) -> None:
    CheckSuite.load_all_available_checkers()
    for number, address in enumerate(ADDRESSES):
        file, report = tmp_path / f"{number}.nc", tmp_path / f"{number}.json"
        file.write_bytes(exporting.get(address, headers={"Accept": "application/x-netcdf"}).content)
        ComplianceChecker.run_checker(
            str(file), ["cf:1.8"], 0, "strict", output_filename=str(report), output_format="json"
        )
        shown = json.loads(report.read_text())["cf:1.8"]
        assert shown["scored_points"] == shown["possible_points"] > 0
        results = [result for priority in ("high", "medium", "low") for result in shown[f"{priority}_priorities"]]
        assert [result["msgs"] for result in results if len({*result["value"]}) > 1] == []


def forecasts(*first_days: date) -> Table:
    """Return a table of a basin a day, three days each, with the lead as its value."""
    of_rows = [(number, t0, lead) for number, t0 in enumerate(first_days) for lead in (1, 2, 3)]
    basins, t0s = [f"SYNTH-{number}" for number, _, _ in of_rows], [t0 for _, t0, _ in of_rows]
    leads, time = [lead for _, _, lead in of_rows], [t0 + timedelta(days=lead) for _, t0, lead in of_rows]
    columns = [
        Column("basin", "basin", "text", basins, of_basin=True),
        Column("t0", "t0", "day", t0s, of_basin=True, standard_name="forecast_reference_time"),
        Column("time", "time", "day", time),
        Column("lead_days", "lead", "integer", leads, "day", standard_name="forecast_period"),
        Column("flow", "flow", "number", leads, "m3/s"),
    ]
    return Table("forecasts", "Forecasts", columns)


def test_forecasts_that_begin_on_several_days_store_their_own(tmp_path: Path) -> None:
    table = forecasts(date(2008, 1, 1), date(2008, 1, 3))
    file = read(netcdf.write(table), tmp_path)
    assert days(file["time"]) == [f"2008-01-0{day}" for day in range(2, 7)]
    same(file["flow"].values, [[1, 2, 3, None, None], [None, None, 1, 2, 3]])  # type: ignore[list-item]
    assert file["lead_days"].dims == ("station", "time")
    assert days(file["t0"]) == ["2008-01-01", "2008-01-03"]


def test_a_file_that_would_be_too_large_is_refused() -> None:
    apart = [date(1500, 1, 1) + timedelta(days=300 * number) for number in range(900)]
    with pytest.raises(InvalidRequest, match="ask for fewer basins"):
        netcdf.write(forecasts(*apart))


def test_several_threads_write_at_once(tmp_path: Path) -> None:
    table = forecasts(*(date(2008, 1, 1) for _ in range(50)))
    with ThreadPoolExecutor(8) as threads:
        files = list(threads.map(lambda _: netcdf.write(table), range(40)))
    assert {len(read(file, tmp_path)["station"]) for file in files} == {50}
