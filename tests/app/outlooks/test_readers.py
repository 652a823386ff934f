"""Every reader shows the numbers of the outlook, of whatever distribution they are, and however the run stands."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from hydrology.extremes.return_periods import ReturnPeriods
from operations.alerts.decide_alerts import carry_out, decide
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.levels import basin_levels, categories_and_doubts
from records.runs.run_types import BasinResult
from records.runs.run_weather import RunPart
from records.series import series_writer
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_source, a_version, not_issued
from testing.work import work_of
from tests.app.adjustments.test_adjustments import draft, publish
from tests.app.conftest import bearer, serving
from tests.app.outlooks.readers import READERS, Shown, compared_fields, number_fields
from tests.app.outlooks.test_outlooks import PER_MM, fill_records, forecast
from tests.records.alerts.test_thresholds import a_record

Case = Callable[[Database, TestClient], None]
LATER = NOW + timedelta(days=9)
OF_LEVELS = {f"threat.{name}.{field}" for name in ("likely", "possible") for field in ("chance", "discharge")}
OF_LEVELS |= {"threat.possible.return_period_years", "threat.levels.return_period_years"}
ALONE = {"days.lead_days", "days.mean", "now.age_days", "now.change", "threat.alert.chance"} | OF_LEVELS
"""Numbers that no other reader shows, or that stand in the outlook twice."""


def _issued(database: Database, _client: TestClient | None = None) -> None:
    _fill(database)
    decide(work_of(database, Clock(NOW)), [BASIN])


def _of_members(database: Database, _client: TestClient) -> None:
    _fill(database, calibrated=False)


def _fill(database: Database, *, calibrated: bool = True) -> None:
    of_past = a_record(12)
    past = replace(of_past, values=of_past.values * np.float32(PER_MM / 5000), unit="m3/s")
    with database.transaction() as session:
        series_writer.write(session, a_basin(session), "usgs", "discharge", past, a_source(session), NOW)
    fill_records(database, calibrated=calibrated)
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN, latitude=47.2, longitude=-68.6))
        categories_and_doubts.confirm(session, BASIN, ["ford", "street", "dam"])


def _of_parts(database: Database, _client: TestClient) -> None:
    """Store a run of a combined version, whose members have weights."""
    _fill(database, calibrated=False)
    with database.transaction() as session:
        versions = [a_version(session).id for _ in "ab"]
        a_run(session, a_promoted_version(session), _combined(versions), horizon_days=3)


def _combined(versions: list[str]) -> BasinResult:
    result = forecast(calibrated=False)
    parts = tuple(
        RunPart(
            name=name,
            version=version,
            product=name,
            weight=weight,
            parent_day=None,
            parent_hash=None,
            state_hash="state",
            inputs_hash="inputs",
        )
        for name, weight, version in zip("ab", (0.8, 0.2), versions, strict=True)
    )
    named = {"member": ["a-0", "b-0"]}
    series = [replace(one, axes={**one.axes, **named}) if "member" in one.axes else one for one in result.series]
    row = replace(result.basin, summary=replace(result.basin.summary, parts=parts))
    return replace(result, basin=row, series=series)


def _adjusted(database: Database, client: TestClient) -> None:
    _issued(database, client)
    ann, run = bearer(database, "forecaster", "Ann"), Shown(client, database, BASIN).outlook["run"]
    publish(client, ann, draft(client, ann, run, factor=3.0, shift_days=1, chances={"dam": 0.2})["id"])
    carry_out(work_of(database, Clock(NOW)))


def _newer_withheld(database: Database, client: TestClient) -> None:
    _issued(database, client)
    with database.transaction() as session:
        version = a_promoted_version(session)
        a_run(session, version, forecast(), horizon_days=3)
        a_run(session, version, not_issued("The ledger does not close."), t0=day("2008-10-01"))


def _held(database: Database, _client: TestClient) -> None:
    """Store a forecast whose changes of alerts wait for approval."""
    _fill(database)
    holding = Database(database.url, approval=timedelta(hours=1))
    decide(work_of(holding, Clock(NOW)), [BASIN])
    holding.close()


@pytest.mark.parametrize("case", [_issued, _of_members, _of_parts, _adjusted, _newer_withheld, _held])
def test_every_reader_shows_the_outlook(sqlite_database: Database, sqlite_client: TestClient, case: Case) -> None:
    case(sqlite_database, sqlite_client)
    assert _faults(Shown(sqlite_client, sqlite_database, BASIN)) == []


def test_every_reader_shows_the_outlook_of_a_stale_forecast(sqlite_database: Database) -> None:
    _issued(sqlite_database)
    with serving(sqlite_database.url, LATER) as client:
        shown = Shown(client, sqlite_database, BASIN)
        assert shown.outlook["freshness"]["state"] == "stale"
        assert _faults(shown) == []


def _faults(shown: Shown) -> list[str]:
    assert sum(reader.expected(shown.outlook) is not None for reader in READERS) >= 40
    assert shown.sentence == shown.forecast["in_words"]
    return [fault for reader in READERS for fault in reader.faults(shown)]


def test_every_number_of_the_outlook_is_compared_or_stands_there_alone(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    _issued(sqlite_database)
    outlook = Shown(sqlite_client, sqlite_database, BASIN).outlook
    assert number_fields(outlook) - compared_fields(outlook) == ALONE


def test_the_return_period_of_a_peak_is_that_of_the_fits_of_the_levels(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    _issued(sqlite_database)
    with sqlite_database.reading() as session:
        record = basin_levels.of_record(session, BASIN)
    periods = ReturnPeriods.of(record.statistics, record.floods)
    assert isinstance(periods, ReturnPeriods)
    peak = Shown(sqlite_client, sqlite_database, BASIN).outlook["peak"]
    expected = periods.of_flow(peak["discharge"])
    assert (peak["return_period_bound"], expected.years > 0.5) == (expected.bound, True)
    assert peak["return_period_years"] == pytest.approx(expected.years, rel=1e-4)


def test_without_levels_of_a_record_a_peak_has_no_return_period_and_the_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database)
    outlook = Shown(sqlite_client, sqlite_database, BASIN).outlook
    assert outlook["peak"]["return_period_years"] is None
    assert outlook["missing"]["peak.return_period_years"] == "Years with enough days: 0. A level needs 10."
