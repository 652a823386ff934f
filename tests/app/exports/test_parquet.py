"""Every table as Parquet: the content of CSV, with types, units and nulls."""

import io
from typing import Any

import pandas
import pyarrow
import pytest
from pyarrow import parquet
from starlette.testclient import TestClient

from tests.app.exports.conftest import BARE, BASINS, FORECAST, FORECASTS, OBSERVATIONS, SKILL, STORAGE, VOLUMES

ADDRESSES = [FORECAST, FORECASTS, OBSERVATIONS, STORAGE, SKILL, VOLUMES, BASINS]


def content(client: TestClient, address: str) -> bytes:
    answer = client.get(address, headers={"Accept": "application/vnd.apache.parquet"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
    assert answer.headers["Content-Disposition"].endswith('.parquet"')
    return answer.content


@pytest.mark.parametrize("address", ADDRESSES)
def test_it_has_the_content_of_csv(exporting: TestClient, address: str) -> None:
    table = parquet.read_table(io.BytesIO(content(exporting, address)))
    plain = pandas.read_csv(io.BytesIO(exporting.get(address, headers={"Accept": "text/csv"}).content))
    units = [(field.metadata.get(b"unit") or b"").decode() for field in table.schema]
    assert [f"{n} [{unit}]" if unit else n for n, unit in zip(table.column_names, units, strict=True)] == list(plain)
    assert table.num_rows == len(plain)
    for name, shown in zip(table.column_names, plain, strict=True):
        values = table.column(name)
        if pyarrow.types.is_floating(values.type) or pyarrow.types.is_integer(values.type):
            assert values.to_pylist() == _nulls(plain[shown])
        assert values.null_count == plain[shown].isna().sum()


def _nulls(values: Any) -> list[float | None]:
    return [None if pandas.isna(value) else value for value in values]


def test_columns_have_types_and_meanings(exporting: TestClient) -> None:
    schema = parquet.read_schema(io.BytesIO(content(exporting, FORECAST)))
    types = {name: str(schema.field(name).type) for name in ("basin", "time", "issued_at", "stale", "lead_days")}
    assert types == {
        "basin": "string",
        "time": "date32[day]",
        "issued_at": "timestamp[us, tz=UTC]",
        "stale": "bool",
        "lead_days": "int64",
    }
    assert schema.field("loss").metadata[b"meaning"].startswith(b"water that leaves")


def test_pandas_reads_many_basins(exporting: TestClient) -> None:
    result = exporting.get(FORECASTS).json()
    table = pandas.read_parquet(io.BytesIO(content(exporting, FORECASTS))).set_index("basin")
    for forecast in result["forecasts"]:
        assert table.loc[forecast["basin"], "discharge_p90"].tolist() == forecast["discharge"]["p90"]
    assert table.loc[BARE, "reason"] == result["without"][0]["reason"]
