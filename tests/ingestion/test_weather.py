"""Weather forecasts from CSV, JSON and NetCDF-CF: the same from each, and what is refused."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydrology.base.calendar import day
from hydrology.base.errors import InvalidInput, Problem
from ingestion import weather_files as weather
from ingestion.base import SourceError
from testing.files import weather as weather_files

WRITERS: list[Callable[[Path], Path]] = [
    weather_files.written_csv,
    weather_files.written_json,
    weather_files.written_netcdf,
]


def read(path: Path) -> weather.WeatherFile:
    return weather.read(path, weather_files.RECEIVED)


@pytest.mark.parametrize("write", WRITERS)
def test_each_form_gives_the_same_forecasts(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    found = read(write(tmp_path))
    assert (found.issue.source, found.issue.model) == ("our-own", "two-guesses")
    assert found.issue.reference_time == weather_files.REFERENCE
    assert found.issue.available_time.isoformat() == "2026-11-22T06:00:00+00:00"
    assert (found.issue.licence, found.issue.credit) == ("CC BY 4.0", "Weather guessed by the river office")
    assert found.refused == {}
    assert [forecast.basin for forecast in found.forecasts] == list(weather_files.BASINS)
    for at, forecast in enumerate(found.forecasts):
        assert (forecast.traces, forecast.first) == (("0", "1"), day("2026-11-22"))
        assert forecast.values.keys() == weather_files.UNITS.keys()
        for name, values in forecast.values.items():
            expected = [
                [weather_files.value(name, at, trace, lead) for lead in range(3)]
                for trace in weather_files.REALIZATIONS
            ]
            np.testing.assert_array_equal(values, np.array(expected, np.float32))


@pytest.mark.parametrize("order", list(itertools.permutations(("time", "station", "realization"))))
def test_the_dimensions_of_netcdf_may_stand_in_any_order(tmp_path: Path, order: tuple[str, ...]) -> None:
    found = read(weather_files.written_netcdf(tmp_path, order=order))
    assert found.forecasts[1].values["tmax"][1, 2] == weather_files.value("tmax", 1, 1, 2)


def test_the_day_of_a_time_is_that_of_its_lower_bound(tmp_path: Path) -> None:
    assert read(weather_files.written_netcdf(tmp_path, hour=24)).forecasts[0].first == day("2026-11-22")


def test_a_time_without_bounds_is_the_midnight_of_its_day(tmp_path: Path) -> None:
    path = weather_files.written_netcdf(tmp_path)
    with netCDF4.Dataset(path, "a") as dataset:
        dataset["time"].delncattr("bounds")
    assert read(path).forecasts[0].first == day("2026-11-22")
    with netCDF4.Dataset(path, "a") as dataset:
        dataset["time"][:] = dataset["time"][:] + 12
    with pytest.raises(SourceError, match="midnight"):
        read(path)


def with_bounds(path: Path, change: Callable[[netCDF4.Dataset], None]) -> Path:
    """Change a file of `weather_files.written_netcdf`."""
    with netCDF4.Dataset(path, "a") as dataset:
        change(dataset)
    return path


def test_bounds_are_those_of_the_days_or_the_file_is_refused(tmp_path: Path) -> None:
    def in_bounds(change: Callable[[Any], Any]) -> Callable[[netCDF4.Dataset], None]:
        def apply(dataset: netCDF4.Dataset) -> None:
            dataset["time_bnds"][:] = change(np.array(dataset["time_bnds"][:]))

        return apply

    def other_shape(dataset: netCDF4.Dataset) -> None:
        dataset.createVariable("wide", "f8", ("time", "realization", "nv"))[:] = 0
        dataset["time"].bounds = "wide"

    def cut(dataset: netCDF4.Dataset) -> None:
        dataset["time_bnds"][1] = np.ma.masked

    faults: dict[str, Callable[[netCDF4.Dataset], None]] = {
        "has no variable time_bound, which its time names as bounds": lambda file: file["time"].setncattr(
            "bounds", "time_bound"
        ),
        r"time_bnds\[0\] .* that ends before it begins": in_bounds(lambda bounds: bounds[:, ::-1]),
        r"time_bnds\[0\] \(2026-11-22.* to 2026-11-29.*\) that is not of exactly one day": in_bounds(
            lambda bounds: bounds + np.array([0, 6 * 24])
        ),
        "that is not of exactly one day": in_bounds(lambda bounds: bounds + np.array([1, 0])),
        r"time_bnds\[0\] .* that does not end where the next begins": in_bounds(
            lambda bounds: bounds + np.array([[0], [12], [12]])
        ),
        r"time_bnds\[1\] .* is not of exactly one day": in_bounds(
            lambda bounds: bounds + np.array([[0, 0], [0, 6], [6, 0]])
        ),
        "that is not around its time": in_bounds(lambda bounds: bounds + 48),
        "in another unit or calendar": lambda file: file["time_bnds"].setncattr("units", "days since 1970-01-01"),
        "in another unit or": lambda file: file["time_bnds"].setncattr("calendar", "proleptic_gregorian"),
        r"has a climatology \(of time\)": lambda file: file["time"].setncattr("climatology", "time_bnds"),
        "wide that does not hold two bounds for each time": other_shape,
        r"time_bnds\[1, 0\] that is missing": cut,
    }
    for fault, change in faults.items():
        path = with_bounds(weather_files.written_netcdf(tmp_path), change)
        with pytest.raises(SourceError, match=fault) as refused:
            read(path)
        assert str(path) in str(refused.value)
    same = with_bounds(
        weather_files.written_netcdf(tmp_path),
        lambda file: file["time_bnds"].setncattr("units", "hours since 1970-01-01 00:00:00"),
    )
    assert read(same).forecasts[0].first == day("2026-11-22")


def test_years_without_forecasts_are_a_sentence(tmp_path: Path) -> None:
    def counted(units: str, calendar: str = "standard") -> Callable[[netCDF4.Dataset], None]:
        def apply(dataset: netCDF4.Dataset) -> None:
            dataset["time"].delncattr("bounds")
            dataset["time"].setncatts({"units": units, "calendar": calendar})

        return apply

    for units, calendar, cause in (
        ("hours since 0001-01-01", "proleptic_gregorian", r"time\[0\] that is 0057-.*, outside 1800-01-01"),
        ("hours since 0001-01-01", "standard", "before the calendar was changed in October 1582"),
        ("days since 2008-09-20", "standard", r"time\[0\] that is 3374-.*, outside 1800-01-01"),
    ):
        with pytest.raises(SourceError, match=cause):
            read(with_bounds(weather_files.written_netcdf(tmp_path), counted(units, calendar)))
    far = (np.datetime64("1970-01-01") - np.datetime64("0001-01-01")).astype(int) * 24

    def since_year_1(dataset: netCDF4.Dataset) -> None:
        counted("hours since 0001-01-01", "proleptic_gregorian")(dataset)
        dataset["time"][:] += far

    assert read(with_bounds(weather_files.written_netcdf(tmp_path), since_year_1)).forecasts[0].first == day(
        "2026-11-22"
    )
    of_year_1 = [row.replace("2026-11-22T0", "0001-01-01T0") for row in weather_files.lines()]
    with pytest.raises(InvalidInput, match="of the year 1 is none: give the time at which its run began"):
        read(weather_files.written_csv(tmp_path, of_year_1))


def test_without_a_time_of_availability_the_time_of_arrival_counts(tmp_path: Path) -> None:
    result = weather_files.document()
    del result["available_time"]
    assert read(weather_files.written_json(tmp_path, result)).issue.available_time == weather_files.RECEIVED


def _without_day(result: dict[str, Any]) -> None:
    weather_of = result["basins"][weather_files.BASINS[0]]
    weather_of["time"] = [weather_files.DAYS[0], weather_files.DAYS[2]]
    weather_of["traces"] = {
        label: {name: values[:2] for name, values in trace.items()} for label, trace in weather_of["traces"].items()
    }


def _first(result: dict[str, Any]) -> dict[str, list[float | None]]:
    trace: dict[str, list[float | None]] = result["basins"][weather_files.BASINS[0]]["traces"]["1"]
    return trace


@pytest.mark.parametrize(
    ("shown", "spoil"),
    [
        ("2026-11-23 is missing", _without_day),
        ("precipitation is missing on 2026-11-23 in trace 1", lambda s: _first(s).update(precipitation=[1, None, 1])),
        ("more or fewer values than the trace has days", lambda s: _first(s).update(tmax=[1, 2])),
        ("different variables", lambda s: _first(s).pop("tmax")),
        ("tmin is above tmax on 2026-11-22 in trace 1", lambda s: _first(s).update(tmin=[30, 0, 0])),
        ("precipitation is negative", lambda s: _first(s).update(precipitation=[1, 1, -0.5])),
        (
            "begins between",
            lambda s: s["basins"][weather_files.BASINS[0]].update(time=["2025-11-22", "2025-11-23", "2025-11-24"]),
        ),
        (
            "comes twice in trace",
            lambda s: s["basins"][weather_files.BASINS[0]].update(
                time=[weather_files.DAYS[0]] * 2 + [weather_files.DAYS[1]]
            ),
        ),
    ],
)
def test_a_faulty_basin_is_refused_by_name_and_the_rest_is_read(
    tmp_path: Path, shown: str, spoil: Callable[[dict[str, Any]], None]
) -> None:
    result = weather_files.document()
    spoil(result)
    found = read(weather_files.written_json(tmp_path, result))
    assert [forecast.basin for forecast in found.forecasts] == [weather_files.BASINS[1]]
    assert shown in found.refused[weather_files.BASINS[0]]


def test_a_wrong_unit_refuses_every_basin(tmp_path: Path) -> None:
    result = weather_files.document()
    result["units"]["tmax"] = "K"
    assert read(weather_files.written_json(tmp_path, result)).refused.keys() == set(weather_files.BASINS)
    path = weather_files.written_netcdf(tmp_path)
    with netCDF4.Dataset(path, "a") as dataset:
        dataset["tmax"].units = "K"
    assert "tmax is stated in 'K', but must be in degC" in read(path).refused[weather_files.BASINS[0]]


def test_a_basin_under_two_names_is_refused(tmp_path: Path) -> None:
    result = weather_files.document()
    result["basins"]["01013500"] = result["basins"][weather_files.BASINS[0]]
    found = read(weather_files.written_json(tmp_path, result))
    assert [forecast.basin for forecast in found.forecasts] == [weather_files.BASINS[1]]
    assert "comes twice" in found.refused[weather_files.BASINS[0]]


def test_a_missing_value_of_netcdf_is_a_missing_lead(tmp_path: Path) -> None:
    path = weather_files.written_netcdf(tmp_path)
    with netCDF4.Dataset(path, "a") as dataset:
        dataset["tmin"][1, 0, 1] = np.ma.masked
    assert "tmin is missing on 2026-11-23 in trace 1" in read(path).refused[weather_files.BASINS[0]]


CSV_FAULTS = [
    (lambda rows: rows[:1], "there is no row"),
    (lambda rows: [rows[0].replace("tmax_degC", "tmax_K"), *rows[1:]], "is not a variable with its unit"),
    (lambda rows: [rows[0].replace("model", "modle"), *rows[1:]], "model is missing"),
    (lambda rows: [*rows, rows[-1].replace("two-guesses", "another")], "line 14: model differs from that in the first"),
    (lambda rows: [row.replace("2026-11-22T00:00:00Z", "yesterday") for row in rows], "_time is not an instant"),
    (lambda rows: [row.replace("2026-11-22T00:00:00Z", "0001-01-01T00:00+20:00") for row in rows], "is not an instant"),
    (lambda rows: [*rows[:-1], rows[-1].replace("2026-11-24", "2026-11-31")], "not a calendar day"),
]


@pytest.mark.parametrize(("spoil", "shown"), CSV_FAULTS)
def test_a_broken_table_is_refused_with_the_line(
    tmp_path: Path, spoil: Callable[[list[str]], list[str]], shown: str
) -> None:
    with pytest.raises(SourceError, match=shown):
        read(weather_files.written_csv(tmp_path, spoil(weather_files.lines())))


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"basins": []}, "its field basins cannot be read"),
        ({"reference_time": "0001-01-01T00:00:00+20:00"}, "outside the years"),
        ({"hail": 1}, "not a weather forecast"),
        ({"units": {"<script>": "mm"}}, "units"),
    ],
)
def test_a_broken_document_is_refused_and_not_repeated(tmp_path: Path, change: dict[str, Any], shown: str) -> None:
    with pytest.raises(SourceError, match=shown) as refused:
        read(weather_files.written_json(tmp_path, weather_files.document() | change))
    assert "script" not in str(refused.value)


def test_names_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    path = weather_files.written_netcdf(tmp_path)
    with netCDF4.Dataset(path, "a") as dataset:
        dataset.institution = "The River Office of Somewhere"
    with pytest.raises(InvalidInput, match="source of a weather forecast is not a name"):
        read(path)


def test_netcdf_that_claims_too_many_values_is_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        for name, size in (("station", 9_000), ("time", 300), ("realization", 250)):
            dataset.createDimension(name, size)
        station = dataset.createVariable("station", str, ("station",))
        station.cf_role = "timeseries_id"
        for name in ("time", "realization"):
            dataset.createVariable(name, "f8", (name,)).standard_name = name
        dataset.createVariable("precipitation", "f4", ("station", "time", "realization"), chunksizes=(1, 1, 1))
    with pytest.raises(SourceError, match="more than 20000000 values"):
        read(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data(), st.sampled_from(WRITERS))
def test_damaged_bytes_never_do_more_than_be_refused(
    tmp_path: Path, data: st.DataObject, write: Callable[[Path], Path]
) -> None:
    path = write(tmp_path)
    content = bytearray(path.read_bytes())
    if path.suffix == ".nc":  # the C library may not survive other damage; a job that reads it has a process of its own
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    try:
        found = read(path)
    except Problem:
        return
    assert len(found.forecasts) + len(found.refused) <= 12
