"""What an operator registered is unofficial, from the request to the outgoing messages, until an admin adopts it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import feedparser
import pytest
import xmlschema
from starlette.testclient import TestClient

from jobspec.subscriptions import NewSubscription
from operations.alerts.decide_alerts import decide
from operations.alerts.deliver import deliver
from records.access import audit, keys
from records.alerts import deliveries, held_alerts, subscriptions
from records.database.engine import Database
from records.levels.basin_levels import MAX_LEVELS
from records.versions import promotions, versions
from records.versions.promotions import NotOwnersBasin
from runtime.clock import Clock
from runtime.settings import Settings
from testing.messages import cap
from testing.records import BASIN, a_basin, a_promoted_version, a_run, a_version
from testing.webhook_receiver import Receiver, receiving
from testing.work import MovedClock, work_of
from tests.app import factories
from tests.app.conftest import serving

NAME = "Mississippi River at New Orleans"
PLACE = {"name": NAME, "latitude": 29.95, "longitude": -90.06, "area_km2": 2_900_000.0}
MINE = "OWN-nola"
SENDER = "floods@agency.example"
URL = "https://rivers.example/hook"
CAP = "{urn:oasis:names:tc:emergency:cap:1.2}"


@dataclass
class Attacked:
    """A service with an official sender and receivers, an administrator, and an operator who attacks it.

    Attributes:
        everybodys, theirs, mine: receivers of all basins: of an administrator, another operator and the attacker.
    """

    client: TestClient
    database: Database
    settings: Settings
    everybodys: Receiver
    theirs: Receiver
    mine: Receiver
    tokens: dict[str, str]
    ids: dict[str, str]
    clock: Clock = field(default_factory=Clock)
    runs: int = 0

    def ask(self, who: str, method: str, address: str, **sent: Any) -> Any:
        """Send a request with somebody's key."""
        header = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return self.client.request(method, address, headers=header, **sent)

    def level(self, who: str, name: str, basin: str = MINE, discharge: float = 0.01) -> Any:
        """Set a level."""
        return self.ask(who, "PUT", f"/v1/basins/{basin}/thresholds/{name}", json={"discharge": discharge})

    def cycle(self, version: str, *basins: str) -> None:
        """Issue a forecast of yesterday, decide alerts, and send what is due, as the daily cycle does."""
        now, self.runs = self.clock.wall() + timedelta(seconds=self.runs), self.runs + 1
        stamps = dict.fromkeys(("issued_at", "available_at", "created_at"), self.clock.wall())
        results = [factories.forecast(basin) for basin in basins]
        with self.database.transaction() as session:
            t0 = self.clock.today() - 3 + self.runs
            a_run(session, version, *results, t0=t0, horizon_days=3, **stamps)
        decide(work_of(self.database, self.clock), basins)
        deliver(work_of(self.database, MovedClock(time=lambda: now), self.settings))

    def changes(self, basin: str = MINE) -> list[dict[str, Any]]:
        """Return the changes of a basin's alerts, the newest first."""
        shown: list[dict[str, Any]] = self.client.get(f"/v1/basins/{basin}/alerts/changes").json()["changes"]
        return shown

    def cap(self, event: str) -> dict[str, str | None]:
        """Return the first fields of a valid CAP message."""
        content = self.client.get(f"/v1/alerts/cap/{event}").content
        xmlschema.XMLSchema(str(cap.SCHEMA)).validate(content.decode())
        root = ElementTree.fromstring(content)
        return {name: root.findtext(f"{CAP}{name}") for name in ("status", "sender", "msgType", "note")}

    def feeds(self) -> int:
        """Return the number of entries of the public feeds, also of those that name the basin."""
        addresses = ("/v1/alerts/feed", "/v1/alerts/cap", f"/v1/alerts/feed?basins={MINE}")
        return sum(len(feedparser.parse(self.client.get(address).content).entries) for address in addresses)


@pytest.fixture
def attacked(database_url: str, tmp_path: Path) -> Iterator[Attacked]:
    """The service on either database."""
    with ExitStack() as stack:
        receivers = [stack.enter_context(receiving(Receiver())) for _ in range(3)]
        hosts = tuple(receiver.host for receiver in receivers)
        settings = Settings(data=tmp_path, database_url=database_url, cap_sender=SENDER, webhook_hosts=hosts)
        database = Database(database_url, SENDER)
        tokens, ids = {}, {}
        with database.transaction() as session:
            scopes: tuple[tuple[str, keys.Scope], ...] = (("admin", "admin"), ("other", "operator"), ("me", "operator"))
            for (who, scope), receiver in zip(scopes, receivers, strict=True):
                key, tokens[who] = keys.make(session, who, scope, None, Clock().wall())
                ids[who] = key.id
                subscriptions.create(session, NewSubscription(url=receiver.url), key.id, Clock().wall(), settings)
        client = stack.enter_context(serving(database_url, None, cap_sender=SENDER))
        everybodys, theirs, mine = receivers
        yield Attacked(client, database, settings, everybodys, theirs, mine, tokens, ids)
        database.close()


