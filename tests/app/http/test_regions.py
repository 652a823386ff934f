"""A key for a region changes nothing outside it, at any address of the document."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from jobspec.feed_kinds import NewFeed
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.alerts import deliveries, subscriptions
from records.alerts.deliveries import Delivery
from records.basins import basins
from records.basins.ownership import Basin
from records.basins.regions import Region
from records.database.base import Base
from records.database.engine import Database
from records.database.stored import add_all, as_values, upsert
from records.feeds import feeds
from records.runs.tables import Adjustment
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_job, a_promoted_version, a_run, issued
from tests.app.conftest import bearer
from tests.openapi import paths

THERE = "USGS-13235000"
"""A basin of the other region."""
OUTSIDE, SCOPE = "outside-region", "scope-too-small"
FEED = {"name": "theirs", "settings": {"adapter": "open-meteo-forecast", "model": "ecmwf_ifs"}}
FORECAST = {"kind": "forecast", "params": {"basins": [THERE]}}
PLACE = {"name": "Mill", "latitude": 44.0, "longitude": -115.0, "area_km2": 118.4}
WITHOUT_BASIN: dict[str, tuple[Any, str]] = {
    "post_job": (FORECAST, OUTSIDE),
    "cancel_job": (None, "not-your-job"),
    "post_basin": ({"basin": THERE}, OUTSIDE),
    "create_schedule": (None, SCOPE),
    "replace_schedule": (None, SCOPE),
    "delete_schedule": (None, SCOPE),
    "combine_models": (None, SCOPE),
    "promote_model": (None, SCOPE),
    "roll_back_model": (None, SCOPE),
    "start_shadow_of_version": (None, SCOPE),
    "end_shadow_of_version": (None, SCOPE),
    "put_region": (None, SCOPE),
    "delete_region": (None, SCOPE),
    "delete_feed": (None, "not-your-feed"),
    "change_subscription": ({"least_severity": "watch"}, "not-your-subscription"),
    "rotate_secret": (None, "not-your-subscription"),
    "resume_subscription": (None, "not-your-subscription"),
    "delete_subscription": (None, "not-your-subscription"),
    "replay_delivery": (None, "not-your-subscription"),
    "publish_adjustment": ({"note": "Agreed."}, OUTSIDE),
    "delete_adjustment": (None, OUTSIDE),
}
"""The operations that change something and have no basin in their address: a body about one, and the problem."""
OF_THE_KEY = {"create_feed", "create_subscription", "post_observations", "post_weather"}
"""The operations that store what is the key's own, or what only its own runs use: they change no basin."""


@pytest.fixture
def ids(sqlite_database: Database) -> dict[str, str]:
    """What is stored, all of it others', of a basin outside the region; by the name of its parameter."""
    with sqlite_database.transaction() as session:
        for region in (Region(id="north", huc="01"), Region(id="south", huc="17")):
            upsert(session, Region, [as_values(region)])
        basins.upsert(session, Basin(BASIN, huc="0101"))
        basins.upsert(session, Basin(THERE, huc="1705"))
        key = keys.make(session, "head office", "admin", None, NOW)[0].id
        version = a_promoted_version(session, THERE)
        run = a_run(session, version, issued(THERE)).id
        draft = Adjustment(
            id="01a1fa31d0a6718d9e12f4",
            run_id=run,
            basin_id=THERE,
            factor=2.0,
            shift_days=0,
            chances={},
            words="More.",
            author="Ann",
            key_id=key,
            created_at=NOW,
        )
        add_all(session, Adjustment, [as_values(draft)])
        receiver = NewSubscription(url="https://rivers.example/hook", region="south")
        subscription = subscriptions.create(session, receiver, key, NOW, Settings()).id
        delivery = {"id": "d1", "subscription_id": subscription, "status": "pending", "tries": 0}
        add_all(session, Delivery, [delivery])
        feeds.create(session, NewFeed.model_validate(FEED), key, NOW)
        return {
            "basin": THERE,
            "version": version,
            "adjustment": draft.id,
            "subscription": subscription,
            "delivery": deliveries.page(session)[0].id,
            "job": a_job(session, kind="check"),
            "feed": "theirs",
            "region": "south",
            "schedule": "none",
            "threshold": "bankfull",
            "run": run,
        }


def of_region(database: Database, scope: keys.Scope) -> dict[str, str]:
    """Return the header of a new key for the region north."""
    with database.transaction() as session:
        token = keys.make(session, "Ann", scope, None, NOW, "north")[1]
    return {"Authorization": f"Bearer {token}"}


def writing() -> Iterator[tuple[str, str, str]]:
    """Yield the method, the path and the name of each operation that changes something."""
    for path, operations in paths().items():
        for method, operation in operations.items():
            if method != "get":
                yield method, path, operation["operationId"]


def content(database: Database) -> dict[str, str]:
    """Return all that is stored, by table."""
    with database.reading() as session:
        tables = Base.metadata.sorted_tables
        return {table.name: str(session.execute(select(table).order_by(*table.primary_key)).all()) for table in tables}


