"""The pages behind the links of e-mail: a link changes nothing, a button does, and each link does one thing."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from jobspec.subscriptions import NewSubscription
from records.access import audit, keys
from records.alerts import alert_changes, deliveries, signatures, subscriptions
from records.alerts.alert_changes import NewChange
from records.alerts.signatures import Purpose
from records.alerts.subscriptions import CONFIRM_WITHIN
from records.database.engine import Database
from runtime.clock import Clock
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_basin, a_version
from tests.app.conftest import bearer, serving

MAIL: dict[str, Any] = {
    "smtp_host": "mail.example",
    "mail_from": "alerts@rivers.example",
    "public_url": "https://rivers.example",
}


def subscribe(database: Database, at: datetime | None = None) -> str:
    now = Clock().wall() if at is None else at
    with database.transaction() as session:
        key, _ = keys.make(session, "office", "operator", None, now)
        return subscriptions.create(session, NewSubscription(email="duty@rivers.example"), key.id, now, Settings()).id


def path(database: Database, folder: Path, purpose: Purpose, subscription: str) -> str:
    key = signatures.service_key(Settings(data=folder))
    with database.reading() as session:
        return signatures.mail_link("", key, purpose, subscriptions.get(session, subscription))


def test_a_recipient_confirms_and_unsubscribes_by_a_button_and_by_nothing_else(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    subscription = subscribe(sqlite_database)

    def stored() -> subscriptions.Subscription:
        with sqlite_database.reading() as session:
            return subscriptions.get(session, subscription)

    with serving(sqlite, data=tmp_path, read_needs_key=True) as client:
        confirm, leave = (path(sqlite_database, tmp_path, one, subscription) for one in ("confirm", "unsubscribe"))
        shown = client.get(confirm)
        assert (shown.status_code, "Send me these alerts" in shown.text) == (200, True)
        assert shown.headers["Cache-Control"] == "no-store"
        assert stored().confirmed_at is None
        for _ in range(2):
            assert "You get these alerts" in client.post(confirm).text
        assert stored().is_active
        assert "Unsubscribe" in client.get(leave).text
        assert stored().is_active
        with sqlite_database.transaction() as session:
            subscriptions.pause(session, subscription, absent(Reason.MAIL_ADDRESS_REFUSED, status=550), NOW)
        paused = client.get(confirm).text
        assert "You get these alerts" not in paused
        assert "none are sent for now" in paused
        one_click = {"Content-Type": "application/x-www-form-urlencoded"}
        for _ in range(2):
            answer = client.post(leave, content="List-Unsubscribe=One-Click", headers=one_click)
            assert (answer.status_code, "You are unsubscribed" in answer.text) == (200, True)
        with sqlite_database.transaction() as session:  # a message that was under way comes back
            subscriptions.pause(session, subscription, absent(Reason.MAIL_ADDRESS_REFUSED, status=550), NOW)
        assert str(stored().paused_because) == "The recipient unsubscribed."
        assert client.post(confirm).status_code == 409
        resumed = client.post(f"/v1/subscriptions/{subscription}/resume", headers=bearer(sqlite_database, "admin"))
        assert (resumed.status_code, resumed.json()["type"]) == (409, "/problems/not-paused")
        swapped = confirm.replace("confirm", "unsubscribe")
        for wrong in (swapped, leave[:-1] + ("0" if leave[-1] != "0" else "1"), "/mail/confirm/0.x"):
            assert client.post(wrong).status_code in (404, 422)
    with sqlite_database.reading() as session:
        actions = [one.action for one in audit.page(session)]
    assert actions.count("subscription confirmed") == actions.count("recipient unsubscribed") == 1


def test_a_confirmation_that_comes_too_late_is_refused(sqlite: str, sqlite_database: Database, tmp_path: Path) -> None:
    subscription = subscribe(sqlite_database, Clock().wall() - CONFIRM_WITHIN - timedelta(hours=1))
    with serving(sqlite, data=tmp_path) as client:
        assert client.post(path(sqlite_database, tmp_path, "confirm", subscription)).status_code == 409


def test_a_subscription_for_email_shows_its_state_and_no_secret(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    new = {"email": "duty@Rivers.example", "digest": {"at": "07:00", "timezone": "America/Boise"}}
    headers = bearer(sqlite_database)
    with serving(sqlite, data=tmp_path) as client:
        refused = client.post("/v1/subscriptions", json=new, headers=headers)
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/mail-not-set")
    with serving(sqlite, data=tmp_path, **MAIL) as client:
        created = client.post("/v1/subscriptions", json=new, headers=headers).json()
        assert (created["email"], created["url"], created["secret"]) == ("duty@rivers.example", None, None)
        assert created["missing"]["confirmed_at"].startswith("The recipient has not agreed.")
        assert created["feed"] == "/v1/alerts/feed"
        assert created["missing"]["secret"] == "Messages by e-mail are not signed with a secret."
        (listed,) = client.get("/v1/subscriptions", headers=headers).json()["subscriptions"]
        assert listed.keys() == created.keys() - {"secret"}
        assert "daily at 07:00, America/Boise" in client.get("/deliveries", headers=headers).text
        address = f"/v1/subscriptions/{created['id']}"
        assert client.post(f"{address}/rotate", headers=headers).json()["type"] == "/problems/not-suitable"
        for patch in ({"url": "https://x.example/"}, {"template": {"body": "{}"}}):
            assert client.patch(address, json=patch, headers=headers).json()["type"] == "/problems/not-suitable"
        for more in ({"digest": None}, {"least_severity": "advisory", "basins": None}, {"basins": [BASIN]}):
            status = client.patch(address, json=more, headers=headers).status_code
            assert status == (409 if "digest" in more else 200 if "least_severity" in more else 422)
        for severity, status in (("warning", 200), ("watch", 409)):
            assert client.patch(address, json={"least_severity": severity}, headers=headers).status_code == status
        admin = bearer(sqlite_database, "admin")
        (question,) = client.get("/v1/deliveries", headers=admin).json()["deliveries"]
        assert (question["kind"], question["event"], question["basin"]) == ("confirmation", None, None)
        # Whether the second is sent, too, is not to be seen by its key.
        again = client.post("/v1/subscriptions", json=new, headers=headers)
        differing = ("id", "created_at", "least_severity", "feed")
        assert again.status_code == 201
        assert {name: value for name, value in again.json().items() if name not in differing} == {
            name: value for name, value in created.items() if name not in differing
        }
        assert client.get("/v1/deliveries", headers=headers).json()["deliveries"] == []
        assert question["id"] not in client.get("/deliveries", headers=headers).text
        for method, path in (("GET", ""), ("POST", "/replay")):
            hidden = client.request(method, f"/v1/deliveries/{question['id']}{path}", headers=headers)
            assert hidden.json()["type"] == "/problems/unknown-delivery"


def test_a_recipient_refuses_questions_by_a_link_that_outlives_the_subscription(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    subscription = subscribe(sqlite_database)
    with sqlite_database.transaction() as session:
        mailbox = deliveries.mailbox_hash(session, "duty@rivers.example")
        subscriptions.remove(session, subscription)
    link = signatures.questions_link("", signatures.service_key(Settings(data=tmp_path)), mailbox)

    def is_refused() -> bool:
        with sqlite_database.reading() as session:
            return deliveries.refuses_questions(session, mailbox)

    with serving(sqlite, data=tmp_path, read_needs_key=True) as client:
        shown = client.get(link)
        assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
        assert ("Never ask again" in shown.text, is_refused()) == (True, False)
        for _ in range(2):
            assert "Allow questions again" in client.post(link, content="List-Unsubscribe=One-Click").text
        assert is_refused()
        assert "Allow questions again" in client.get(link).text
        for _ in range(2):
            assert "Never ask again" in client.post(f"{link}/allow").text
        assert not is_refused()
        forged = link[:-1] + ("0" if link[-1] != "0" else "1")
        assert [client.post(f"{forged}{end}").status_code for end in ("", "/allow")] == [404, 404]
        leave = path(sqlite_database, tmp_path, "unsubscribe", subscribe(sqlite_database))
        assert link in client.post(leave).text
        assert is_refused()
    with sqlite_database.reading() as session:
        actions = [one.action for one in audit.page(session)]
    assert (actions.count("questions refused"), actions.count("questions allowed")) == (1, 1)


@pytest.mark.parametrize(
    "new",
    [
        {"email": "=?utf-8?q?a?=@example.org"},
        {},
        {"url": "https://x.example/", "email": "a@b.example"},
        {"url": "https://x.example/", "digest": {"at": "07:00"}},
        {"email": "a@b.example", "template": {"body": "{}"}},
        {"email": "a@b.example", "digest": {"at": "25:00"}},
        {"email": "a@b.example", "digest": {"at": "07:00", "timezone": "Nowhere"}},
        *(
            {"email": bad}
            for bad in (
                "a@b",
                "a b@c.example",
                "a@b.example\r\nBcc: c@d.example",
                '"a b"@c.example',
                '"a"@b.example',
                "ä@b.example",
                "a@bücher.example",
            )
        ),
        *({"url": "https://x.example/", "template": {"body": bad}} for bad in ("{", '{"a": $why}', "$nothing", "$")),
    ],
)
def test_a_receiver_that_cannot_be_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, new: dict[str, object]
) -> None:
    assert sqlite_client.post("/v1/subscriptions", json=new, headers=bearer(sqlite_database)).status_code == 422


def test_status_reports_subscriptions_that_are_paused(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
        version = a_version(session).id
        key, _ = keys.make(session, "office", "admin", None, NOW)
        created = subscriptions.create(session, NewSubscription(email="a@b.example"), key.id, NOW, Settings()).id
        subscriptions.confirm(session, created, NOW)
        change = NewChange(kind="promotion", at=NOW, basin_id=BASIN, version_id=version, why="Better.")
        alert_changes.record_message(session, [change], NOW)
        subscriptions.pause(session, created, absent(Reason.MAIL_ADDRESS_REFUSED, status=550), NOW)
    codes = [one["code"] for one in sqlite_client.get("/v1/status").json()["degraded"]]
    assert {"paused-subscriptions", "failed-deliveries"} <= set(codes)