def _register(attacked: Attacked) -> str:
    """Register the basin with the operator's key, and let a version of that key serve it."""
    assert attacked.ask("me", "PUT", f"/v1/basins/{MINE}", json=PLACE).status_code == 201
    with attacked.database.transaction() as session:
        return a_promoted_version(session, MINE, owner=attacked.ids["me"])


def test_an_operators_basin_warns_its_owner_alone_until_an_admin_adopts_it(attacked: Attacked) -> None:
    version = _register(attacked)
    for number in range(MAX_LEVELS):
        assert attacked.level("me", f"level-{number}", discharge=0.01 + number / 1e4).status_code == 201
    refused = attacked.level("me", "one-more")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/too-many-levels")
    attacked.cycle(version, MINE)

    # Nobody else gets anything, and the owner one message.
    assert (attacked.everybodys.requests, attacked.theirs.requests, attacked.feeds()) == ([], [], 0)
    (message,) = attacked.mine.requests
    sent = json.loads(message.body)
    assert (sent["data"]["official"], sent["data"]["kind"], len(sent["others"])) == (False, "begins", MAX_LEVELS - 1)
    assert attacked.client.get("/v1/alerts").json()["alerts"] == []
    newest = attacked.changes()[0]
    shown = attacked.cap(newest["event"])
    assert (shown["status"], shown["sender"]) == ("Test", "freshet@not-official.invalid")
    assert (shown["note"] or "").startswith("Not an official warning: an operator registered the basin.")

    # Every answer marks it.
    for address, name in (("", "kind"), ("/alerts", "basin_kind"), ("/thresholds", "basin_kind")):
        assert attacked.client.get(f"/v1/basins/{MINE}{address}").json()[name] == "unofficial", address
    forecast = attacked.client.get(f"/v1/basins/{MINE}/forecasts/latest")
    assert (forecast.json()["basin_kind"], forecast.json()["official"]) == ("unofficial", False)
    assert [basin["kind"] for basin in attacked.client.get("/v1/basins").json()["basins"]] == ["unofficial"]
    geojson = attacked.client.get("/v1/basins?format=geojson").json()
    assert geojson["features"][0]["properties"]["kind"] == "unofficial"
    (place,) = attacked.client.get("/v1/edr/collections/forecasts/locations").json()["features"]
    assert place["properties"]["official"] is False
    csv = attacked.client.get(f"/v1/basins/{MINE}/forecasts/latest?format=csv").text
    assert ",FALSE," in csv.splitlines()[1]
    for page in ("/", f"/basins/{MINE}"):
        text = attacked.client.get(page).text
        assert "unofficial" in text or "Not official." in text, page

    # Only an administrator adopts it, with its levels and its version.
    assert attacked.ask("me", "PUT", f"/v1/basins/{MINE}/adoption").status_code == 403
    adopted = attacked.ask("admin", "PUT", f"/v1/basins/{MINE}/adoption")
    assert (adopted.json()["owner"], adopted.json()["version"]) == (attacked.ids["me"], version)
    assert len(adopted.json()["levels"]) == MAX_LEVELS
    assert attacked.ask("admin", "PUT", f"/v1/basins/{MINE}/adoption").status_code == 409
    again = attacked.client.get(f"/v1/basins/{MINE}/forecasts/latest")
    assert (again.json()["basin_kind"], again.json().get("official")) == ("other", None)
    assert again.headers["ETag"] != forecast.headers["ETag"]
    attacked.cycle(version, MINE)
    newest = attacked.changes()[0]
    assert attacked.cap(newest["event"]) == {"status": "Actual", "sender": SENDER, "msgType": "Alert", "note": None}
    assert [len(receiver.requests) for receiver in (attacked.everybodys, attacked.theirs)] == [1, 1]
    (alert,) = attacked.client.get("/v1/alerts").json()["alerts"]
    assert len(alert["levels"]) == MAX_LEVELS

    # What the operator had is the service's now.
    edits: tuple[tuple[str, str, Any], ...] = (
        ("PUT", "", PLACE | {"name": "Another"}),
        ("PUT", "/thresholds/level-0", {"discharge": 9.0}),
        ("PUT", "/thresholds/mine", {"discharge": 9.0}),
        ("DELETE", "/thresholds/level-0", None),
        ("PUT", "/flood-frequency", {"regional_skew": 1.0, "regional_skew_error": 0.1}),
        ("PUT", "/rating", {"table": "stage_ft,discharge_cfs\n1,1\n2,5\n", "source": "me"}),
    )
    for method, address, sent in edits:
        answer = attacked.ask("me", method, f"/v1/basins/{MINE}{address}", json=sent)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/not-your-basin"), address
    with attacked.database.transaction() as session:
        another = a_version(session, owner=attacked.ids["me"])
        with pytest.raises(NotOwnersBasin):
            promotions.promote(session, another.id, [MINE], reason="r", by="an admin", at=Clock().wall())

    # It goes back: the official alerts are cancelled, and what follows is unofficial again.
    assert attacked.ask("me", "DELETE", f"/v1/basins/{MINE}/adoption").status_code == 403
    assert attacked.ask("admin", "DELETE", f"/v1/basins/{MINE}/adoption").status_code == 204
    assert attacked.cap(attacked.changes()[0]["event"])["msgType"] == "Cancel"
    assert attacked.client.get("/v1/alerts").json()["alerts"] == []
    official = attacked.feeds()
    attacked.cycle(version, MINE)
    assert attacked.feeds() == official
    assert attacked.cap(attacked.changes()[0]["event"])["status"] == "Test"
    assert attacked.ask("admin", "DELETE", f"/v1/basins/{MINE}/adoption").status_code == 409
    with attacked.database.reading() as session:
        assert versions.owner_of(session, version) == attacked.ids["me"]
        actions = [entry.action for entry in audit.page(session)]
    assert [actions.count(action) for action in ("basin adopted", "basin released")] == [1, 1]


