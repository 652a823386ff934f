"""What a page of all basins reads does not grow with their number, and is what the database holds at the clock."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from app.outlooks.today import AllBasins
from app.pages.rivers_today import PAGE
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.outlooks.overview import BasinOverview
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_source
from tests.app.conftest import serving
from tests.app.factories import forecast

STEP = 100
"""Instructions of SQLite's machine."""
OTHER = "SYNTH-01"


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Count the statements, and the steps that SQLite takes for them, on connections that are opened meanwhile."""
    counts = {"statements": 0, "steps": 0}

    def step() -> int:
        counts["steps"] += 1
        return 0

    def opened(connection: Any, _record: object) -> None:
        connection.set_progress_handler(step, STEP)

    def executed(*_of: object) -> None:
        counts["statements"] += 1

    event.listen(Engine, "connect", opened)
    event.listen(Engine, "before_cursor_execute", executed)
    yield counts
    event.remove(Engine, "connect", opened)
    event.remove(Engine, "before_cursor_execute", executed)


def test_a_page_of_all_basins_reads_no_more_where_there_are_more(sqlite: str, sqlite_database: Database) -> None:
    addresses = ("/", "/?search=river&sort=name", "/?page=2", "/?us_state=ME", "/alerts", "/v1/basins?q=river&limit=5")
    taken = list[list[dict[str, int]]]()
    for first, last in ((0, 2 * PAGE), (2 * PAGE, 8 * PAGE)):
        with sqlite_database.transaction() as session:
            for number in range(first, last):
                name, north, east = f"Fish River {number}, ME", 30 + number % 13, -110 + number % 31
                basins.upsert(session, Basin(f"SYNTH-{number:05}", name, north, east))
        with counted() as counts, serving(sqlite) as client:
            taken.append([])
            for address in addresses:
                assert client.get(address).status_code == 200
                counts |= dict.fromkeys(counts, 0)
                client.get(address)
                taken[-1].append(dict(counts))
    for address, few, many in zip(addresses, *taken, strict=True):
        assert 0 < many["statements"] == few["statements"], address
        assert many["steps"] <= 1.2 * few["steps"] + 2, address


def test_what_is_committed_is_on_the_next_page(sqlite: str, sqlite_database: Database) -> None:
    with serving(sqlite) as client:
        assert "No basin is stored yet" in client.get("/").text
        with sqlite_database.transaction() as session:
            basins.upsert(session, Basin(BASIN, "Fish River, ME"))
        assert "Fish River, ME" in client.get("/").text
        with sqlite_database.transaction() as session:
            basins.upsert(session, Basin(BASIN, "Cod River, ME"))
        page = client.get("/").text
        assert "Cod River, ME" in page
        assert "Fish River" not in page


@pytest.mark.parametrize("with_skill", [False, True])
def test_basins_are_read_again_when_a_stored_run_becomes_available(database: Database, with_skill: bool) -> None:
    later = NOW + timedelta(hours=2)
    with database.transaction() as session:
        a_basin(session, OTHER)
        version = a_promoted_version(session, a_basin(session))
        a_run(session, version, forecast(), horizon_days=3, available_at=later)
    everything = AllBasins(database)
    states = []
    for at in (NOW, later - timedelta(seconds=1), later, NOW):
        with database.reading() as session:
            found = everything.today(session, at, with_skill=with_skill)
            states.append({basin.id: basin.state for basin in found.basins})
    assert [of_basins[BASIN] for of_basins in states] == ["missing", "missing", "fresh", "missing"]


def test_what_follows_from_basins_is_derived_once_while_they_stay(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
    everything, derivations = AllBasins(database), list[int]()

    def derive(found: Sequence[BasinOverview]) -> int:
        derivations.append(len(found))
        return len(found)

    def number() -> int:
        with database.reading() as session:
            return everything.today(session, NOW).derived("number", derive)

    assert (number(), number()) == (1, 1)
    with database.transaction() as session:
        a_source(session)
    assert number() == 1
    assert derivations == [1]
    with database.transaction() as session:
        a_basin(session, OTHER)
    assert number() == 2
