"""Regions: who sets them, and what lists, pages, feeds, receivers and limits make of them."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from extensions.regions.storing import NewRegion, put
from jobspec.subscriptions import NewSubscription, SubscriptionPatch
from records.access import audit, keys
from records.alerts import deliveries, subscriptions
from records.alerts.subscriptions import NotAgreedTo, TooManySubscriptions
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.database.visibility import SHADOW
from records.jobs import queues
from records.jobs.queues import TooManyUnfinishedJobs
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_job, a_promoted_version
from tests.app.conftest import bearer
from tests.freshet.conftest import Freshet
from tests.records.alerts.test_alerts import chance, issue_day, settle

URL = "https://rivers.example/hook"
PLACES = {BASIN: "0101", "USGS-13235000": "1705", "USGS-13190500": "1705", "OWN-mill": None}
"""Stored basins, and their hydrologic units."""


@pytest.fixture
def rivers(database: Database) -> Database:
    """Basins, and two regions of them."""
    with database.transaction() as session:
        for basin, huc in PLACES.items():
            basins.upsert(session, Basin(basin, huc=huc))
        put(session, "north", NewRegion(huc="01"))
        put(session, "listed", NewRegion(basins=["USGS-13190500", "OWN-mill", "OWN-later"]))
    return database


def test_an_administrator_sets_changes_and_removes_a_region_and_nobody_else(
    client: TestClient, database: Database
) -> None:
    admin, address = bearer(database, "admin"), "/v1/regions/columbia"
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN, huc="0101"))
    for scope in ("operator", "forecaster"):
        assert client.put(address, headers=bearer(database, scope), json={"huc": "01"}).status_code == 403
    set_ = [client.put(address, headers=admin, json={"huc": "01", "unfinished_jobs": 7}).json() for _ in range(2)]
    assert set_[0] == set_[1] == client.get(address).json()
    assert (set_[0]["id"], set_[0]["huc"], set_[0]["stored_basins"], set_[0]["unfinished_jobs"]) == (
        *("columbia", "01", 1, 7),
    )
    assert set(set_[0]["missing"]) == {"agency", "basins", "subscriptions"}
    changed = client.put(address, headers=admin, json={"agency": "USGS"}).json()
    assert (changed["huc"], changed["agency"], changed["unfinished_jobs"]) == (None, "USGS", None)
    assert [one["id"] for one in client.get("/v1/regions").json()["regions"]] == ["columbia"]
    assert client.delete(address, headers=bearer(database)).status_code == 403
    assert client.delete(address, headers=admin).status_code == 204
    assert [client.get(address).status_code, client.delete(address, headers=admin).status_code] == [404, 404]
    with database.reading() as session:
        assert [(one.action, one.subject) for one in audit.page(session)] == [
            ("region removed", "columbia"),
            *[("region set", "columbia")] * 3,
        ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"huc": "01", "agency": "USGS"},
        {"huc": "1x"},
        {"agency": "usgs-"},
        {"basins": []},
        {"basins": ["nonsense"]},
        {"huc": "01", "unfinished_jobs": -1},
        {"huc": "01", "rivers": 3},
    ],
)
def test_a_rule_that_cannot_be_is_refused(
    sqlite_client: TestClient, sqlite_database: Database, body: dict[str, Any]
) -> None:
    answer = sqlite_client.put("/v1/regions/columbia", headers=bearer(sqlite_database, "admin"), json=body)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
    assert sqlite_client.get("/v1/regions").json() == {"regions": []}


def test_a_region_in_use_stays(client: TestClient, rivers: Database) -> None:
    admin, address = bearer(rivers, "admin"), "/v1/regions/north"
    with rivers.transaction() as session:
        key = keys.make(session, "river office", "operator", None, NOW, "north")[0].id
        receiver = subscriptions.create(session, NewSubscription(url=URL, region="north"), key, NOW, Settings()).id
    refused = client.delete(address, headers=admin)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/region-in-use")
    assert "1 key (river office) and 1 subscription" in refused.json()["detail"]
    with rivers.transaction() as session:
        keys.revoke(session, key, NOW)
        subscriptions.remove(session, receiver)
    assert client.delete(address, headers=admin).status_code == 204


@pytest.mark.usefixtures("rivers")
def test_lists_have_the_basins_of_a_region(client: TestClient) -> None:
    expected = {"north": [BASIN], "listed": ["OWN-mill", "USGS-13190500"], "": sorted(PLACES)}
    for region, names in expected.items():
        params = {"region": region} if region else {}
        listed = client.get("/v1/basins", params=params).json()
        assert [one["id"] for one in listed["basins"]] == names
        outlooks = client.get("/v1/outlooks", params=params).json()["outlooks"]
        assert [one["basin"] for one in outlooks] == names
        csv = client.get("/v1/basins", params=params | {"format": "csv"}).text
        assert [basin for basin in sorted(PLACES) if basin in csv] == names
        without = client.get("/v1/forecasts", params=params).json()["without"]
        assert [one["basin"] for one in without] == names
        page = client.get("/", params={"region": region}).text  # as its form sends it: empty for all
        assert [basin for basin in sorted(PLACES) if f'name="basin" value="{basin}"' in page] == names
    first = client.get("/v1/basins", params={"region": "listed", "limit": 1}).json()
    assert first["next"] is not None
    assert "region=listed" in first["next"]
    assert [one["id"] for one in client.get(first["next"]).json()["basins"]] == ["USGS-13190500"]
    assert client.get("/v1/forecasts", params={"region": "north", "basins": BASIN}).status_code == 422
    for address in ("/v1/basins", "/v1/outlooks", "/v1/forecasts", "/v1/alerts", "/v1/alerts/feed", "/", "/alerts"):
        unknown = client.get(address, params={"region": "nowhere"})
        assert (unknown.status_code, "nowhere" in unknown.text) == (404, True), address
    assert 'href="/?region=north"' in client.get("/regions").text


def test_a_region_that_gets_other_basins_is_shown_so_at_once(client: TestClient, rivers: Database) -> None:
    for rule in (NewRegion(huc="17"), NewRegion(huc="01"), NewRegion(agency="OWN")):
        with rivers.transaction() as session:
            put(session, "north", rule)
            names = basins.chosen(session, region="north")
        page = client.get("/", params={"region": "north"}).text
        assert [basin for basin in sorted(PLACES) if f'name="basin" value="{basin}"' in page] == names


def test_alerts_their_pages_and_feeds_are_of_a_region(client: TestClient, rivers: Database) -> None:
    with rivers.transaction() as session:
        version = a_promoted_version(session)
        assert settle(session, issue_day(session, version, 1), chance(0.9))
    for region, is_there in ((None, True), ("north", True), ("listed", False)):
        params = {} if region is None else {"region": region}
        listed = client.get("/v1/alerts", params=params).json()["alerts"]
        assert [one["basin"] for one in listed] == [BASIN] * is_there
        for address in ("/alerts", "/v1/alerts/feed", "/v1/alerts/cap"):
            answer = client.get(address, params=params)
            assert (answer.status_code, BASIN in answer.text) == (200, is_there), (address, region)


def test_a_receiver_of_a_region_gets_the_changes_of_its_basins_also_of_later_ones(rivers: Database) -> None:
    with rivers.transaction() as session:
        key = keys.make(session, "river office", "operator", None, NOW)[0].id
        new = {name: NewSubscription(url=URL, region=name) for name in ("north", "listed")}
        ids = {name: subscriptions.create(session, one, key, NOW, Settings()).id for name, one in new.items()}
        version = a_promoted_version(session)
        settle(session, issue_day(session, version, 1), chance(0.9))
        assert [one.subscription_id for one in deliveries.page(session)] == [ids["north"]]
        put(session, "listed", NewRegion(basins=[BASIN]))
        put(session, "north", NewRegion(huc="17"))
        for number in (2, 3, 4):
            settle(session, issue_day(session, version, number), chance(0.01))
        assert [one.subscription_id for one in deliveries.page(session)] == [ids["listed"], ids["north"]]


def test_a_subscription_names_a_region_or_basins(client: TestClient, rivers: Database) -> None:
    header = bearer(rivers)
    refused = client.post("/v1/subscriptions", headers=header, json={"url": URL, "region": "north", "basins": [BASIN]})
    assert (refused.status_code, "either basins or a region" in refused.text) == (422, True)
    unknown = client.post("/v1/subscriptions", headers=header, json={"url": URL, "region": "nowhere"})
    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/unknown-region")
    created = client.post("/v1/subscriptions", headers=header, json={"url": URL, "region": "north"}).json()
    assert (created["region"], created["basins"], created["feed"]) == ("north", None, "/v1/alerts/feed?region=north")
    address = f"/v1/subscriptions/{created['id']}"
    both = client.patch(address, headers=header, json={"basins": [BASIN]})
    assert (both.status_code, "either basins or a region" in both.text) == (422, True)
    changed = client.patch(address, headers=header, json={"basins": [BASIN], "region": None}).json()
    assert (changed["region"], changed["basins"]) == (None, [BASIN])


def test_a_recipient_of_mail_gets_no_other_region_than_was_agreed_to(rivers: Database) -> None:
    with rivers.transaction() as session:
        key = keys.make(session, "river office", "operator", None, NOW)[0].id

        def created(**chosen: Any) -> str:
            new = NewSubscription(email="duty@rivers.example", **chosen)
            return subscriptions.create(session, new, key, NOW, Settings()).id

        whole, north = created(), created(region="north")
        for before, patch in ((north, {"region": None}), (north, {"region": "listed"})):
            with pytest.raises(NotAgreedTo):
                subscriptions.update(session, before, SubscriptionPatch(**patch))
        assert subscriptions.update(session, whole, SubscriptionPatch(region="north")).region == "north"
        assert subscriptions.get(session, north).scope == "basins of the region north"


def of_two_keys(session: Session, **limits: Any) -> tuple[str, str, str]:
    """Return two keys of a region with limits, and one of none."""
    put(session, "north", NewRegion(huc="01", **limits))
    first, second = (keys.make(session, name, "operator", None, NOW, "north")[0].id for name in ("Ann", "Bo"))
    return first, second, keys.make(session, "Cy", "operator", None, NOW)[0].id


def jobs_of(session: Session) -> Callable[[str], None]:
    def post(key: str) -> None:
        a_job(session, key_id=key)
        queues.require_within_limit(session, key, 100)

    return post


def receivers_of(session: Session) -> Callable[[str], None]:
    def subscribe(key: str) -> None:
        subscriptions.create(session, NewSubscription(url=URL), key, NOW, Settings())

    return subscribe


@pytest.mark.parametrize(
    ("limit", "of", "problem"),
    [
        ("unfinished_jobs", jobs_of, TooManyUnfinishedJobs),
        ("subscriptions", receivers_of, TooManySubscriptions),
    ],
)
def test_the_keys_of_a_region_share_its_limits(
    rivers: Database, limit: str, of: Callable[[Session], Callable[[str], None]], problem: type[Exception]
) -> None:
    with rivers.transaction() as session:
        first, second, other = of_two_keys(session, **{limit: 3})
        take = of(session)
        for key in (first, second, first):
            take(key)
        for key in (first, second):
            with pytest.raises(problem, match="he keys of this region"), session.begin_nested():
                take(key)
        for _ in range(5):
            take(other)
        of_two_keys(session)
        take(second)


def test_a_basin_that_is_not_public_is_in_no_list_of_a_region(client: TestClient, rivers: Database) -> None:
    with rivers.transaction() as session:
        basins.register(session, "OWN-later", SHADOW)
    public = client.get("/v1/regions/listed").json()
    assert (public["basins"], public["stored_basins"]) == (["USGS-13190500", "OWN-mill"], 2)
    whole = client.get("/v1/regions/listed", headers=bearer(rivers, "admin")).json()
    assert (whole["basins"], whole["stored_basins"]) == (["USGS-13190500", "OWN-mill", "OWN-later"], 3)


def test_commands_set_and_show_regions_and_make_keys_for_them(empty: Freshet) -> None:
    created = empty("regions", "set", "columbia", "--huc", "17", "--jobs", "50", "--json")
    assert (created.code, created.json["huc"], created.json["unfinished_jobs"]) == (0, "17", 50)
    assert "columbia" in empty("regions", "show").out
    key = empty("keys", "make", "Ann", "--region", "columbia", "--json").json
    assert (key["region"], key["scope"]) == ("columbia", "operator")
    assert "columbia" in empty("keys", "list").out
    assert [one["region"] for one in empty("keys", "list", "--json").json["keys"]] == ["columbia"]
    for refused, why in (
        (("keys", "make", "Bo", "--region", "nowhere"), "No region 'nowhere' is stored here"),
        (("keys", "make", "Bo", "--scope", "admin", "--region", "columbia"), "for the whole service"),
        (("regions", "set", "snake"), "by one rule"),
        (("regions", "set", "snake/upper", "--huc", "17"), "The region's name is not possible"),
        (("regions", "remove", "columbia"), "1 key (Ann)"),
    ):
        answer = empty(*refused)
        assert (answer.code != 0, why in answer.err) == (True, True), answer
    assert empty("keys", "revoke", key["id"]).code == 0
    assert empty("regions", "remove", "columbia").code == 0
    assert empty("regions", "show", "--json").json == {"regions": []}
