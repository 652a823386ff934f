"""A feed of measured flow updates the latest forecasts, and stores nothing else."""

from datetime import timedelta

from hydrology.base.calendar import day
from records.outlooks import reader
from records.outlooks.flow_outlooks import RunOutlook
from testing.records import a_promoted_version, a_run
from tests.app import factories
from tests.ingestion.feeds.conftest import COAST, DAKOTA, MAINE, NOW
from tests.operations.feeds.test_feeds import Office, office

__all__ = ["office"]


def issue(office: Office) -> None:
    with office.database.transaction() as session:
        version = a_promoted_version(session, MAINE)
        a_run(session, version, factories.forecast(MAINE), t0=day("2026-11-21"), horizon_days=3)


def label(office: Office) -> str | None:
    with office.database.reading() as session:
        stored = reader.outlook(session, MAINE, office.world.now).run_outlook
    assert isinstance(stored, RunOutlook)
    return stored.update


def test_each_newer_flow_updates_the_forecast_and_a_basin_without_one_is_no_failure(office: Office) -> None:
    office.add("now", {"adapter": "usgs-now"})
    issue(office)
    done = office.fetch("now")
    assert {basin: one.status for basin, one in done.items()} == {
        **dict.fromkeys((DAKOTA, COAST), "unchanged"),
        MAINE: "new",
    }
    assert "No model version is current" in str(done[COAST].reason)
    assert str(label(office)).startswith("Updated with the flow of 14:00 UTC")
    before = office.content()
    assert office.fetch("now")[MAINE].status == "unchanged"
    assert office.content() == before
    office.world.now = NOW + timedelta(minutes=16)
    assert office.fetch("now")[MAINE].status == "new"
    assert str(label(office)).startswith("Updated with the flow of 14:15 UTC")
    assert office.flow(MAINE) is None
    assert office.feed("now").last_error is None


def test_a_gauge_that_measures_nothing_leaves_the_forecast_as_it_is(office: Office) -> None:
    office.add("now", {"adapter": "usgs-now"})
    issue(office)
    office.world.faults = {office.world.today: ["usgs-ice-null"]}
    assert office.fetch("now")[MAINE].status == "failed"
    assert label(office) is None
