"""What is asked every day makes no more work after years than after days."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy.orm import Session

from hydrology.base.calendar import begin_of, day
from records.database.engine import Database
from records.forecasts import latest
from records.runs import run_arrays, runs, states
from records.series import revisions, series_writer
from records.weather import weather_issues
from testing.records import (
    BASIN,
    NOW,
    a_basin,
    a_promoted_version,
    a_run,
    a_source,
    a_state,
    a_version,
    a_weather_forecast,
    an_issue,
    daily,
    issued,
)

FEW, MANY = 4, 60
START = day("2008-10-01")

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def instructions(database: Database, ask: Callable[[Session], object]) -> int:
    """Return how many instructions of SQLite's machine a question takes, which does not depend on the computer's."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    with database.reading() as session:
        driver = session.connection().connection.driver_connection
        assert driver is not None
        driver.set_progress_handler(step, 1)
        ask(session)
        driver.set_progress_handler(None, 1)
    return count


def work_after_days(
    database: Database, pass_days: Callable[[int, int], None], ask: Callable[[Session], object]
) -> tuple[int, int]:
    """Return the work that a question makes after few days, and after many."""
    pass_days(0, FEW)
    before = instructions(database, ask)
    pass_days(FEW, MANY)
    return before, instructions(database, ask)


def test_the_newest_day_of_products_is_found_without_reading_the_arrivals_of_years(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)

    def pass_days(first: int, last: int) -> None:
        with database.transaction() as session:
            for number in range(first, last):
                source, day = a_source(session, f"{number}"), str(START + number)
                for product in ("live", "usgs"):
                    series_writer.write(session, BASIN, product, "tmax", daily(day, 1.0, unit="degC"), source, NOW)

    before, after = work_after_days(database, pass_days, revisions.newest_days)
    assert 0 < after <= before


def test_the_latest_forecast_is_found_without_reading_the_runs_of_years(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)

    def pass_days(first: int, last: int) -> None:
        with database.transaction() as session:
            for number in range(first, last):
                a_run(session, version, t0=START + number)

    def ask(session: Session) -> None:
        newest = latest.latest(session, BASIN, NOW)
        runs.content_of_many(session, [(newest.run.id, BASIN)])

    before, after = work_after_days(database, pass_days, ask)
    assert 0 < after <= before


def test_run_content_and_states_to_prune_are_found_by_key(database: Database) -> None:
    basins = ("SYNTH-01", "SYNTH-02")
    discharge = run_arrays.RunSeries(
        "discharge", "mm/day", {"member": [0], "lead": [1, 2]}, np.ones((1, 2), np.float32)
    )
    run_ids: list[str] = []
    with database.transaction() as session:
        for basin in (BASIN, *basins):
            a_basin(session, basin)
        version = a_version(session).id

    def pass_days(first: int, last: int) -> None:
        with database.transaction() as session:
            for number in range(first, last):
                results = [replace(issued(basin), series=[discharge]) for basin in basins]
                run_ids.append(a_run(session, version, *results, t0=START + number).id)
                states.put(session, [a_state(version, str(START + number))], NOW)

    def read_contents(session: Session) -> None:
        contents = runs.content_of_many(session, [(run_ids[0], basins[0]), (run_ids[1], basins[1])])
        assert all(content.series for content in contents.values())

    def find_outdated(session: Session) -> None:
        states.outdated(session, NOW, [(version, basin, START) for basin in basins])

    def find_oldest(session: Session) -> None:
        states.outdated(session, begin_of(START, "UTC"), [(version, BASIN, START)])

    pass_days(0, FEW)
    asked = (read_contents, find_outdated, find_oldest)
    before = [instructions(database, ask) for ask in asked]
    pass_days(FEW, MANY)
    after = [instructions(database, ask) for ask in asked]
    assert all(0 < later <= first for first, later in zip(before, after, strict=True)), (before, after)


def test_a_page_of_weather_forecasts_is_listed_without_reading_those_of_years(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)

    def pass_days(first: int, last: int) -> None:
        with database.transaction() as session:
            for number in range(first, last):
                weather_issues.store(
                    session, [a_weather_forecast(an_issue(str(START + number)))], NOW, operational=True
                )

    later = NOW + timedelta(days=MANY)
    before, after = work_after_days(
        database, pass_days, lambda session: weather_issues.list_issues(session, later, limit=2)
    )
    assert 0 < after <= before
