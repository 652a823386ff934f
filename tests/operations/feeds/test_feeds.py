"""A feed is fetched and its data are stored: whole or not at all, once, beside the earlier values."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.base.products import Credit
from hydrology.base.series import DailySeries, Flag
from ingestion.base import BasinData
from ingestion.feeds.base import Observations
from jobspec.feed_kinds import NewFeed, read_settings
from operations.basin_data.ingest import store
from operations.basin_data.sources import Intake
from operations.feeds.fetch import FetchCallbacks, fetch
from records.access import keys
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.feeds import feeds
from records.feeds.feeds import FeedConflict, FetchedBasin, ProductConflict
from records.schema import Base
from records.series import revisions, series
from records.weather import weather_issues
from runtime.clock import Clock
from runtime.settings import Settings
from testing import series_history
from testing.feed_services.server import replacing_services, serving
from testing.feed_services.world import Revision, World
from testing.records import daily
from testing.work import work_of
from tests.ingestion.feeds.conftest import COAST, DAKOTA, MAINE, NOW, PLACES, gauge

USGS = {"adapter": "usgs"}
ARCHIVE = {"adapter": "open-meteo-archive", "model": "era5", "product": "open_meteo_era5"}
FORECAST = {"adapter": "open-meteo-forecast", "model": "ecmwf_ifs"}


@dataclass
class Office:
    """A database that follows the gauges, and the services of its world."""

    database: Database
    world: World
    settings: Settings
    folder: Path

    def add(self, name: str, settings: dict[str, Any], created_by: str | None = None) -> feeds.Feed:
        with self.database.transaction() as session:
            return feeds.create(session, NewFeed(name=name, settings=read_settings(settings)), created_by, NOW)

    def fetch(self, name: str, *wanted: str, period: str | None = None, **shown: Any) -> dict[str, FetchedBasin]:
        def show(*_: Any) -> None:
            pass

        intake = Intake(self.folder / "downloads", self.settings.ingest_hosts, None, show, show)
        days = None if period is None else Period.parse(period)
        listener = FetchCallbacks(pause=lambda _seconds: None, **shown)
        clock = Clock(self.world.now)
        done = fetch(work_of(self.database, clock, self.settings), intake, name, wanted, days, listener)
        return {one.basin_id: one for one in done}

    def feed(self, name: str) -> feeds.Feed:
        with self.database.reading() as session:
            return feeds.get(session, name)

    def flow(self, basin: str) -> Any:
        with self.database.reading() as session:
            return series.read(session, basin, "usgs", "discharge")

    def content(self) -> dict[str, list[str]]:
        """Return every row of every table but those about fetches."""
        with self.database.reading() as session:
            return {
                table.name: sorted(repr(tuple(row)) for row in session.execute(select(table)))
                for table in Base.metadata.sorted_tables
                if table.name not in ("feeds", "feed_basins")
            }


@pytest.fixture
def office(database: Database, tmp_path: Path) -> Iterator[Office]:
    with database.transaction() as session:
        for basin, (latitude, longitude) in PLACES.items():
            basins.upsert(session, Basin(basin, None, latitude, longitude))
    world = World({basin: gauge(basin) for basin in PLACES}, NOW)
    with serving(world) as url, replacing_services(url):
        settings = Settings(data=tmp_path, ingest_hosts=(("127.0.0.1", int(url.rpartition(":")[2])),))
        yield Office(database, world, settings, tmp_path)


def of_product(basin: str, variable: str, values: DailySeries) -> BasinData:
    """Return what an ingest would store under the product of the archive."""
    return Observations({variable: values}, "a file").as_data(basin, "open_meteo_era5")


def statuses(done: dict[str, FetchedBasin]) -> set[tuple[str, int, int]]:
    return {(one.status, one.new_days, one.revised_days) for one in done.values()}


def test_fetched_data_are_stored_and_a_second_fetch_stores_nothing(office: Office) -> None:
    office.add("flow", USGS)
    office.add("past", ARCHIVE)
    assert statuses(office.fetch("flow")) == {("new", 30, 0)}
    assert statuses(office.fetch("past")) == {("new", 150, 0)}
    before = office.content()
    assert statuses(office.fetch("flow")) == statuses(office.fetch("past")) == {("unchanged", 0, 0)}
    assert office.content() == before
    flow = office.flow(MAINE)
    assert (str(flow.period), flow.unit) == ("2026-10-23..2026-11-21", "cfs")
    np.testing.assert_array_equal(flow.values, gauge(MAINE).flow.over(flow.period).values.astype(np.float32))


def test_days_come_one_by_one_as_they_end(office: Office) -> None:
    office.add("flow", USGS)
    office.fetch("flow")
    office.world.now += timedelta(days=1)
    assert statuses(office.fetch("flow")) == {("new", 1, 0)}
    assert str(office.flow(COAST).period) == "2026-10-23..2026-11-22"


def test_a_revised_day_is_logged_and_what_was_known_before_stays_known(office: Office) -> None:
    office.add("flow", USGS)
    office.fetch("flow")
    before = office.flow(MAINE)
    office.world.revisions = [Revision(MAINE, day("2026-11-10"), NOW + timedelta(hours=1), 5.0)]
    office.world.now += timedelta(hours=2)
    done = office.fetch("flow")
    assert (done[MAINE].status, done[MAINE].new_days, done[MAINE].revised_days) == ("revised", 0, 1)
    assert done[COAST].status == "unchanged"
    with office.database.reading() as session:
        (revision,) = series_history.revisions(session, MAINE, "usgs", "discharge")
        then = revisions.as_known_at(session, MAINE, "usgs", "discharge", NOW + timedelta(minutes=1))
    assert (revision.day, revision.old_value) == (
        day("2026-11-10"),
        before.over(Period.parse("2026-11-10..2026-11-10")).values[0],
    )
    assert then is not None
    np.testing.assert_array_equal(then.values, before.values)


def test_a_day_revised_long_ago_is_learnt_of_at_the_next_fetch(office: Office) -> None:
    office.add("flow", USGS)
    office.fetch("flow", period="2026-01-01..2026-11-21")
    office.world.revisions = [Revision(MAINE, day("2026-02-10"), NOW, 5.0)]
    office.world.now += timedelta(days=1)
    assert office.fetch("flow")[MAINE].revised_days == 1
    assert office.flow(MAINE).over(Period.parse("2026-02-10..2026-02-10")).values[0] == 5


def test_a_fetch_of_old_days_leaves_later_revisions_to_the_next_usual_fetch(office: Office) -> None:
    office.add("flow", USGS)
    office.fetch("flow")
    office.world.now += timedelta(days=40)
    office.world.revisions = [Revision(MAINE, day("2026-11-10"), NOW + timedelta(days=10), 5.0)]
    old = office.fetch("flow", period="2026-01-01..2026-01-31")
    assert (old[MAINE].new_days, old[MAINE].tried_at, old[MAINE].fetched_at) == (31, office.world.now, NOW)
    assert office.fetch("flow")[MAINE].revised_days == 1
    assert office.flow(MAINE).over(Period.parse("2026-11-10..2026-11-10")).values[0] == 5


def test_ice_is_stored_in_the_flags_and_melts_by_a_revision(office: Office) -> None:
    office.add("flow", USGS)
    office.world.faults = {office.world.today: ["usgs-ice-null"]}
    office.fetch("flow")
    flow = office.flow(MAINE)
    assert np.isnan(flow.values[-1])
    assert flow.flags[-1] == Flag.MISSING | Flag.ICE
    office.world.now += timedelta(days=1)
    assert statuses(office.fetch("flow")) == {("revised", 1, 1)}
    assert not np.isnan(office.flow(MAINE).values).any()


def test_a_basin_that_fails_retains_what_it_had_and_the_others_go_on(office: Office) -> None:
    with office.database.transaction() as session:
        basins.upsert(session, Basin("USGS-99999999", None, 45.0, -69.0))
    office.add("flow", USGS)
    done = office.fetch("flow")
    assert {basin: one.status for basin, one in done.items()} == dict.fromkeys(PLACES, "new") | {
        "USGS-99999999": "failed"
    }
    feed = office.feed("flow")
    assert feed.last_error is not None
    assert feed.last_error.startswith("1 of 4 basins failed. USGS-99999999: USGS knows no daily mean discharge")
    assert (feed.last_fetch_at, feed.last_error_at, feed.last_success_at) == (NOW, NOW, None)
    with office.database.reading() as session:
        shown = {one.basin_id: one for one in feeds.basins_of(session, feed)}
    assert shown == done
    assert (shown[MAINE].fetched_at, shown["USGS-99999999"].fetched_at) == (NOW, None)


def test_a_page_that_fails_leaves_every_row_as_it_was(office: Office) -> None:
    office.add("flow", USGS)
    office.fetch("flow")
    before = office.content()
    office.world.now += timedelta(days=1)
    office.world.page_size, office.world.faults = 7, {office.world.today: ["usgs-500-page-2"]}
    with capture_logs() as lines:
        assert statuses(done := office.fetch("flow")) == {("failed", 0, 0)}
    (line,) = [line for line in lines if line["event"] == "feed.failed"]  # once, though each basin failed
    assert (line["feed"], line["basins"], line["failed"]) == ("flow", len(done), len(done))
    assert 1 <= len(line["first_reasons"]) <= 3
    basin, _, reason = line["first_reasons"][0].partition(": ")
    assert reason == done[basin].reason
    assert office.content() == before
    assert (office.feed("flow").last_success_at, office.feed("flow").last_error_at) == (NOW, office.world.now)
    office.world.faults = {}
    assert statuses(office.fetch("flow")) == {("new", 1, 0)}
    assert office.feed("flow").last_success_at == office.world.now


def test_a_basin_is_taken_whole_or_not_at_all(office: Office) -> None:
    with office.database.transaction() as session:
        stored = of_product(MAINE, "vp", daily("2026-11-01", 1.0, unit="hPa"))
        store(session, stored, Clock(NOW))
    with office.database.transaction() as session:
        feeds.store_credit(session, "open_meteo_era5", "open-meteo-archive era5", Credit("somebody", "a licence"))
    office.add("past", ARCHIVE)
    done = office.fetch("past")
    assert (done[MAINE].status, done[COAST].status) == ("failed", "new")
    assert "stored in hPa" in str(done[MAINE].reason)
    with office.database.reading() as session:
        assert series.read(session, MAINE, "open_meteo_era5", "precipitation") is None


def test_the_time_zone_of_a_gauge_is_learnt_and_stored(office: Office) -> None:
    office.add("flow", USGS)
    office.fetch("flow")
    with office.database.reading() as session:
        assert basins.get(session, DAKOTA).texts == {"time_zone": "America/Denver"}


def test_a_feed_of_a_missing_extension_is_refused_and_the_others_go_on(office: Office) -> None:
    office.add("flow", USGS)
    office.add("past", ARCHIVE)
    with office.database.transaction() as session:
        of_flow = feeds.FEEDS.c.name == "flow"
        session.execute(feeds.FEEDS.update().where(of_flow).values(settings={"adapter": "tide-gauges"}))
    with pytest.raises(InvalidInput, match="FRESHET_EXTENSIONS, or remove the feed"):
        office.fetch("flow")
    assert statuses(office.fetch("past")) == {("new", 150, 0)}


def test_a_forecast_is_stored_once_with_its_run(office: Office) -> None:
    office.add("ahead", FORECAST)
    shown: list[str] = []
    assert statuses(office.fetch("ahead", notify=shown.append)) == {("new", 13, 0)}
    assert shown == ["The fetch weighs 3 calls by Open-Meteo's count."]
    assert statuses(office.fetch("ahead")) == {("unchanged", 0, 0)}
    with office.database.reading() as session:
        (issue,) = weather_issues.list_issues(session, office.world.now)
        forecast = weather_issues.read(session, issue.id, MAINE, office.world.now)
    assert (issue.source, issue.model, issue.operational) == ("open-meteo", "ecmwf_ifs", True)
    assert str(forecast.period) == "2026-11-19..2026-12-01"


def test_the_same_run_asked_for_on_the_next_day_stays_what_it_was(office: Office) -> None:
    office.add("ahead", FORECAST)
    office.fetch("ahead", MAINE)
    office.world.now = datetime(2026, 11, 23, 5, 30, tzinfo=UTC)  # the run of the 22nd still, and the 23rd in Maine
    (done,) = office.fetch("ahead", MAINE).values()
    assert (done.status, done.new_days) == ("unchanged", 0)
    with office.database.reading() as session:
        (issue,) = weather_issues.list_issues(session, office.world.now)
        assert str(weather_issues.read(session, issue.id, MAINE, office.world.now).period) == "2026-11-19..2026-12-01"


def test_an_ensemble_is_stored_with_all_its_members(office: Office) -> None:
    office.add("members", {"adapter": "open-meteo-ensemble", "model": "ncep_gefs025", "members": 31, "days_ahead": 3})
    assert statuses(office.fetch("members")) == {("new", 3, 0)}
    with office.database.reading() as session:
        (issue,) = weather_issues.list_issues(session, office.world.now)
        assert len(weather_issues.read(session, issue.id, MAINE, office.world.now).traces) == 31


def test_the_credit_of_the_data_outlives_the_feed(office: Office) -> None:
    feed = office.add("past", ARCHIVE)
    office.add("flow", USGS)
    office.fetch("past")
    office.fetch("flow")
    with office.database.transaction() as session:
        feeds.remove(session, feed)
    with office.database.reading() as session:
        credited = feeds.credits_of(session, ["open_meteo_era5", "usgs", "maurer"])
        assert [one.name for one in feeds.list_feeds(session)] == ["flow"]
    assert set(credited) == {"open_meteo_era5", "usgs"}
    assert credited["open_meteo_era5"].licence == "CC BY 4.0"
    assert "Open-Meteo.com" in credited["open_meteo_era5"].credit
    assert "Copernicus" in credited["open_meteo_era5"].credit
    office.add("past", ARCHIVE)  # its own product is not another's


def test_years_of_daymet_are_filled_in(office: Office) -> None:
    office.add("back", {"adapter": "daymet", "product": "daymet_pixel"})
    done = office.fetch("back", MAINE, period="2024-01-01..2024-12-31")
    assert done[MAINE].new_days == 366 * 7  # 31 December is filled, by the rule of its source


def test_tables_in_a_folder_are_ingested(office: Office) -> None:
    (office.folder / "table.csv").write_text(f"basin,date,precipitation_mm_per_day\n{MAINE},2026-11-19,2\n")
    office.add("laid-down", {"adapter": "files", "from": [str(office.folder / "table.csv")], "product": "own"})
    done = office.fetch("laid-down")
    assert (done[MAINE].status, done[COAST].status) == ("new", "unchanged")
    assert done[COAST].reason == "The service has no value for the requested days."


@pytest.mark.parametrize(
    "settings",
    [
        ARCHIVE | {"model": "ecmwf_ifs"},
        {"adapter": "daymet", "product": "open_meteo_era5"},
        {"adapter": "files", "from": ["/srv"], "product": "open_meteo_era5"},
    ],
)
def test_a_product_is_filled_from_one_origin_alone(office: Office, settings: dict[str, Any]) -> None:
    office.add("past", ARCHIVE)
    with pytest.raises(ProductConflict, match="is filled by the feed past"):
        office.add("other", settings)
    office.fetch("past")
    with office.database.transaction() as session:
        feeds.remove(session, feeds.get(session, "past"))
    with pytest.raises(ProductConflict, match="holds data from open-meteo-archive era5"):
        office.add("other", settings)


def test_ingested_data_are_not_overwritten(office: Office) -> None:
    with office.database.transaction() as session:
        store(session, of_product(MAINE, "vp", daily("2026-11-01", 700.0, unit="Pa")), Clock(NOW))
    with pytest.raises(ProductConflict, match="holds ingested or uploaded data"):
        office.add("past", ARCHIVE)


def test_a_name_is_of_one_feed_and_a_basin_is_one_that_is_stored(office: Office) -> None:
    office.add("flow", USGS)
    with pytest.raises(FeedConflict, match="A feed named flow exists already"):
        office.add("flow", USGS)
    with pytest.raises(InvalidInput, match="USGS-77777777: not stored here"):
        office.add("other", USGS | {"basins": ["USGS-77777777"]})
    with pytest.raises(InvalidInput, match="The feed flow does not include USGS-77777777"):
        office.fetch("flow", "USGS-77777777")


def test_an_operators_feed_writes_only_basins_that_its_key_registered(office: Office) -> None:
    with office.database.transaction() as session:
        mine = keys.make(session, "mill", "operator", None, NOW)[0].id
        other = keys.make(session, "dam", "operator", None, NOW)[0].id
        admin = keys.make(session, "chief", "admin", None, NOW)[0].id
        basins.register(session, "OWN-mill", mine)
        basins.register(session, "OWN-dam", other)
    files = {"adapter": "files", "from": ["/srv"], "product": "own"}
    cases: list[tuple[dict[str, Any], str | None, set[str]]] = [
        (files, mine, {"OWN-mill"}),
        (files, admin, {"OWN-mill", "OWN-dam"}),
        (files, None, {*PLACES, "OWN-mill", "OWN-dam"}),
        (ARCHIVE, mine, {"OWN-mill"}),
        (ARCHIVE, admin, {*PLACES, "OWN-mill", "OWN-dam"}),
        (USGS, mine, set()),
        (USGS, admin, set(PLACES)),
    ]
    for number, (settings, key, expected) in enumerate(cases):
        feed = office.add(f"feed-{number}", settings, key)
        with office.database.reading() as session:
            assert set(feeds.targets(session, feed)) == expected
    with pytest.raises(InvalidInput, match="OWN-dam: not stored here, or not writable by the feed mine"):
        office.add("mine", ARCHIVE | {"basins": ["OWN-dam"]}, mine)
