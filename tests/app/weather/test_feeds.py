"""Feeds over the API."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from records.basins import basins
from records.database.engine import Database
from records.feeds import feeds
from testing.records import BASIN, NOW, a_basin
from tests.app.conftest import bearer

FLOW: dict[str, Any] = {"name": "usgs-flow", "settings": {"adapter": "usgs", "basins": [BASIN]}}
PATH = "/srv/private"
FILES: dict[str, Any] = {"name": "laid-down", "settings": {"adapter": "files", "from": [PATH], "product": "own"}}


def test_a_feed_is_created_read_and_removed(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        a_basin(session)
    client.headers |= bearer(database, "admin")
    created = client.post("/v1/feeds", json=FLOW)
    assert (created.status_code, created.headers["Location"]) == (201, "/v1/feeds/usgs-flow")
    result = created.json()
    assert (result["settings"], result["adapter"], result["last_fetch_at"]) == (FLOW["settings"], "usgs", None)
    assert result["missing"].keys() >= {"product", "last_fetch_at", "last_error"}
    assert client.get("/v1/feeds").json() == {"feeds": [result]}

    fetched = feeds.FetchedBasin(basin_id=BASIN, status="failed", reason="busy", tried_at=NOW, fetched_at=None)
    with database.transaction() as session:
        feed = feeds.get(session, "usgs-flow")
        feeds.note_basins(session, feed, [fetched])
        feeds.note_fetch(session, feed, NOW, "1 of 1 basins failed.")
    reported = client.get("/v1/feeds/usgs-flow").json()
    (basin,) = reported["basins"]
    assert (basin["basin"], basin["status"], basin["reason"]) == (BASIN, "failed", "busy")
    assert (reported["last_error"], reported["last_success_at"]) == ("1 of 1 basins failed.", None)

    assert client.delete("/v1/feeds/usgs-flow").status_code == 204
    assert client.get("/v1/feeds/usgs-flow").json()["type"] == "/problems/unknown-feed"
    assert client.delete("/v1/feeds/usgs-flow").status_code == 404


def test_a_feed_of_a_missing_extension_is_listed_with_the_reason(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        a_basin(session)
    client.headers |= bearer(database, "admin")
    client.post("/v1/feeds", json=FLOW)
    with database.transaction() as session:
        session.execute(feeds.FEEDS.update().values(settings={"adapter": "tide-gauges", "harbour": 7}))
    (listed,) = client.get("/v1/feeds").json()["feeds"]
    assert listed["adapter"] == "tide-gauges"
    assert "No loaded extension has the kind of feed 'tide-gauges'" in listed["last_error"]
    assert listed["missing"]["last_error_at"] == "It cannot be fetched at all."
    assert client.get("/v1/feeds/usgs-flow").json()["settings"] == {"adapter": "tide-gauges", "harbour": 7}
    for page in ("/feeds", f"/basins/{BASIN}"):
        assert client.get(page).status_code == 200
    assert client.delete("/v1/feeds/usgs-flow").status_code == 204


def test_holes_come_with_the_command_that_asks_for_them(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        a_basin(session)
    client.headers |= bearer(database, "admin")
    client.post("/v1/feeds", json=FLOW)
    hole = feeds.Hole(first="2026-05-03", last="2026-05-04", variables=["discharge"])
    fetched = feeds.FetchedBasin(
        basin_id=BASIN, status="new", tried_at=NOW, fetched_at=NOW, holes=[hole], warnings=["Discharge: doubtful."]
    )
    with database.transaction() as session:
        feeds.note_basins(session, feeds.get(session, "usgs-flow"), [fetched])
    (basin,) = client.get("/v1/feeds/usgs-flow").json()["basins"]
    command = f"freshet feeds fetch usgs-flow --basin {BASIN} --period 2026-05-03..2026-05-04"
    assert basin["holes"] == [hole | {"fetch": command}]
    assert basin["warnings"] == ["Discharge: doubtful."]
    for page in ("/feeds", f"/basins/{BASIN}"):
        shown = client.get(page).text
        assert "discharge on 3 May 2026 to 4 May 2026" in shown
        assert f"<code>{command}</code>" in shown


def test_feeds_are_read_with_any_key_and_without_none(sqlite_database: Database, sqlite_client: TestClient) -> None:
    for path in ("/v1/feeds", "/v1/feeds/usgs-flow"):
        assert sqlite_client.get(path).status_code == 401
    assert sqlite_client.post("/v1/feeds", json=FLOW).status_code == 401
    assert sqlite_client.get("/v1/feeds", headers=bearer(sqlite_database)).status_code == 200


def test_only_the_owner_sees_the_files_of_a_feed(sqlite_database: Database, sqlite_client: TestClient) -> None:
    maker, other = bearer(sqlite_database), bearer(sqlite_database, name="another office")
    assert sqlite_client.post("/v1/feeds", json=FILES, headers=maker).status_code == 201
    with sqlite_database.transaction() as session:
        a_basin(session)
        feed = feeds.get(session, "laid-down")
        failed = feeds.FetchedBasin(
            basin_id=BASIN, status="failed", reason=f"{PATH} is empty", tried_at=NOW, fetched_at=None
        )
        feeds.note_basins(session, feed, [failed])
        feeds.note_fetch(session, feed, NOW, f"{PATH} is empty")
    for path in ("/v1/feeds", "/v1/feeds/laid-down"):
        assert PATH in sqlite_client.get(path, headers=maker).text
        assert PATH in sqlite_client.get(path, headers=bearer(sqlite_database, "admin", "chief")).text
        hidden = sqlite_client.get(path, headers=other)
        assert hidden.status_code == 200
        assert PATH not in hidden.text


def test_a_fetch_of_a_feed_that_was_removed_meanwhile_is_refused(database: Database, client: TestClient) -> None:
    assert client.post("/v1/feeds", json=FILES, headers=bearer(database)).status_code == 201
    fetched = feeds.FetchedBasin(basin_id=BASIN, status="new", tried_at=NOW, fetched_at=NOW)
    with database.transaction() as session:
        a_basin(session)
        feed = feeds.get(session, "laid-down")
        feeds.remove(session, feed)
    with pytest.raises(feeds.UnknownFeed, match="was removed during its fetch"), database.transaction() as session:
        feeds.note_basins(session, feed, [fetched])


def test_a_feed_is_removed_by_its_owner_or_an_admin(sqlite_database: Database, sqlite_client: TestClient) -> None:
    maker, other = bearer(sqlite_database), bearer(sqlite_database, name="another office")
    sqlite_client.post("/v1/feeds", json=FILES, headers=maker)
    refused = sqlite_client.delete("/v1/feeds/laid-down", headers=other)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-your-feed")
    admin = bearer(sqlite_database, "admin", "chief")
    assert sqlite_client.delete("/v1/feeds/laid-down", headers=admin).status_code == 204


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"adapter": "weather.com"}, "'adapter' must be one of"),
        ({"adapter": "usgs", "url": "http://elsewhere.example"}, "There is no such field"),
        ({"adapter": "usgs", "key": "secret"}, "There is no such field"),
        ({"adapter": "usgs", "basins": ["nowhere"]}, "is not a basin identifier"),
        ({"adapter": "usgs", "days_back": 0}, "days_back"),
        ({"adapter": "open-meteo-archive", "product": "own"}, "model: It is needed"),
        ({"adapter": "open-meteo-archive", "product": "own", "model": "best_match"}, "changes from day to day"),
        ({"adapter": "daymet", "product": "daymet"}, "'daymet' cannot name your product"),
        ({"adapter": "files", "product": "own", "from": ["https://me:secret@host/a.csv"]}, "a URL with a password"),
    ],
)
def test_an_invalid_request_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, settings: dict[str, Any], reason: str
) -> None:
    sqlite_client.headers |= bearer(sqlite_database)
    answer = sqlite_client.post("/v1/feeds", json={"name": "some", "settings": settings})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
    assert reason in answer.json()["detail"]
    assert "secret" not in answer.text
    assert sqlite_client.get("/v1/feeds").json() == {"feeds": []}


def test_a_taken_name_or_product_is_a_conflict(sqlite_database: Database, sqlite_client: TestClient) -> None:
    sqlite_client.headers |= bearer(sqlite_database)
    archive = {"adapter": "open-meteo-archive", "model": "era5", "product": "past"}
    assert sqlite_client.post("/v1/feeds", json={"name": "a", "settings": archive}).status_code == 201
    for name, model, kind in (("a", "era5", "feed-conflict"), ("b", "ecmwf_ifs", "product-conflict")):
        refused = sqlite_client.post("/v1/feeds", json={"name": name, "settings": archive | {"model": model}})
        assert (refused.status_code, refused.json()["type"]) == (409, f"/problems/{kind}")


def test_a_feed_names_basins_that_its_key_may_write(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
        basins.register(session, "OWN-dam", "another key")
    sqlite_client.headers |= bearer(sqlite_database)
    for basin in ("OWN-dam", "USGS-99999999"):
        settings = {"adapter": "daymet", "product": "past", "basins": [basin]}
        refused = sqlite_client.post("/v1/feeds", json={"name": "some", "settings": settings})
        assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-input")
    refused = sqlite_client.post(
        "/v1/feeds", json={"name": "some", "settings": FILES["settings"] | {"basins": [BASIN]}}
    )
    assert refused.status_code == 422
