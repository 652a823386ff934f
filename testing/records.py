"""Small records to test with."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import numpy as np
from sqlalchemy import Row, Table, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period, day
from hydrology.base.products import WEATHER
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries, Flag
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from records.basins import basins
from records.basins.ownership import Basin
from records.database.checksums import new_id, with_checksum
from records.database.stored import read
from records.jobs import attempts, jobs
from records.outlooks.outlooks import store_run
from records.runs import run_types
from records.runs.tables import NewState
from records.schema import Base
from records.series import revisions
from records.series import series_writer as series
from records.simulations.simulated_series import SimulatedFlow
from records.upkeep.backup import counts
from records.verification import rivals
from records.versions import promotions, trainings, versions
from records.versions.trainings import TRAININGS
from records.versions.versions import VERSIONS

BASIN = "USGS-01013500"
_seconds = count()


def instant(text: str) -> datetime:
    """Return an instant in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NOW = instant("2008-10-01T06:00")


def a_basin(session: Session, basin: str = BASIN) -> str:
    basins.upsert(session, Basin(basin))
    return basin


def a_source(session: Session, name: str = "forcing.txt") -> int:
    return revisions.register_source(session, name, "0" * 64, 1, NOW)


def daily(start: str, *values: float, flag: int = 0, unit: str = "mm/day") -> DailySeries:
    """Return a series; a NaN is MISSING."""
    array = np.array(values, dtype=np.float32)
    flags = np.where(np.isnan(array), Flag.MISSING, flag).astype(np.uint8)
    return DailySeries(day(start), array, flags, unit)


def a_record(session: Session, product: str, *years: int, basin: str = BASIN) -> None:
    """Store a day of weather in each year."""
    source = a_source(session, f"{product}.csv")
    for year in years:
        series.write(
            session, a_basin(session, basin), product, "tmax", daily(f"{year}-06-01", 1.0, unit="degC"), source, NOW
        )


def a_member(label: int = 0, weights: bytes = b"weights") -> versions.Member:
    return versions.Member(label, 1000 + label, {"best": weights + b" best", "last": weights}, {"loss": [0.5]})


def a_version(session: Session, *members: versions.Member, **chosen: Any) -> versions.Version:
    """Store a version; each is a second younger than the one before."""
    new = versions.NewVersion(
        created_at=NOW + timedelta(seconds=next(_seconds)),
        issued_at=NOW,
        architecture="mclstm",
        conserving=True,
        product="maurer_extended",
        config={"network": {"architecture": "mclstm", "cells": 64}},
        scaler={"mean": [0.0]},
        basins=(),
        data_hash="data",
        code_version="0.1.0",
        uses="last",
    )
    return versions.create(session, replace(new, **chosen), members or [a_member()])


def a_promoted_version(session: Session, basin: str = BASIN, **chosen: Any) -> str:
    version = a_version(session, **chosen).id
    promotions.promote(session, version, [basin], reason="better", by="someone", at=NOW)
    return version


def a_state(version: str, at: str, value: float = 1.0, **chosen: Any) -> NewState:
    """Return a state of two members and three cells."""
    cells = np.full((2, 3), value, dtype=np.float32)
    new = NewState(
        version_id=version,
        basin_id=BASIN,
        day=day(at),
        product="maurer_extended",
        arrays={"c": cells},
        inputs_hash="inputs",
        spin_up_days=9999,
    )
    return replace(new, **chosen)


def add_rival(session: Session, names: Sequence[str], issued: str, at: datetime) -> str:
    """Store a rival that forecasts three days in basins, and return its name."""
    source = "NOAA, National Water Model, medium range, public domain"
    rival = rivals.Rival(id="nwm", kind="forecasts", values_per_day=1, source=source, added_at=at)
    rivals.store(session, rival, {(basin, day(issued)): np.full((1, 3), 2.5, np.float32) for basin in names})
    return rival.id


def a_simulated_flow(version: str, basin: str = BASIN) -> SimulatedFlow:
    """Return four days of simulated and observed flow, of which one was not observed."""
    return SimulatedFlow(
        version_id=version,
        basin_id=basin,
        period=Period.parse("2007-10-01..2007-10-04"),
        simulated=np.array([1.5, 2.25, 0.5, 1.0], np.float32),
        observed=np.array([1.0, 2.0, np.nan, 1.25], np.float32),
        evaluated_at=NOW,
    )


