"""Tables for TEEHR, held against a declaration of the schemas of its version 0.6.6 of our own."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from extensions.archive.archive_runs import RunSelection
from extensions.archive.teehr_export import Exported, export_teehr
from hydrology.base.errors import DataProblem
from hydrology.uncertainty.error_model import LEVELS
from records.database.engine import Database
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_run
from testing.work import work_of
from tests.app import factories
from tests.app.exports.conftest import SECOND, fill_records

pytestmark = pytest.mark.extended

INSTANT, TEXT = "timestamp[ms]", "string"
OF_SERIES = {
    "reference_time": (INSTANT, True),
    "value_time": (INSTANT, False),
    "value": ("float", False),
    **dict.fromkeys(("variable_name", "configuration_name", "unit_name", "location_id"), (TEXT, False)),
}
TABLES: dict[str, dict[str, tuple[str, bool]]] = {
    "units": {"name": (TEXT, False), "long_name": (TEXT, False)},
    "variables": {"name": (TEXT, False), "long_name": (TEXT, False)},
    "configurations": dict.fromkeys(("name", "timeseries_type", "description"), (TEXT, False)),
    "locations": {"id": (TEXT, False), "name": (TEXT, False), "geometry": ("binary", False)},
    "location_crosswalks": dict.fromkeys(("primary_location_id", "secondary_location_id"), (TEXT, False)),
    "primary_timeseries": OF_SERIES,
    "secondary_timeseries": OF_SERIES | {"member": (TEXT, True)},
}
"""Type and whether it may be null, of each column of TEEHR's tables."""
CLOCK = Clock(NOW)


@pytest.fixture(scope="module")
def exported(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pa.Table]:
    """The tables of a service with a run and a correction of it."""
    folder = tmp_path_factory.mktemp("teehr")
    database = Database(f"sqlite:///{shutil.copy(migrated_sqlite, folder / 'service.sqlite')}")
    fill_records(database)
    with database.transaction() as session:
        version = session.execute(_newest_version()).scalar_one()
        a_run(session, version, factories.forecast(), horizon_days=3, forcing_kind="observed")
    other = folder / "tables" / "secondary_timeseries" / "of-another-model.parquet"
    before = [other.with_stem("0" * 22), other.parents[1] / "primary_timeseries" / f"{SECOND}.parquet"]
    for file in (other, *before):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"PAR1")
    whole = export_teehr(work_of(database, CLOCK), folder / "tables", RunSelection(), members=True)
    assert [file.exists() for file in (other, *before)] == [True, False, False]
    other.unlink()
    assert whole == Exported(2, 2, [])
    assert export_teehr(work_of(database, CLOCK), folder / "tables", RunSelection(), members=True) == whole
    with pytest.raises(DataProblem):
        export_teehr(work_of(database, CLOCK), folder / "none", RunSelection(basins=["SYNTH-03"]))
    database.close()
    return {name: _read(folder / "tables", name) for name in TABLES}


def _newest_version() -> Any:
    from sqlalchemy import select

    from records.versions.versions import VERSIONS

    return select(VERSIONS.c.id).order_by(VERSIONS.c.created_at.desc()).limit(1)


def _read(folder: Path, name: str) -> pa.Table:
    file = folder / f"{name}.parquet"
    parts = [file] if file.exists() else sorted((folder / name).glob("*.parquet"))
    return pa.concat_tables([parquet.read_table(part) for part in parts])


def test_every_table_has_the_columns_and_types_of_the_library(exported: dict[str, pa.Table]) -> None:
    for name, columns in TABLES.items():
        table = exported[name]
        assert table.num_rows
        found = {field.name: str(field.type) for field in table.schema}
        own = {"created_at", "updated_at"} | ({"properties"} if "properties" in found else set())
        assert found.keys() - own == columns.keys()
        for column, (kind, nullable) in columns.items():
            assert found[column] == kind
            assert nullable or table[column].null_count == 0
    for name in ("configurations", "variables"):
        assert all(re.fullmatch("[a-zA-Z0-9_]+", text) for text in exported[name]["name"].to_pylist())
    assert not any("," in text for text in exported["variables"]["long_name"].to_pylist())


def test_rows_refer_to_the_domain_tables_and_are_unique(exported: dict[str, pa.Table]) -> None:
    crosswalk = exported["location_crosswalks"].to_pylist()
    assert {"primary_location_id": "usgs-01013500", "secondary_location_id": BASIN}.items() <= crosswalk[1].items()
    for series_, side in (("primary", "primary_location_id"), ("secondary", "secondary_location_id")):
        rows = exported[f"{series_}_timeseries"].to_pylist()
        for column, domain in (("variable_name", "variables"), ("unit_name", "units")):
            assert {row[column] for row in rows} == set(exported[domain]["name"].to_pylist())
        named = {row["name"] for row in exported["configurations"].to_pylist() if row["timeseries_type"] == series_}
        assert {row["configuration_name"] for row in rows} == named
        assert {row["location_id"] for row in rows} <= {row[side] for row in crosswalk}
        keys = [tuple(value for name, value in row.items() if name != "value") for row in rows]
        assert len({repr(key) for key in keys}) == len(keys)


def test_values_are_those_of_the_run_and_of_the_record(exported: dict[str, pa.Table]) -> None:
    rows = [row for row in exported["secondary_timeseries"].to_pylist() if row["location_id"] == BASIN]
    factor = factories.AREA_M2 / 1000 / 86_400
    median = [row for row in rows if row["configuration_name"].endswith("_median")]
    assert [str(row["value_time"]) for row in median] == [f"2008-10-0{day} 00:00:00" for day in (1, 2, 3)]
    assert {str(row["reference_time"]) for row in median} == {"2008-09-30 00:00:00"}
    expected = factories.CALIBRATED[LEVELS.index(0.5)] * factor
    np.testing.assert_allclose([row["value"] for row in median], expected, rtol=1e-6)
    members = [row for row in rows if row["configuration_name"].endswith("_members")]
    assert [row["member"] for row in members] == ["0"] * 3 + ["1"] * 3
    np.testing.assert_allclose(
        np.reshape([row["value"] for row in members], (2, 3)), factories.DISCHARGE * factor, rtol=1e-6
    )
    assert len([row for row in rows if row["configuration_name"].endswith("_paths")]) in (0, 300)
    observed = exported["primary_timeseries"].to_pylist()
    assert {row["reference_time"] for row in observed} == {None}
    assert str(observed[-1]["value_time"]) == "2008-09-30 00:00:00"
    np.testing.assert_allclose(observed[-1]["value"], 9.0 * 0.028316846592, rtol=1e-6)
    assert SECOND not in {row["location_id"] for row in observed}
