"""An observation is of a day that has ended at its basin, by the service's clock, on every way in."""

import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest

from extensions.caravan.source import CaravanSource
from hydrology.base.calendar import day
from hydrology.base.series import DailySeries, Flag
from ingestion.base import BasinData, SourceError, SourceFile, SourceSeries
from ingestion.sources.camels import CamelsSource
from ingestion.sources.tables import TablesSource
from operations.basin_data.ingest import ingest, store
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import series
from runtime.clock import Clock
from testing.files import caravan
from testing.work import work_of

AT = datetime(2008, 9, 20, 6, 0, tzinfo=UTC)
CLOCK = Clock(AT)
MILL = "OWN-mill"


@pytest.fixture
def empty(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Database]:
    """A database without a basin."""
    database = Database(f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'own.sqlite')}")
    yield database
    database.close()


def tables(folder: Path, *rows: str, longitude: float = -69, suffix: str = "csv") -> TablesSource:
    """Two own basins, and rows of basin, day and discharge."""
    own, seen = folder / "basins.csv", folder / f"observations.{suffix}"
    own.write_text(f"id,latitude,longitude,area_km2\nOWN-first,47,{longitude},9\n{MILL},47,{longitude},9\n")
    seen.write_text("\n".join(["basin,date,discharge_m3_per_s", *rows]) if suffix == "csv" else rows[0])
    return TablesSource(own, seen, "own")


def test_a_mistyped_year_refuses_the_table_with_line_column_day_and_value(empty: Database, tmp_path: Path) -> None:
    source = tables(tmp_path, "OWN-first,2008-09-18,4", f"{MILL},2008-09-18,8", f"{MILL},2099-01-02,8.5")
    with pytest.raises(SourceError) as refused:
        ingest(work_of(empty, CLOCK), source, table=True)
    assert str(refused.value) == (
        f"{tmp_path}/observations.csv, line 4: discharge_m3_per_s on 2099-01-02 (8.5) is of a day that has not ended "
        f"at {MILL}, where 2008-09-19 is the last that has, by the clock of the service, which stands at "
        "2008-09-20T06:00Z; correct the date, or send the day when it has ended."
    )
    with empty.reading() as session:
        assert basins.list_basins(session) == []
    as_json = tables(tmp_path, f'[{{"basin": "{MILL}", "date": "2030-01-01", "discharge_m3_per_s": 3}}]', suffix="json")
    with pytest.raises(SourceError, match=r"observations\.json: discharge_m3_per_s on 2030-01-01 \(3\)"):
        ingest(work_of(empty, CLOCK), as_json, table=True)


def test_a_day_ends_by_the_calendar_of_the_basin(empty: Database, tmp_path: Path) -> None:
    """At 06:00 UTC, 19 September has ended at 69 west, and has not at 120 west; the 20th has not anywhere near."""
    for longitude, ended in ((-69, "2008-09-19"), (-120, "2008-09-18"), (170, "2008-09-19")):
        after = str(day(ended) + 1)
        source = tables(tmp_path, f"{MILL},{ended},1", f"{MILL},{after},2", longitude=longitude)
        with pytest.raises(SourceError, match=rf"line 3: discharge_m3_per_s on {after} \(2\)"):
            ingest(work_of(empty, CLOCK), source, table=True)
        source = tables(tmp_path, f"{MILL},{ended},1", f"{MILL},{after},", longitude=longitude)
        assert [outcome.error for outcome in ingest(work_of(empty, CLOCK), source, table=True)] == [None, None]
    with empty.transaction() as session:
        basins.upsert(session, Basin(MILL, texts={"time_zone": "Pacific/Auckland"}))
    source = tables(tmp_path, f"{MILL},2008-09-20,2", longitude=-69)
    with pytest.raises(SourceError, match="2008-09-19 is the last"):
        ingest(work_of(empty, CLOCK), source, table=True)
    later = Clock(datetime(2008, 9, 20, 12, tzinfo=UTC))  # 21 September in Auckland
    assert ingest(work_of(empty, later), source, table=True)[1].error is None


def test_archives_are_refused_by_basin(empty: Database, country: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(country, tmp_path / "copy"))
    flow = copy / "usgs_streamflow/00/SYNTH-02_streamflow_qc.txt"
    lines = flow.read_text().splitlines()
    flow.write_text("\n".join([*lines, lines[-1].replace("2005 09 30", "2031 09 30")]) + "\n")
    outcomes = {outcome.basin: outcome.error for outcome in ingest(work_of(empty, CLOCK), CamelsSource([copy]))}
    assert outcomes["SYNTH-01"] is None
    assert f"SYNTH-02_streamflow_qc.txt, line {len(lines) + 1}: discharge on 2031-09-30" in str(outcomes["SYNTH-02"])
    forcing = copy / "basin_mean_forcing/synthetic/00/SYNTH-03_lump_synthetic_forcing_leap.txt"
    rows = forcing.read_text().splitlines()
    forcing.write_text("\n".join([*rows, rows[-1].replace("2005", "2031", 1)]) + "\n")
    replayed = Clock(datetime(2003, 9, 30, tzinfo=UTC))  # an archive goes on after the instant that it is replayed at
    outcomes = {outcome.basin: outcome.error for outcome in ingest(work_of(empty, replayed), CamelsSource([copy]))}
    assert outcomes["SYNTH-01"] is None
    assert f"_lump_synthetic_forcing_leap.txt, line {len(rows) + 1}: dayl(s) on 2031" in str(outcomes["SYNTH-03"])


def test_caravan_is_refused_with_its_column(empty: Database, tmp_path: Path) -> None:
    count = len(next(iter(caravan.COLUMNS.values())))
    at = [*caravan.days(count - 1, date(2020, 1, 1)), date(2031, 1, 1)]
    offsets = [*range(count - 1), (date(2031, 1, 1) - date(2020, 1, 1)).days]
    netcdf = caravan.netcdf(offsets=offsets, counted="days since 2020-01-01")
    for kind, content in (("csv", caravan.csv(at=at)), ("netcdf", netcdf)):
        folder = caravan.folder(tmp_path / kind, caravan.files(kind, content))
        (outcome,) = ingest(work_of(empty, CLOCK), CaravanSource([folder]))
        assert outcome.status == "failed"
        assert " on 2031-01-01 (" in str(outcome.error)
        assert (f", line {count + 1}: " in str(outcome.error)) == (kind == "csv")


def test_days_ahead_without_a_value_are_not_stored(empty: Database) -> None:
    values, flags = np.array([1.0, np.nan, np.nan]), np.array([0, Flag.MISSING, Flag.MISSING], np.uint8)
    file = SourceFile("own.csv", "0" * 64, 1)
    for start, last in (("2008-09-18", "2008-09-19"), ("2008-09-19", "2008-09-19")):
        flow = SourceSeries("own", "discharge", DailySeries(day(start), values, flags, "m3/s"), file)
        with empty.transaction() as session:
            basins.upsert(session, Basin(MILL))
            store(session, BasinData(MILL, series=(flow,)), CLOCK)
            stored = series.read(session, MILL, "own", "discharge")
        assert stored is not None
        assert str(stored.period.last) == last
