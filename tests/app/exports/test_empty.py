"""Nothing to export: every address answers in each of its formats, a table without rows has its columns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xarray
from pyarrow import BufferReader, parquet
from starlette.testclient import TestClient

from app.exports.formats import PLACES, SERIES, TABLES, Format
from app.exports.table import Column, Table
from app.forecasts.discharge import ANSWER_LEVELS
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from testing.records import BASIN, a_basin, a_promoted_version
from tests.app.conftest import bearer

pytestmark = pytest.mark.extended

FORMATS = [*dict.fromkeys((*SERIES, *TABLES, *PLACES))]
UNITS = ("m3/s", "mm/day", "cfs")
MIN_ADDRESSES = 80
FILLED = {"basin": BASIN, "collection": "forecasts", "day": "2008-04-21", "issue": "2008-04-21"}


def addresses(client: TestClient) -> Iterator[str]:
    """Yield every address that is read, in each of its formats, its parameters as their examples are."""
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        if "get" in operations and not path.endswith("/events"):  # these last
            parameters = operations["get"].get("parameters", [])
            within = [one for one in parameters if one["in"] == "path"]
            places = {one["name"]: FILLED.get(one["name"]) or _example(one) for one in within}
            queried = [one for one in parameters if one["in"] == "query"]
            needed = [f"{one['name']}={_example(one)}" for one in queried if one["required"]]
            formats = [name for one in queried if one["name"] == "format" for name in one["schema"]["enum"]]
            for asked in [[*needed, f"format={name}"] for name in formats] or [needed]:
                yield f"{path.format(**places)}?{'&'.join(asked)}".rstrip("?")


def _example(parameter: dict[str, Any]) -> Any:
    return (parameter["schema"].get("examples") or ["none"])[0]


@pytest.mark.parametrize("is_known", [False, True])
def test_a_store_without_forecasts_answers_at_every_address(
    sqlite_client: TestClient, sqlite_database: Database, is_known: bool
) -> None:
    if is_known:
        with sqlite_database.transaction() as session:
            a_promoted_version(session, a_basin(session))
    key = bearer(sqlite_database, "admin")
    asked = [*addresses(sqlite_client)]
    assert len(asked) > MIN_ADDRESSES
    answers = {address: sqlite_client.get(address, headers=key) for address in asked}
    odd = {address: answer.text for address, answer in answers.items() if answer.status_code not in (200, 404)}
    assert odd == {}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("is_known", [False, True])
def test_forecasts_of_no_basin_have_their_columns(
    sqlite_client: TestClient, sqlite_database: Database, unit: str, is_known: bool, tmp_path: Path
) -> None:
    if is_known:
        with sqlite_database.transaction() as session:
            basins.upsert(session, Basin(BASIN, "Fish River", 47.25, -68.5))
    address, rows = f"/v1/forecasts?units={unit}&format=", 1 if is_known else 0

    header, *lines = sqlite_client.get(f"{address}csv").text.splitlines()
    assert header.startswith("basin,name,latitude [degrees_north],")
    assert f",calibrated_median [{unit}]," in header
    assert len(lines) == rows

    table = parquet.read_table(BufferReader(sqlite_client.get(f"{address}parquet").content))
    assert (table.num_rows, str(table.schema.field("calibrated_median").type)) == (rows, "double")

    coverages = sqlite_client.get(f"{address}coveragejson").json()
    assert coverages["parameters"]["calibrated_median"]["unit"] == {"symbol": unit}
    assert coverages["coverages"] == []
    assert [one["basin"] for one in coverages["freshet:without"]] == [BASIN][:rows]

    file = tmp_path / "forecasts.nc"
    file.write_bytes(sqlite_client.get(f"{address}netcdf").content)
    with xarray.open_dataset(file) as dataset:
        assert (dataset.sizes["station"], dataset.sizes["time"]) == (rows, 0)
        assert {"calibrated", "discharge", "storage_total", "forecast_reference_time"} <= {
            *dataset.variables,
            *(one.attrs.get("standard_name") for one in dataset.variables.values()),
        }
        assert len(dataset["calibrated_quantile"]) == len(ANSWER_LEVELS)


@pytest.mark.parametrize("format_", FORMATS, ids=lambda one: one.name)
def test_every_format_writes_a_table_without_rows(format_: Format) -> None:
    columns = [
        Column("basin", "basin", "text", [], of_basin=True),
        Column("latitude", "latitude", "number", [], "degrees_north", of_basin=True),
        Column("longitude", "longitude", "number", [], "degrees_east", of_basin=True),
        Column("time", "day", "day", []),
        Column("discharge", "flow", "number", [], "m3/s"),
    ]
    assert format_.write is not None
    assert format_.write(Table("empty", "Empty", columns))
