"""The outlook of basins over the API."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, event, select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from hydrology.outlook import LEVELS
from hydrology.uncertainty.error_model import LEVELS as ALL_LEVELS
from jobspec.levels import NewThreshold
from operations.alerts.decide_alerts import decide
from records.database.engine import Database
from records.levels import basin_levels
from records.outlooks import outlooks, reader
from records.outlooks.flow_outlooks import OUTLOOKS
from records.runs import run_arrays, run_types
from records.series import series_writer
from records.upkeep import prune_runs
from records.versions import promotions
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_reason, a_run, a_source, daily, not_issued
from testing.work import work_of
from tests.app import factories
from tests.app.adjustments.test_adjustments import draft, publish
from tests.app.conftest import bearer

PER_MM = factories.AREA_M2 / 1000 / 86_400
OUTLOOK = f"/v1/basins/{BASIN}/outlook"
FLOW = [9.0, 1.0, 1.5, 1.25]


def fill_records(database: Database, *, calibrated: bool = True) -> str:
    """Store a basin with levels, observed flow and a forecast, and return its version."""
    with database.transaction() as session:
        a_basin(session)
        for name, depth in (("ford", 0.01), ("street", 4.0), ("dam", 1000.0)):
            basin_levels.put(session, BASIN, NewThreshold(name=name, discharge=depth * PER_MM), NOW)
        record = daily("2008-09-26", *(flow * PER_MM for flow in FLOW), unit="m3/s")
        series_writer.write(session, BASIN, "usgs", "discharge", record, a_source(session), NOW)
        version = a_promoted_version(session)
        a_run(session, version, forecast(calibrated=calibrated), horizon_days=3)
    return version


def forecast(*, calibrated: bool = True) -> run_types.BasinResult:
    if calibrated:
        return factories.forecast()
    summary = replace(factories.SUMMARY, calibration=a_reason("No error model."))
    result = factories.forecast(summary=summary)
    bare = [one for one in result.series if one.variable not in (run_arrays.CALIBRATED, run_arrays.PATHS)]
    return replace(result, series=bare)


def read(client: TestClient, **chosen: Any) -> dict[str, Any]:
    answer = client.get(OUTLOOK, params={"units": "mm/day"} | chosen)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_a_calibrated_forecast_has_an_outlook(database: Database, client: TestClient) -> None:
    version = fill_records(database)
    found = read(client)
    assert (found["flow"], found["version"], found["adjustment"]) == ("calibrated", version, None)
    assert found["freshness"]["state"] == "fresh"
    now = found["now"]
    assert (now["day"], now["age_days"], now["discharge"]) == ("2008-09-29", 2, pytest.approx(1.25, rel=1e-6))
    assert (now["change"], now["trend"], now["level"]) == (pytest.approx(0.25, rel=1e-6), "rising", "ford")
    rows = [factories.CALIBRATED[place] for place in _places(LEVELS)]
    np.testing.assert_allclose([*found["days"]["quantiles"].values()], rows, rtol=1e-6)
    np.testing.assert_allclose(found["days"]["mean"], factories.PATHS.mean(axis=0), rtol=1e-6)
    assert found["peak"]["discharge"] == pytest.approx(np.median(factories.PATHS.max(axis=1)), rel=1e-6)
    assert found["peak"]["day_p05"] <= found["peak"]["day"] <= found["peak"]["day_p95"]
    threat = found["threat"]
    chances = {level["level"]: level["chance"] for level in threat["levels"]}
    assert chances["street"] == pytest.approx(float((factories.PATHS > 4).any(axis=1).mean()), abs=0.1)
    assert (threat["window_days"], threat["possible"]["level"]) == (3, "street")
    assert threat["likely"]["level"] in {"ford", "street"}
    assert (found["snow"]["percent_of_normal"], found["snow"]["correlation"]) == (150.0, 0.96)
    of_forecast = client.get(f"/v1/basins/{BASIN}/forecasts/latest").json()["storage"]["snow_read"]["at_t0"]
    for name in ("uncertain", "in_words"):
        assert found["snow"][name] == of_forecast[name]
    assert found["days"]["percent_of_normal"] == pytest.approx(100 * rows[4].sum() / factories.NORMAL.sum(), rel=1e-6)
    _every_null_has_a_reason(found)


def _places(levels: tuple[float, ...]) -> list[int]:
    return [ALL_LEVELS.index(level) for level in levels]


def _every_null_has_a_reason(found: dict[str, Any]) -> None:
    missing = found["missing"]
    for path in _nulls({name: value for name, value in found.items() if name != "missing"}):
        assert path in missing, path
    assert all(missing.values())


def _nulls(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of null fields, but of parts that have their own reasons: stages, levels, adjustments."""
    for name, part in value.items():
        of_part = f"{path}{name}"
        if part is None:
            yield of_part
        elif isinstance(part, dict) and name not in ("stage", "likely", "possible", "adjustment"):
            yield from _nulls(part, f"{of_part}.")


