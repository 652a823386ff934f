"""What a daily cycle reads and writes of its basins, it reads and writes together but for their alerts."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from hydrology.base.series import DailySeries
from records.basins import basins
from records.database.engine import Database
from records.series import series, series_writer
from records.series.series_writer import NewSeries
from records.versions import promotions
from testing.country import BASINS
from testing.records import a_source
from tests.operations.live import FORECAST, ISSUE_DAY, PRODUCT, Station, station

EACH = 9
"""Statements of a basin a day: its alerts are decided in one transaction."""


def multiply(at: Station, times: int) -> None:
    """Add basins like the three, with their weather, version and gauge."""
    for name in BASINS:
        with at.database.transaction() as session:
            stored = basins.get(session, name)
            ((_, read),) = series.read_product(session, [name], PRODUCT)
            weather = {variable: one for variable, one in read.items() if isinstance(one, DailySeries)}
            version = promotions.current(session, [name])[name]
            for number in range(1, times):
                twin, source = f"{name}{number}", a_source(session)
                basins.upsert(session, replace(stored, id=twin))
                new = [NewSeries(twin, PRODUCT, *one, source) for one in weather.items()]
                series_writer.write_all(session, new, ISSUE_DAY)
                promotions.promote(session, version, [twin], reason="live", by="a test", at=ISSUE_DAY)
                gauge = at.world.gauges[name]
                other = replace(gauge, basin=twin, latitude=gauge.latitude + number / 100)
                at.world.gauges = {**at.world.gauges, twin: other}


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def statements_of_a_day(live_file: Path, folder: Path, times: int) -> int:
    folder.mkdir()
    database = Database(f"sqlite:///{shutil.copy(live_file, folder / 'live.sqlite')}")
    with station(database, folder) as at:
        multiply(at, times)
        at.add("ahead", FORECAST)
        at.cycle()
        with counted_statements() as statements:
            cycle = at.cycle(days=1)
    database.close()
    assert cycle.counts == {"issued": times * len(BASINS)}
    return len(statements)


def test_a_basin_more_costs_a_cycle_few_statements(live_file: Path, tmp_path: Path) -> None:
    few, many = (statements_of_a_day(live_file, tmp_path / str(times), times) for times in (2, 4))
    assert many - few <= EACH * 2 * len(BASINS)