@pytest.mark.parametrize("scope", ["operator", "forecaster"])
def test_t7_no_operation_changes_anything_of_a_basin_outside(
    sqlite_database: Database, sqlite_client: TestClient, ids: dict[str, str], scope: keys.Scope
) -> None:
    header = of_region(sqlite_database, scope)
    before = content(sqlite_database)
    with_basin = 0
    for method, path, name in writing():
        if name in OF_THE_KEY:
            continue
        body, problem = WITHOUT_BASIN.get(name, (None, OUTSIDE))
        if "{basin}" in path:
            assert name not in WITHOUT_BASIN
            with_basin += 1
        else:
            assert name in WITHOUT_BASIN, f"{name} is new: what does it change, and of which basin?"
        needs_forecaster = scope == "operator" and name in ("publish_adjustment", "delete_adjustment")
        expected = {SCOPE} if needs_forecaster else {problem}
        if name == "post_job" and scope == "operator":
            continue  # a run of its own
        answer = sqlite_client.request(method, path.format_map(ids), headers=header, json=body)
        assert answer.status_code == 403, (name, answer.text)
        found = answer.json()
        kind = found["type"].removeprefix("/problems/")
        assert kind in expected | ({SCOPE} if "{basin}" in path else set()), (name, found)
        if kind == OUTSIDE:
            assert found["detail"] == (
                f"The key of Ann is for the region north, and {THERE} does not lie in it: the key reads what is public "
                "there and changes nothing. Use a key of the region south or without a region."
            )
    assert with_basin >= 14
    assert content(sqlite_database) == before


def test_what_a_key_stores_of_its_own_changes_no_basin(
    sqlite_database: Database, sqlite_client: TestClient, ids: dict[str, str]
) -> None:
    header = of_region(sqlite_database, "forecaster")
    table = [{"basin": THERE, "date": "2008-04-01", "precipitation_mm_per_day": 3.2}]
    feed = {"name": "mine", "settings": {"adapter": "files", "from": ["/srv"], "product": "own", "basins": [THERE]}}
    receiver = {"url": "https://rivers.example/other", "basins": [THERE]}
    before = content(sqlite_database)
    assert sqlite_client.post("/v1/subscriptions", headers=header, json=receiver).status_code == 201
    assert sqlite_client.post("/v1/basins/observations", headers=header, json=table).status_code == 202
    refused = sqlite_client.post("/v1/feeds", headers=header, json=feed)
    assert (refused.status_code, "not writable by the feed" in refused.text) == (422, True)
    after = content(sqlite_database)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"subscriptions", "jobs", "job_events", "audit"}
    assert ids["basin"] == THERE


def test_in_its_region_a_key_does_what_its_scope_may(
    sqlite_database: Database, sqlite_client: TestClient, ids: dict[str, str]
) -> None:
    header = of_region(sqlite_database, "forecaster")
    level = {"discharge": 12.0}
    assert sqlite_client.put(f"/v1/basins/{BASIN}/thresholds/street", headers=header, json=level).status_code == 201
    forecast = {"kind": "forecast", "params": {"basins": [BASIN]}}
    assert sqlite_client.post("/v1/jobs", headers=header, json=forecast).status_code == 202
    for kind in ("forecast", "daily"):
        answer = sqlite_client.post("/v1/jobs", headers=header, json={"kind": kind, "params": {}})
        assert answer.status_code == 403
        assert "without names of basins the job would change those of all regions" in answer.json()["detail"]
    unknown = sqlite_client.put("/v1/basins/USGS-09999999/thresholds/street", headers=header, json=level)
    assert unknown.status_code == 404
    assert ids["region"] == "south"


def test_own_basins_are_registered_in_the_region_alone(
    sqlite_database: Database, sqlite_client: TestClient, ids: dict[str, str]
) -> None:
    header = of_region(sqlite_database, "operator")
    for huc, status in (("0103", 201), ("1705", 403), (None, 403)):
        own = PLACE | ({} if huc is None else {"huc": huc})
        answer = sqlite_client.put(f"/v1/basins/OWN-mill{status}", headers=header, json=own)
        assert answer.status_code == status, answer.text
        if huc is None:
            added = sqlite_client.post("/v1/basins", headers=header, json={"basin": "OWN-new", **PLACE})
            assert (added.status_code, "register the new basin with its `huc` first" in added.text) == (403, True)
    moved = sqlite_client.put("/v1/basins/OWN-mill201", headers=header, json=PLACE | {"huc": "1705"})
    assert (moved.status_code, moved.json()["type"]) == (403, f"/problems/{OUTSIDE}")
    assert sqlite_client.get("/v1/basins/OWN-mill201").json()["huc"] == "0103"
    with sqlite_database.reading() as session:
        assert basins.known(session, ["OWN-mill403", "OWN-new"]) == []
    assert ids["region"] == "south"


def test_what_is_not_public_yet_is_read_in_the_region_alone(
    sqlite_database: Database, sqlite_client: TestClient, ids: dict[str, str]
) -> None:
    whole, north = bearer(sqlite_database, "forecaster"), of_region(sqlite_database, "forecaster")
    address = f"/v1/adjustments/{ids['adjustment']}"
    for header, drafts, status in ((whole, 1, 200), (north, 0, 403)):
        assert len(sqlite_client.get("/v1/adjustments", headers=header).json()["adjustments"]) == drafts
        assert (sqlite_client.get(address, headers=header).status_code == 403) == (status == 403)
        assert (sqlite_client.get(f"/adjustments/{ids['adjustment']}", headers=header).status_code == 403) == (
            status == 403
        )
    assert sqlite_client.get(f"/v1/basins/{THERE}", headers=north).status_code == 200