def test_without_an_error_model_the_numbers_are_the_members(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, calibrated=False)
    found = read(sqlite_client)
    assert found["flow"] == "members"
    np.testing.assert_allclose(found["days"]["mean"], factories.DISCHARGE.mean(axis=0), rtol=1e-6)
    shown = sqlite_client.get(f"/v1/basins/{BASIN}/forecasts/latest", params={"units": "mm/day"}).json()
    for name, values in shown["discharge"].items():
        assert found["days"]["quantiles"][name] == pytest.approx(values, rel=1e-6)
    assert found["peak"]["discharge"] == pytest.approx(np.median(factories.DISCHARGE.max(axis=1)), rel=1e-6)
    assert (found["peak"]["day"], found["threat"]["likely"]["level"]) == ("2008-10-03", "ford")
    _every_null_has_a_reason(found)


def test_a_published_adjustment_changes_every_number_and_what_was_issued_stands_beside(
    database: Database, client: TestClient
) -> None:
    fill_records(database)
    before, ann = read(client), bearer(database, "forecaster", "Ann")
    drafted = draft(client, ann, before["run"], factor=2.0, chances={"dam": 0.25})
    assert read(client) == before
    publish(client, ann, drafted["id"])
    after = read(client)
    assert after["adjustment"]["id"] == drafted["id"]
    assert after["days"]["issued"] == before["days"]["quantiles"]
    for name, values in before["days"]["quantiles"].items():
        assert after["days"]["quantiles"][name] == pytest.approx([2 * value for value in values], rel=1e-6)
    assert after["peak"]["discharge"] == pytest.approx(2 * before["peak"]["discharge"], rel=1e-6)
    assert after["threat"]["possible"]["level"] == "dam"
    assert after["threat"]["possible"]["chance"] == 0.25


def test_levels_that_are_set_or_removed_are_compared_at_once(database: Database, client: TestClient) -> None:
    fill_records(database)
    admin, here = bearer(database, "admin"), f"/v1/basins/{BASIN}/thresholds"
    client.put(f"{here}/mill", json={"discharge": 0.5 * PER_MM}, headers=admin)
    client.delete(f"{here}/ford", headers=admin)
    levels = {level["level"]: level["chance"] for level in read(client)["threat"]["levels"]}
    assert levels.keys() == {"mill", "street", "dam"}
    assert levels["mill"] > 0.8


def test_an_alert_stands_while_it_ends_and_while_its_change_waits(database: Database, client: TestClient) -> None:
    version = fill_records(database)
    decide(work_of(database, Clock(NOW)), [BASIN])
    alert = read(client)["threat"]["alert"]
    assert (alert["level"], alert["severity"], alert["is_ending"], alert["waits"]) == ("ford", "warning", False, False)
    dry = replace(forecast(), series=[_scaled(one, 0.001) for one in forecast().series])
    with database.transaction() as session:
        a_run(session, version, dry, t0=day("2008-10-01"), horizon_days=3, available_at=NOW + timedelta(days=1))
    later = NOW + timedelta(days=1)
    decide(work_of(database, Clock(later)), [BASIN])
    with database.reading() as session:
        standing = reader.outlook(session, BASIN, later).alert
    assert standing is not None
    assert (standing.alert.severity, standing.is_ending) == ("warning", True)


