"""Files of rivals: every shape gives the same flows by basin and issue, and what is wrong is named with its row."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from extensions.rivals.reading import RivalFlows, read
from hydrology.base.calendar import day
from hydrology.base.errors import InvalidInput
from hydrology.uncertainty.error_model import LEVELS
from ingestion.base import SourceError

BASINS = ("USGS-01013500", "USGS-01030500")
ISSUES = ("2005-03-01", "2005-03-02", "2005-03-04")
LEADS = 3
FLOW = np.random.default_rng(5).gamma(2, 20, (2, 3, LEADS)).astype(np.float32)
"""By basin, issue and day, m3/s."""
ROWS = [
    (basin, issued, str(day(issued) + ahead), float(FLOW[at, of, ahead]))
    for at, basin in enumerate(BASINS)
    for of, issued in enumerate(ISSUES)
    for ahead in range(LEADS)
]


def table(names: str = "basin,issued,date,discharge") -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=names.split(","))


def csv(path: Path) -> RivalFlows:
    table().to_csv(path / "rival.csv", index=False)
    return read(path / "rival.csv", "m3/s")


def teehr(path: Path) -> RivalFlows:
    rows = table("location_id,reference_time,value_time,value").assign(unit_name="m^3/s", configuration_name="nwm30")
    rows["location_id"] = rows["location_id"].str.replace("USGS", "usgs")
    for name in ("reference_time", "value_time"):
        rows[name] = pd.to_datetime(rows[name])
    rows["reference_time"] += pd.Timedelta(hours=6)
    rows.to_parquet(path / "rival.parquet")
    return read(path / "rival.parquet")


def dataset() -> xr.Dataset:
    """Return gauge x issue x lead, as archives of global services have it, in cubic feet per second."""
    return xr.Dataset(
        {"streamflow": (("gauge_id", "issue_time", "lead_time"), FLOW / 0.0283168466, {"units": "ft3 s-1"})},
        {
            "gauge_id": [basin.removeprefix("USGS-") for basin in BASINS],
            "issue_time": np.array(ISSUES, "datetime64[ns]"),
            "lead_time": np.arange(LEADS).astype("timedelta64[D]").astype("timedelta64[ns]"),
        },
    )


def zarr(path: Path) -> RivalFlows:
    dataset().to_zarr(path / "rival.zarr", zarr_format=2)
    return read(path / "rival.zarr")


def netcdf(path: Path) -> RivalFlows:
    dataset().to_netcdf(path / "rival.nc")
    return read(path / "rival.nc")


@pytest.mark.parametrize("shape", [csv, teehr, zarr, netcdf])
def test_every_shape_gives_the_same_flows(shape: Callable[[Path], RivalFlows], tmp_path: Path) -> None:
    found = shape(tmp_path)
    assert (found.kind, found.values_per_day) == ("forecasts", 1)
    assert set(found.flows) == {(basin, day(issued)) for basin in BASINS for issued in ISSUES}
    for (basin, issued), flow in found.flows.items():
        expected = FLOW[BASINS.index(basin), ISSUES.index(str(issued))]
        np.testing.assert_allclose(flow, expected[None], rtol=1e-6)


def test_members_become_quantiles_and_a_day_that_one_lacks_is_missing(tmp_path: Path) -> None:
    members = np.random.default_rng(6).gamma(2, 20, (31, LEADS))
    rows = [
        (BASINS[0], ISSUES[0], str(day(ISSUES[0]) + ahead), m, members[m, ahead])
        for m in range(31)
        for ahead in range(3)
    ]
    frame = pd.DataFrame(rows[:-1], columns=["basin", "issued", "date", "member", "discharge"])
    frame.to_csv(tmp_path / "rival.csv", index=False)
    found = read(tmp_path / "rival.csv", "m3/s")
    (flow,) = found.flows.values()
    assert found.values_per_day == len(LEVELS)
    np.testing.assert_allclose(flow[:, :2], np.quantile(members[:, :2], LEVELS, axis=0), rtol=1e-6)
    assert np.isnan(flow[:, 2]).all()


def test_without_issues_it_is_a_simulation(tmp_path: Path) -> None:
    days = pd.date_range("2000-02-27", "2000-03-02")
    frame = pd.DataFrame({"gauge_id": "01013500", "time": days, "streamflow": range(5)}).drop(index=2)
    frame.to_csv(tmp_path / "rival.csv", index=False)
    found = read(tmp_path / "rival.csv", "cumecs")
    assert found.kind == "simulation"
    ((basin, first), flow) = next(iter(found.flows.items()))
    assert (basin, first) == (BASINS[0], day("2000-02-27"))
    np.testing.assert_array_equal(flow, [[0, 1, np.nan, 3, 4]])


def test_basins_are_named_by_ours(tmp_path: Path) -> None:
    table().replace({BASINS[0]: "hybas_1", BASINS[1]: "hybas_2"}).to_csv(tmp_path / "rival.csv", index=False)
    found = read(tmp_path / "rival.csv", "m3/s", {"hybas_2": "SYNTH-01"})
    assert {basin for basin, _ in found.flows} == {"SYNTH-01"}
    with pytest.raises(SourceError, match="no identifier"):
        read(tmp_path / "rival.csv", "m3/s")


@pytest.mark.parametrize(
    ("row", "column", "value", "problem"),
    [
        (3, "discharge", "-999", r"rival\.csv: row 4: the flow is not between 0 and"),
        (4, "discharge", "lots", "row 5: the flow is not a number"),
        (2, "discharge", "inf", "row 3: the flow is not between"),
        (1, "date", "2005-02-29", "row 2: the date is none"),
        (5, "issued", "soon", "row 6: the issued is none"),
        (0, "date", "2005-03-01T06:00", "row 1: its day begins at no midnight"),
        (0, "date", "2005-02-27", "row 1: the day is before its issue"),
        (1, "date", "2005-03-01", "row 2: the day comes twice"),
        (7, "basin", "1013500", "no identifier.*leading zero"),
    ],
)
def test_what_is_wrong_is_named_with_its_row(tmp_path: Path, row: int, column: str, value: str, problem: str) -> None:
    frame = table().astype(str)
    frame.loc[row, column] = value
    frame.to_csv(tmp_path / "rival.csv", index=False)
    with pytest.raises(SourceError, match=problem):
        read(tmp_path / "rival.csv", "m3/s")


@pytest.mark.parametrize(
    ("header", "unit", "problem"),
    [
        ("basin,issued,date,flow", "m3/s", "no column is the discharge"),
        ("basin,issued,day,discharge", "m3/s", "no column is the date"),
        ("basin,value,date,discharge", "m3/s", "value and discharge are both discharge"),
        ("basin,issued,date,discharge", None, "states no unit"),
        ("basin,issued,date,discharge", "mm/day", "a unit that is not of discharge; give flow in cfs or m3/s"),
    ],
)
def test_what_lacks_is_named(tmp_path: Path, header: str, unit: str | None, problem: str) -> None:
    table(header).to_csv(tmp_path / "rival.csv", index=False)
    with pytest.raises((SourceError, InvalidInput), match=problem):
        read(tmp_path / "rival.csv", unit)


@pytest.mark.parametrize("name", ["rival.nc", "rival.parquet", "rival.zarr", "rival.txt"])
def test_a_file_of_another_format_is_refused_without_its_content(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a secret")
    with pytest.raises(SourceError, match=r"cannot be read|no known format") as refused:
        read(tmp_path / name)
    assert "secret" not in str(refused.value)