def test_the_service_speaks_for_its_own_basins_as_before(attacked: Attacked) -> None:
    assert attacked.ask("admin", "PUT", f"/v1/basins/{MINE}", json=PLACE).status_code == 201
    assert attacked.level("admin", "NWS_major").status_code == 201
    with attacked.database.transaction() as session:
        version = a_promoted_version(session, MINE)
        promotions.promote(session, version, [a_basin(session)], reason="r", by="b", at=Clock().wall())
    assert attacked.level("admin", "bankfull", BASIN).status_code == 201
    attacked.cycle(version, MINE, BASIN)
    for basin in (MINE, BASIN):
        assert attacked.cap(attacked.changes(basin)[0]["event"])["status"] == "Actual"
    assert len(attacked.theirs.requests) == 2  # one for each basin


def test_an_operator_borrows_no_name_and_no_recipient(attacked: Attacked) -> None:
    version = _register(attacked)
    for level in ("NWS_major", "usgs-flood", "major", "Action", "noaa.minor"):
        refused = attacked.level("me", level)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/agencys-words"), level
    categories = {"source": "NOAA/NWS", "document": {"flood": {"categories": {"minor": {"stage": 9, "flow": 300}}}}}
    assert attacked.ask("me", "PUT", f"/v1/basins/{MINE}/flood-categories", json=categories).status_code == 403
    for basin in ("NWS-nola", "NOAA2-nola", "OWN-usgs_07374000", "OWN-NOLA", "CAMELSGB-12", "OWN-Nola"):
        refused = attacked.ask("me", "PUT", f"/v1/basins/{basin}", json=PLACE)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/agencys-name"), basin
    for basin in ("usgs-07374000", "USGS‑07374000", "USGS-07374000", "07374000"):
        assert attacked.ask("me", "PUT", f"/v1/basins/{basin}", json=PLACE).status_code in (400, 404, 422), basin
        posted = attacked.ask("me", "POST", "/v1/basins", json=PLACE | {"basin": basin})
        assert posted.status_code in (403, 422), basin
    for params in ({"from": ["/srv/camels"], "basins": ["USGS-07374000"]}, {"from": ["/srv/camels"], "adopt": True}):
        job = {"kind": "ingest", "params": {"source": "camels", **params}}
        assert attacked.ask("me", "POST", "/v1/jobs", json=job).status_code == 403

    # An unofficial basin's changes go to nobody who did not agree to that basin by name.
    with attacked.database.transaction() as session:
        now = Clock().wall()
        for number, basins in enumerate((None, [MINE])):
            new = NewSubscription(email=f"victim{number}@town.example", basins=basins)
            stored = subscriptions.create(session, new, attacked.ids["me"], now, attacked.settings)
            subscriptions.confirm(session, stored.id, now)
    theirs = attacked.ask("other", "POST", "/v1/subscriptions", json={"url": URL, "basins": [MINE]})
    assert "unofficial" in theirs.json()["detail"]
    attacked.level("me", "low", discharge=0.01)
    attacked.cycle(version, MINE)
    with attacked.database.reading() as session:
        by_subscription = {one.subscription_id for one in deliveries.page(session) if one.change_seq is not None}
        receivers = {subscriptions.get(session, one).email for one in by_subscription}
    assert receivers == {None, "victim1@town.example"}


def test_unofficial_changes_wait_for_no_forecaster(attacked: Attacked) -> None:
    version = _register(attacked)
    attacked.level("me", "low")
    with closing(Database(attacked.settings.database_url, SENDER, approval=timedelta(hours=1))) as careful:
        replace(attacked, database=careful).cycle(version, MINE)
        with careful.reading() as session:
            assert held_alerts.page(session) == []
    assert len(attacked.mine.requests) == 1
