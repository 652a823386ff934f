"""A feed is asked by a job and by a schedule."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from jobspec.feed_kinds import NewFeed, read_settings
from records.access import audit
from records.basins import basins
from records.basins.ownership import Basin
from records.feeds import feeds
from records.jobs import jobs, schedules
from records.levels import basin_levels
from records.series import series
from records.series.revisions import SOURCES
from testing.feed_services.gauge_tables import STAGES, cfs, flood, rating_file
from testing.feed_services.server import serving
from testing.feed_services.world import World
from testing.jobs.in_process import InProcessJobs
from tests.ingestion.feeds.conftest import MAINE, NOW, PLACES, gauge
from tests.workers.tasks.divided import in_jobs, in_parts_of
from workers.scheduler import fire

NOTHING_MISSING: dict[str, Any] = {"holes": {}, "warnings": []}


@pytest.fixture
def world(empty_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The gauges, which a feed follows."""
    with empty_jobs.database.transaction() as session:
        for basin, (latitude, longitude) in PLACES.items():
            basins.upsert(session, Basin(basin, None, latitude, longitude))
        feeds.create(session, NewFeed(name="flow", settings=read_settings({"adapter": "usgs"})), None, NOW)
    world = World({basin: gauge(basin) for basin in PLACES}, NOW)
    with serving(world) as url:
        monkeypatch.setenv("FRESHET_USGS_URL", f"{url}/ogcapi/v0")
        monkeypatch.setenv("FRESHET_INGEST_HOSTS", url.removeprefix("http://"))
        monkeypatch.setenv("FRESHET_AS_OF", NOW.isoformat())
        yield world


def test_a_job_fetches_a_feed_and_reports_what_it_stored(empty_jobs: InProcessJobs, world: World) -> None:
    done = empty_jobs.ended(empty_jobs.post("fetch", None, feed="flow").id)
    assert (done.status, done.result) == ("succeeded", {"counts": {"new": 3}, "failed": {}} | NOTHING_MISSING)
    again = empty_jobs.ended(empty_jobs.post("fetch", None, feed="flow").id)
    assert again.result == {"counts": {"unchanged": 3}, "failed": {}} | NOTHING_MISSING
    world.gauges = {basin: one for basin, one in world.gauges.items() if basin != MAINE}
    partly = empty_jobs.ended(empty_jobs.post("fetch", None, feed="flow").id)
    assert partly.result is not None
    assert (partly.status, set(partly.result["failed"])) == ("succeeded", {MAINE})
    with empty_jobs.database.reading() as session:
        log = [event.data["text"] for event in jobs.events_after(session, partly.id, 0) if event.type == "log"]
    assert any(line.startswith(f"{MAINE} failed: USGS knows no daily mean discharge") for line in log)


def test_the_trail_has_the_checksums_of_what_a_feed_gave(empty_jobs: InProcessJobs, world: World) -> None:
    for _ in range(2):
        empty_jobs.ended(empty_jobs.post("fetch", None, feed="flow").id)
    world.gauges = {MAINE: gauge(MAINE)}
    empty_jobs.ended(empty_jobs.post("fetch", None, feed="flow").id)
    with empty_jobs.database.reading() as session:
        entries = [one for one in audit.page(session)[::-1] if one.action == "feed fetched"]
        with_sums = set(session.scalars(select(SOURCES.c.sha256)))
    first, again, partly = (one.detail for one in entries)
    assert (first["new"], first["file_count"], first["changed_days"]) == (3, 3, 0)
    assert first["new_days"] > 0
    assert {file["sha256"] for file in first["files"]} <= with_sums
    assert all("/collections/daily/items USGS-" in file["name"] for file in first["files"])
    assert (again["unchanged"], again["new_days"]) == (3, 0)
    assert (partly["failed"], partly["file_count"]) == (2, 1)
    assert MAINE in partly["files"][0]["name"]


def test_jobs_renew_ratings_and_official_categories(
    empty_jobs: InProcessJobs, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = os.environ["FRESHET_INGEST_HOSTS"]
    monkeypatch.setenv("FRESHET_USGS_RATINGS_URL", f"http://{host}/stac/v0")
    monkeypatch.setenv("FRESHET_NWPS_URL", f"http://{host}/nwps/v1")
    world.ratings, world.categories = {MAINE: rating_file(MAINE)}, {MAINE: flood(minor=cfs(9))}
    for name in ("ratings", "categories"):
        with empty_jobs.database.transaction() as session:
            feeds.create(session, NewFeed(name=name, settings=read_settings({"adapter": name})), None, NOW)
        done = empty_jobs.ended(empty_jobs.post("fetch", None, feed=name).id)
        assert (done.status, done.result) == (
            "succeeded",
            {"counts": {"new": 1, "unchanged": 2}, "failed": {}} | NOTHING_MISSING,
        )
    with empty_jobs.database.reading() as session:
        levels = {one.name: one.discharge for one in basin_levels.of_basin(session, MAINE)}
    assert levels == pytest.approx({name: cfs(stage) * 0.3048**3 for name, stage in STAGES.items()}, rel=1e-3)


def test_a_fetch_in_parts_reports_what_the_whole_does(
    empty_jobs: InProcessJobs, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts_of(monkeypatch, "fetch", 1)
    world.gauges = {basin: one for basin, one in world.gauges.items() if basin != MAINE}
    done, parts = in_jobs(empty_jobs, "fetch", feed="flow")
    assert sorted(part.params["basins"] for part in parts) == sorted([basin] for basin in PLACES)
    assert done.result is not None
    assert (done.result["counts"], set(done.result["failed"])) == ({"new": 2, "failed": 1}, {MAINE})
    with empty_jobs.database.reading() as session:
        (entry,) = [one for one in audit.page(session) if one.action == "feed fetched"]
        error = feeds.get(session, "flow").last_error
    assert (entry.detail["new"], entry.detail["failed"], entry.detail["file_count"]) == (2, 1, 2)
    assert str(error).startswith(f"1 of 3 basins failed. {MAINE}: ")


def test_a_job_of_which_nothing_came_has_failed(empty_jobs: InProcessJobs, world: World) -> None:
    world.faults = {world.today: ["usgs-403"]}
    failed = empty_jobs.ended(empty_jobs.post("fetch", None, feed="flow").id)
    assert failed.problem is not None
    assert failed.problem["detail"].startswith("None of the 3 basins could be fetched.")
    assert empty_jobs.ended(empty_jobs.post("fetch", None, feed="none").id).problem == {
        "kind": "unknown-feed",
        "detail": "No feed 'none' is stored here: list the feeds to see their names.",
    }


@pytest.mark.usefixtures("world")
def test_a_schedule_fetches_a_feed(empty_jobs: InProcessJobs) -> None:
    due = schedules.NewSchedule(
        name="flow", kind="fetch", params={"feed": "flow"}, cron="0 7 * * *", timezone="UTC", next_run_at=NOW
    )
    with empty_jobs.database.transaction() as session:
        schedule = schedules.create(session, due, datetime.now(UTC))
    assert fire(empty_jobs.tools) == 1
    with empty_jobs.database.reading() as session:
        (posted,) = jobs.list_jobs(session, kind="fetch")
    assert posted.schedule_id == schedule.id
    assert empty_jobs.ended(posted.id).status == "succeeded"
    with empty_jobs.database.reading() as session:
        assert series.read(session, MAINE, "usgs", "discharge") is not None