def _scaled(one: run_arrays.RunSeries, factor: float) -> run_arrays.RunSeries:
    is_flow = one.variable in (run_arrays.CALIBRATED, run_arrays.PATHS)
    return replace(one, values=(one.values * factor).astype(np.float32)) if is_flow else one


def test_the_issue_before_stands_beside(database: Database, client: TestClient) -> None:
    version = fill_records(database)
    first = read(client)
    assert "issued from" in first["missing"]["change"]
    with database.transaction() as session:
        a_run(session, version, forecast(), t0=day("2008-10-01"), horizon_days=3)
    change = read(client)["change"]
    assert (change["run"], change["t0"], change["peak"]) == (first["run"], "2008-09-30", first["peak"])
    chances = {level["level"]: level["chance"] for level in first["threat"]["levels"]}
    assert change["chance"] == chances[change["level"]]


def test_a_basin_without_a_forecast_has_its_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
    found = read(sqlite_client)
    assert (found["freshness"]["state"], found["run"], found["days"], found["peak"]) == ("missing", None, None, None)
    assert found["freshness"]["reason"] == found["missing"]["peak"]
    _every_null_has_a_reason(found)
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session)
        a_run(session, version, not_issued("The ledger does not close."))
    assert read(sqlite_client)["freshness"]["state"] == "withheld"
    assert sqlite_client.get("/v1/basins/99999999/outlook").status_code == 404


def test_a_withheld_newer_run_and_a_stale_one_are_shown(sqlite_database: Database, sqlite_client: TestClient) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        a_run(session, version, not_issued("The ledger does not close."), t0=day("2008-10-01"))
    fresh = read(sqlite_client)["freshness"]
    assert (fresh["state"], fresh["newer"]["status"]) == ("fresh", "withheld")
    with sqlite_database.reading() as session:
        old = reader.outlook(session, BASIN, NOW + timedelta(days=9)).freshness
    assert (old.state, str(old.since)) == ("stale", "2008-10-04 00:00:00+00:00")


def test_pruned_members_leave_the_outlook(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, calibrated=False)
    before = read(sqlite_client)
    with sqlite_database.transaction() as session:
        prune_runs.remove_members(session, [before["run"]])
    assert read(sqlite_client) == before


def test_runs_stored_before_outlooks_were_have_the_same(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    before = read(sqlite_client)
    with sqlite_database.transaction() as session:
        session.execute(delete(OUTLOOKS))
    assert read(sqlite_client) == before
    outlooks.write_missing(sqlite_database)
    with sqlite_database.reading() as session:
        assert len(session.scalars(select(OUTLOOKS)).all()) == 1
    assert read(sqlite_client) == before


def test_a_list_has_pages_and_the_same_statements_for_any_number_of_basins(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    version, counts = fill_records(sqlite_database), []
    for basins_ in ([BASIN], ["SYNTH-02", "SYNTH-03", "SYNTH-04"]):
        with sqlite_database.transaction() as session:
            for basin in basins_:
                a_basin(session, basin)
            if BASIN not in basins_:
                promotions.promote(session, version, basins_, reason="better", by="someone", at=NOW)
                a_run(session, version, *(factories.forecast(basin) for basin in basins_), horizon_days=3)
        with sqlite_database.reading() as session, counted_statements(session) as statements:
            assert reader.outlooks(session, [BASIN, *basins_], NOW)[BASIN].forecast is not None
        counts.append(len(statements))
    assert counts[1] <= counts[0] + 1  # another gauge product
    page = sqlite_client.get("/v1/outlooks", params={"limit": 2, "fields": "basin,peak"}).json()
    assert [one["basin"] for one in page["outlooks"]] == ["SYNTH-02", "SYNTH-03"]
    assert page["outlooks"][0].keys() == {"basin", "peak"}
    following = sqlite_client.get(page["next"]).json()
    assert [one["basin"] for one in following["outlooks"]] == ["SYNTH-04", BASIN]
    assert following["next"] is None


@contextmanager
def counted_statements(session: Session) -> Iterator[list[str]]:
    """Yield a list that gets the statements of a session."""
    statements: list[str] = []
    connection = session.connection()

    def note(*given: Any) -> None:
        statements.append(given[2])

    event.listen(connection, "before_cursor_execute", note)
    yield statements
    event.remove(connection, "before_cursor_execute", note)