def a_run(session: Session, version: str, *results: run_types.BasinResult, **chosen: Any) -> run_types.Run:
    """Store a run, issued for `BASIN` where no results are given."""
    new = run_types.NewRun(
        id=new_id(NOW + timedelta(seconds=next(_seconds))),
        t0=day("2008-09-30"),
        t0_age_days=1,
        t0_stale=False,
        horizon_days=10,
        issued_at=NOW,
        available_at=NOW,
        created_at=NOW,
        version_id=version,
        weights_hash="weights",
        code_version="0.1.0",
        program="torch 2.13.0 for AVX2, recurrence avx2",
        product="maurer_extended",
        forcing_kind="climatology",
        purpose="operational",
        members=["0", "1"],
    )
    return store_run(session, replace(new, **chosen), results or [issued()])


def issued(basin: str = BASIN) -> run_types.BasinResult:
    return run_types.BasinResult(basin=run_types.RunBasin(basin_id=basin, status="issued"))


def a_reason(message: str) -> Absent:
    """Return a missing value with a reason in these words."""
    return absent(Reason.FAILED, message=message)


def not_issued(reason: str, basin: str = BASIN, status: run_types.BasinStatus = "withheld") -> run_types.BasinResult:
    return run_types.BasinResult(basin=run_types.RunBasin(basin_id=basin, status=status, reason=a_reason(reason)))


def a_job(session: Session, **chosen: Any) -> str:
    """Post a forecast; each is a second younger than the one before."""
    new = jobs.NewJob(kind="forecast", params={"basins": [BASIN]}, queue="default")
    return jobs.create(session, replace(new, **chosen), NOW + timedelta(seconds=next(_seconds)))[0].id


def a_claimed_job(session: Session, **chosen: Any) -> str:
    """Post a job and begin its first attempt; the lease lasts an hour."""
    job = a_job(session, **chosen)
    assert attempts.claim(session, job, worker="first", lease_until=NOW + timedelta(hours=1), at=NOW)
    return job


def contents(session: Session) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table: what must stay the same where nothing is written."""
    session.expire_all()
    return {
        table.name: sorted((tuple(row) for row in session.execute(select(table))), key=repr)
        for table in Base.metadata.sorted_tables
    }


def row_counts(session: Session) -> dict[str, int]:
    """Return the number of rows of each table that has any."""
    return {name: rows for name, rows in counts(session).items() if rows}


def an_issue(reference_time: str = "2008-10-01", **chosen: Any) -> WeatherIssue:
    """Return what an invented source issued; it was available six hours after its reference time."""
    at = instant(reference_time)
    given: dict[str, Any] = {
        "source": "a-source",
        "model": "a-model",
        "available_time": at + timedelta(hours=6),
    } | chosen
    return WeatherIssue(reference_time=at, **given)


def a_weather_forecast(
    issue: WeatherIssue | None = None, basin: str = BASIN, traces: int = 2, days: int = 3, rain: float = 1.0
) -> WeatherForecast:
    """Return a forecast that begins on the day of its reference time."""
    issue = issue or an_issue()
    values = {"precipitation": rain, "tmax": 9.0, "tmin": 1.0, "srad": 200.0, "vp": 800.0}
    return WeatherForecast(
        issue=issue,
        basin=basin,
        traces=tuple(map(str, range(traces))),
        first=day(issue.reference_time.date()),
        values={name: np.full((traces, days), value, np.float32) for name, value in values.items()},
        units={name: WEATHER[name].unit for name in values},
    )


def change_row(session: Session, table: Table, row: Row[Any], **values: object) -> None:
    """Change values of a stored row, and with them its checksum."""
    own = (key == row._mapping[key.name] for key in table.primary_key)
    session.execute(table.update().where(*own).values(with_checksum(table, {**row._mapping, **values})))


def withdraw(session: Session, version: str) -> None:
    """Mark a version as one that must not be promoted."""
    change(session, VERSIONS, version, status="withdrawn")


def change(session: Session, table: Table, row_id: str, **values: object) -> None:
    session.execute(table.update().where(table.c.id == row_id).values(**values))


def list_trainings(session: Session, *, status: str | None = None) -> list[trainings.Training]:
    """Return the trainings, newest first."""
    query = select(TRAININGS).order_by(TRAININGS.c.started_at.desc(), TRAININGS.c.id)
    return read(session, trainings.Training, query if status is None else query.where(TRAININGS.c.status == status))
