"""Ratings and official categories that services renew in mid-flood: stages, levels, and answers about the past."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hydrology.base.calendar import day
from jobspec.feed_kinds import NewFeed, read_settings
from operations.basin_data.sources import Intake
from operations.feeds.fetch import FetchCallbacks, fetch
from records.database.engine import Database
from records.feeds import feeds
from records.feeds.feeds import FetchedBasin
from runtime.clock import Clock
from runtime.settings import Settings
from testing.feed_services.gauge_tables import STAGES, cfs, flood, rating_file
from testing.feed_services.server import replacing_services
from testing.feed_services.server import serving as serving_feeds
from testing.feed_services.world import World
from testing.records import BASIN, NOW, a_run
from testing.work import work_of
from tests.app import factories
from tests.app.alerts.test_alerts import fill_records
from tests.app.conftest import bearer, serving

HERE = f"/v1/basins/{BASIN}"
CATEGORIES = tuple(STAGES)
M3 = 0.3048**3


@dataclass
class Office:
    """A service in mid-flood, its clock, and the services that it asks."""

    database: Database
    url: str
    world: World
    settings: Settings
    folder: Path
    now: datetime = NOW

    def later(self, *faults: Any) -> None:
        """Let a day go by, after which services have these faults."""
        self.now += timedelta(days=1)
        self.world.now = self.now
        self.world.faults = {self.world.today: faults}

    def fetch(self, name: str) -> FetchedBasin:
        intake = Intake(self.folder, self.settings.ingest_hosts, None, lambda *_: None, lambda *_: None)
        listener = FetchCallbacks(pause=lambda _seconds: None)
        (done,) = fetch(work_of(self.database, Clock(self.now), self.settings), intake, name, listener=listener)
        return done

    def ask(self, *addresses: str, **headers: str) -> list[Any]:
        with serving(self.url, self.now) as client:
            return [client.get(address, headers=headers).json() for address in addresses]

    def post(self, address: str, body: dict[str, Any], key: dict[str, str]) -> Any:
        with serving(self.url, self.now) as client:
            return client.post(address, json=body, headers=key)

    def levels(self) -> dict[str, Any]:
        """Return the official categories as they are."""
        return {one["name"]: one for one in self.ask(f"{HERE}/thresholds")[0]["fixed"] if one["category"]}

    def issue(self) -> str:
        with self.database.transaction() as session:
            at = {"issued_at": self.now, "available_at": self.now}
            return a_run(session, self.version, factories.forecast(), t0=day("2008-09-30"), horizon_days=3, **at).id

    version: str = ""


@pytest.fixture
def office(database: Database, database_url: str, tmp_path: Path) -> Iterator[Office]:
    world = World({}, NOW, ratings={BASIN: rating_file(BASIN)}, categories={BASIN: flood(minor=cfs(9), major=cfs(14))})
    with serving_feeds(world) as url, replacing_services(url):
        settings = Settings(data=tmp_path, ingest_hosts=(("127.0.0.1", int(url.rpartition(":")[2])),))
        opened = Office(database, database_url, world, settings, tmp_path, version=fill_records(database))
        with database.transaction() as session:
            for name in ("ratings", "categories"):
                feeds.create(session, NewFeed(name=name, settings=read_settings({"adapter": name})), None, NOW)
        yield opened


def past_answers(office: Office, run: str) -> dict[str, Any]:
    """Return what is answered about a run and its day, without what depends on the clock."""
    then = (NOW + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    addresses = [f"{HERE}/{part}?run={run}" for part in ("outlook", "exceedance", "rain-margin")]
    addresses += [f"{HERE}/forecasts/latest/stage?known_at={then}", f"{HERE}/rating?known_at={then}"]
    answers = office.ask(*addresses)
    return {
        address: {name: of for name, of in answer.items() if name not in ("at", "freshness")}
        for address, answer in zip(addresses, answers, strict=True)
    }


def stages_and_levels(office: Office) -> Any:
    return office.ask(f"{HERE}/forecasts/latest/stage")[0]["stage_ft"], office.levels()


def test_t10_an_added_gauge_gets_both_and_a_rating_renewed_in_mid_flood_changes_no_past_answer(office: Office) -> None:
    assert office.ask(f"{HERE}/rating")[0]["type"] == "/problems/no-rating"
    assert (office.fetch("ratings").status, office.fetch("categories").status) == ("new", "new")
    before = office.levels()
    assert {name: one["discharge_by"] for name, one in before.items()} == dict.fromkeys(CATEGORIES, "rating")
    for name, one in before.items():
        assert one["discharge"] == pytest.approx(cfs(STAGES[name]) * M3, rel=1e-3)
        assert (one["stage"]["ft"], one["official_stage_ft"]) == (pytest.approx(STAGES[name], abs=0.01), STAGES[name])
    assert before["minor"]["impact"] == "The mill road floods."
    run = office.issue()
    past, stages = past_answers(office, run), office.ask(f"{HERE}/forecasts/latest/stage")[0]
    assert {"minor", "major"} <= {one["name"] for one in past[f"{HERE}/exceedance?run={run}"]["levels"]}
    assert {"minor", "major"} <= {one["level"] for one in past[f"{HERE}/outlook?run={run}"]["threat"]["levels"]}
    # The flood moves the bed: less flow at each stage.
    office.later()
    office.world.ratings[BASIN] = rating_file(BASIN, 45.0)
    assert office.fetch("ratings").status == "new"
    after, now = office.levels(), office.ask(f"{HERE}/forecasts/latest/stage")[0]
    for name, one in after.items():
        assert one["discharge"] == pytest.approx(cfs(STAGES[name], 45) * M3, rel=1e-3)
    (first, second) = (stages["rating_version"], now["rating_version"])
    assert {one["stage"]["rating_version"] for one in before.values()} == {first}
    assert {one["stage"]["rating_version"] for one in after.values()} == {second}
    assert np.all(np.array(now["stage_ft"]["p95"]) > np.array(stages["stage_ft"]["p95"]))
    assert now["rating_valid_from"] == str(office.now.date())
    # Answers about the run that was issued before stay as they were; so do they after another change.
    assert past_answers(office, run) == past
    of_later = office.issue()
    past_of_later = past_answers(office, of_later)
    assert past_of_later[f"{HERE}/outlook?run={of_later}"]["threat"] != past[f"{HERE}/outlook?run={run}"]["threat"]
    office.later()
    office.world.ratings[BASIN] = rating_file(BASIN, 48.0)
    office.fetch("ratings")
    assert past_answers(office, run) == past
    assert past_answers(office, of_later) == past_of_later
    # Every version is there, with its dates; the same file again is none.
    office.later()
    office.world.ratings[BASIN] = rating_file(BASIN, 48.0).replace(
        "20081001", "20081004"
    )  # the time of the shifts alone
    assert office.fetch("ratings").status == "unchanged"
    listed = office.ask(f"{HERE}/ratings")[0]["ratings"]
    assert [one["version"] for one in listed][1:] == [second, first]
    assert [one["valid_from"] for one in listed] == ["2008-10-03", "2008-10-02", "2008-10-01"]
    assert all(one["in_force"] == one["set_at"] and one["number"] == "7.0" for one in listed)


@pytest.mark.parametrize(
    ("feed", "fault", "status", "sentence"),
    [
        ("categories", "nwps-no-flows", "unchanged", None),
        ("categories", "nwps-nothing", "unchanged", "none of this gauge"),
        ("categories", "nwps-404", "unchanged", "none of this gauge"),
        ("categories", "nwps-500", "failed", "answers 500"),
        ("ratings", "ratings-404", "unchanged", "none of this gauge"),
        ("ratings", "ratings-500", "failed", "answers 500"),
        ("ratings", "ratings-elsewhere", "failed", "no other is asked"),
        ("ratings", "ratings-cut-off", "failed", "Line"),
    ],
)
def test_t10_what_a_service_no_longer_gives_or_fails_to_changes_nothing(
    office: Office, feed: str, fault: str, status: str, sentence: str | None
) -> None:
    office.fetch("ratings")
    office.fetch("categories")
    run = office.issue()
    before, past = stages_and_levels(office), past_answers(office, run)
    office.later(fault)
    done = office.fetch(feed)
    assert (done.status, sentence is None or sentence in (done.reason or "")) == (status, True), done.reason
    assert (stages_and_levels(office), past_answers(office, run)) == (before, past)
    assert all(host.startswith("127.0.0.1") for host in {sent["Host"] for *_, sent in office.world.requests})
    office.later()
    assert office.fetch(feed).status == "unchanged"


@pytest.mark.parametrize(
    ("size", "datum", "why"),
    [(90.0, 0.0, "It jumps: it and the rating in force differ 1.8 times"), (50.0, 500.0, "share no stage. major: At")],
)
def test_t10_a_rating_that_jumps_or_has_another_datum_waits_for_a_forecaster(
    office: Office, size: float, datum: float, why: str
) -> None:
    office.fetch("ratings")
    office.fetch("categories")
    run = office.issue()
    before, past = stages_and_levels(office), past_answers(office, run)
    office.later()
    office.world.ratings[BASIN] = rating_file(BASIN, size, datum)
    (warning,) = office.fetch("ratings").warnings
    assert why in warning
    assert (stages_and_levels(office), past_answers(office, run)) == (before, past)
    ann = bearer(office.database, "forecaster", "ann")
    (held,), status = (office.ask("/v1/ratings/held", **ann)[0]["ratings"], office.ask("/v1/status")[0])
    assert (why in held["held"], held["in_force"], held["missing"]["in_force"][:8]) == (True, None, "It waits")
    assert "ratings-held" in {one["code"] for one in status["degraded"]}
    with serving(office.url, office.now) as client:
        page = client.get("/held", headers=ann).text
    assert "<strong>Waits until somebody decides</strong>: version 2 by waterdata.usgs.gov" in page
    assert f'data-call="POST {HERE}/ratings/held"' in page
    # It waits as one version, however often it comes.
    office.later()
    assert office.fetch("ratings").status == "unchanged"
    assert office.ask("/v1/ratings/held", **ann)[0]["ratings"] == [held]
    address, ruling = f"{HERE}/ratings/held", {"version": held["version"], "ruling": "approve", "note": "Seen"}
    if datum:
        done = office.post(address, ruling | {"ruling": "dismiss"}, ann)
        assert (done.status_code, done.json()["in_force"], done.json()["ruled_by"]) == (200, None, "ann")
        assert stages_and_levels(office) == before
        assert office.fetch("ratings").status == "unchanged"
        assert office.ask("/v1/ratings/held", **ann)[0]["ratings"] == []
    else:
        done = office.post(address, ruling, ann)
        assert (done.status_code, done.json()["note"]) == (200, "Seen")
        moderate = office.levels()["moderate"]
        assert moderate["discharge"] == pytest.approx(cfs(11, size) * M3, rel=1e-3)
        assert moderate["stage"]["rating_version"] == held["version"]
    assert past_answers(office, run) == past
    again = office.post(address, ruling, ann)
    assert (again.status_code, again.json()["type"]) == (404, "/problems/no-rating-held")


def test_t10_a_rating_that_contradicts_the_flows_of_the_categories_waits(office: Office) -> None:
    office.world.categories[BASIN] = flood(minor=2.5 * cfs(9), major=2.5 * cfs(14))
    office.fetch("categories")
    before = office.levels()
    (warning,) = office.fetch("ratings").warnings
    assert "minor: At its stage of 9.00 ft the rating gives" in warning
    assert "they differ 2.5 times" in warning
    assert office.levels() == before
    # Another that agrees takes its place, and it is no longer to be decided.
    office.later()
    office.world.ratings[BASIN] = rating_file(BASIN, 125.0)
    assert (office.fetch("ratings").status, office.fetch("ratings").warnings) == ("new", [])
    assert office.levels()["minor"]["discharge_by"] == "rating"
    ann = bearer(office.database, "forecaster", "ann")
    assert office.ask("/v1/ratings/held", **ann)[0]["ratings"] == []
    assert [one["ruling"] for one in office.ask(f"{HERE}/ratings")[0]["ratings"]] == [None, "dismiss"]


def test_a_service_replaces_no_level_that_a_person_set_and_no_words_of_another(office: Office) -> None:
    with serving(office.url, office.now) as client:
        admin = bearer(office.database, "admin")
        body = {"document": {"flood": flood(minor=600.0)}, "source": "county", "instructions": {"minor": "Move cars."}}
        client.put(f"{HERE}/flood-categories", json=body, headers=admin)
        client.put(f"{HERE}/thresholds/major", json={"discharge": 777.0}, headers=admin)
    office.later()
    office.fetch("categories")
    office.fetch("ratings")
    levels = {one["name"]: one for one in office.ask(f"{HERE}/thresholds")[0]["fixed"]}
    assert (levels["major"]["discharge"], levels["major"]["category"]) == (777.0, None)
    assert (levels["minor"]["instruction"], levels["minor"]["source"]) == ("Move cars.", "NOAA/NWS")
