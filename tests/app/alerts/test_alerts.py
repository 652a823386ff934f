"""Alerts over the API, from a forecast to the notification of a receiver."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog.testing
from sqlalchemy import text
from starlette.testclient import TestClient

from hydrology.alerts import LADDERS, WINDOW_DAYS
from hydrology.base.calendar import day
from jobspec.levels import NewThreshold
from operations.alerts.decide_alerts import decide
from operations.alerts.deliver import deliver
from records.access import keys
from records.access.keys import Scope
from records.alerts import deliveries, signatures
from records.alerts.dispatch import MAX_TRIES, WAITS
from records.database.engine import Database
from records.levels import basin_levels
from records.runs.run_summary import RunSummary
from records.versions import promotions
from runtime.clock import Clock
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_reason, a_run, a_version
from testing.webhook_receiver import Receiver, receiving
from testing.work import MovedClock, work_of
from tests.app import factories
from tests.app.conftest import bearer, serving

PER_MM = factories.AREA_M2 / 1000 / 86_400
ALERTS = f"/v1/basins/{BASIN}/alerts"
URL = "https://rivers.example/hook?token=hush"
SUBSCRIPTIONS = "/v1/subscriptions"


def fill_records(database: Database) -> str:
    """Store a basin with a version, one level nearly always exceeded and one never; return the version."""
    with database.transaction() as session:
        a_basin(session)
        for name, depth in (("gauge-2", 0.01), ("dam", 1000.0)):
            level = NewThreshold(name=name, discharge=depth * PER_MM, direction="rising")
            basin_levels.put(session, BASIN, level, NOW)
        return a_promoted_version(session)


def issue(database: Database, version: str, *, calibrated: bool = True) -> str:
    """Issue a forecast and decide by it, as a cycle does."""
    result = factories.forecast()
    if not calibrated:
        result = factories.forecast(summary=RunSummary(calibration=a_reason("No error model.")))
        bare = [one for one in result.series if one.variable not in ("discharge_calibrated", "discharge_paths")]
        result = type(result)(basin=result.basin, series=bare, ledgers=result.ledgers)
    with database.transaction() as session:
        run = a_run(session, version, result, t0=day("2008-09-30"), horizon_days=3)
    decide(work_of(database, Clock(NOW)), [BASIN])
    return run.id


def test_alerts_are_reported_with_the_numbers_and_the_rule(database: Database, client: TestClient) -> None:
    version = fill_records(database)
    assert client.get(ALERTS).json()["missing"]["run"] == "No forecast has decided its alerts yet."
    run = issue(database, version)
    output = client.get(ALERTS).json()
    assert (output["run"], output["version"], output["t0"], output["reason"]) == (run, version, "2008-09-30", None)
    assert output["window_days"] == min(3, WINDOW_DAYS)
    dam, gauge = output["levels"]
    assert (dam["level"], dam["severity"], dam["chance"]) == ("dam", None, pytest.approx(0.005, abs=0.001))
    without = {"kind", "return_period_years", "trend", "severity", "since", "category", "impact"}
    of_peak = {"peak_return_period_years", "peak_return_period_bound"}
    assert dam["missing"].keys() == without | of_peak
    assert dam["stage"]["reason"].startswith("No rating")
    assert (gauge["level"], gauge["severity"], gauge["since"]) == ("gauge-2", "warning", "2008-10-01T06:00:00Z")
    assert gauge["why"].startswith(f"Warning begins: a chance of {gauge['chance']:.3g} reaches 0.7")
    exceedance = client.get(f"/v1/basins/{BASIN}/exceedance").json()
    within = {level["name"]: level["within"] for level in exceedance["levels"]}
    assert {level["level"]: level["chance"] for level in output["levels"]} == {
        name: within[name] for name in ("gauge-2", "dam")
    }
    assert [step["begins_at"] for step in gauge["steps"]] == [step.begins_at for step in LADDERS["rare"]]
    assert [step["on"] for step in gauge["steps"]] == [True, True, True]
    listed = client.get("/v1/alerts", params={"least_severity": "watch"}).json()
    brief = {name: gauge[name] for name in ("level", "severity", "chance")} | {"discharge_m3s": gauge["discharge"]}
    assert (listed["alerts"], listed["next"]) == ([gauge | {"levels": [brief]}], None)


def test_the_history_names_the_run_of_every_change_and_a_promotion_apart(
    database: Database, client: TestClient
) -> None:
    version = fill_records(database)
    run = issue(database, version)
    with database.transaction() as session:
        other = a_version(session).id
        promotions.promote(session, other, [BASIN], reason="better", by="someone", at=NOW)
    address, changes = f"{ALERTS}/changes?limit=1", []
    while address:
        page = client.get(address).json()
        changes += page["changes"]
        address = page["next"]
    assert [(change["kind"], change["run"], change["version"]) for change in changes] == [
        ("promotion", None, other),
        ("begins", run, version),
    ]
    assert changes[0]["missing"].keys() >= {"run", "t0", "level", "chance"}


def test_an_uncalibrated_forecast_leaves_alerts_unchanged_and_gives_the_reason(
    database: Database, client: TestClient
) -> None:
    version = fill_records(database)
    issue(database, version)
    before = client.get(ALERTS).json()
    issue(database, version, calibrated=False)
    after = client.get(ALERTS).json()
    assert (after["reason"], after["levels"]) == ("No error model.", before["levels"])
    assert client.get(f"{ALERTS}/changes").json()["changes"][0]["kind"] == "undecided"


def test_alerts_are_listed_one_a_river_page_by_page(sqlite_database: Database, sqlite_client: TestClient) -> None:
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        for name, depth, direction in (("ford", 0.001, "rising"), ("intake", 1000.0, "falling")):
            new = {"name": name, "discharge": depth * PER_MM, "direction": direction}
            basin_levels.put(session, BASIN, NewThreshold.model_validate(new), NOW)
    issue(sqlite_database, version)
    address, shown = "/v1/alerts?limit=1", []
    while address:
        page = sqlite_client.get(address).json()
        shown += [(one["level"], [level["level"] for level in one["levels"]]) for one in page["alerts"]]
        address = page["next"]
    assert shown == [("intake", ["intake"]), ("gauge-2", ["gauge-2", "ford"])]
    text, _, _ = sqlite_client.get("/alerts").text.partition('id="history"')
    assert (text.count("<tr>"), "also ford" in text) == (3, True)  # the head and two rivers


@pytest.mark.parametrize("scope", ["operator", "admin"])
def test_a_receiver_is_notified_and_a_failed_delivery_is_replayed(
    database: Database, database_url: str, tmp_path: Path, scope: Scope
) -> None:
    version = fill_records(database)
    answers = iter([500] * MAX_TRIES + [204])
    with receiving(Receiver(lambda: next(answers))) as receiver:
        settings = Settings(data=tmp_path, webhook_hosts=(receiver.host,))
        with serving(database_url, data=tmp_path, webhook_hosts=(receiver.host,)) as client:
            client.headers |= bearer(database, scope)
            created_one = client.post(SUBSCRIPTIONS, json={"url": receiver.url, "basins": [BASIN]})
            issue(database, version)
            at = NOW
            for wait in (*WAITS, timedelta()):
                deliver(work_of(database, MovedClock(time=lambda: at), settings))  # noqa: B023
                at += wait
            (failed,) = client.get("/v1/deliveries").json()["deliveries"]
            degraded = {one["code"] for one in client.get("/v1/status").json()["degraded"]}
            again = client.post(f"/v1/deliveries/{failed['id']}/replay")
            refused = client.post(f"/v1/deliveries/{failed['id']}/replay")
            deliver(work_of(database, MovedClock(time=lambda: at), settings))
            detail = client.get(f"/v1/deliveries/{failed['id']}").json()
            change = client.get(f"{ALERTS}/changes").json()["changes"][0]
    assert (created_one.status_code, failed["status"], failed["tries"]) == (201, "failed", MAX_TRIES)
    assert (failed["event"], failed["kind"], failed["basin"]) == (change["event"], "begins", BASIN)
    assert ("failed-deliveries" in degraded) is (scope == "admin")  # an operator's receiver is the operator's to mend
    assert (again.json()["status"], refused.status_code) == ("pending", 409)
    assert (detail["status"], [attempt["status_code"] for attempt in detail["attempts"]]) == (
        "delivered",
        [500] * MAX_TRIES + [204],
    )
    del change["missing"]
    payload = {"type": "alert.begins", "timestamp": change["at"], "data": change}
    assert all(json.loads(request.body) == payload for request in receiver.requests)


def subscribe(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post(SUBSCRIPTIONS, json={"url": URL, **body})
    assert answer.status_code == 201, answer.text
    output: dict[str, Any] = answer.json()
    return output


@pytest.fixture
def own(sqlite_database: Database, sqlite: str, tmp_path: Path) -> Any:
    """The service with a data folder of its own, asked with an operator's key."""
    with sqlite_database.transaction() as session:
        a_basin(session)
    with serving(sqlite, data=tmp_path / "data") as client:
        client.headers |= bearer(sqlite_database)
        yield client


def test_a_subscription_is_created_changed_and_deleted(own: TestClient) -> None:
    output = subscribe(own, basins=["01013500"], least_severity="watch")
    address = f"{SUBSCRIPTIONS}/{output['id']}"
    assert (output["url"], output["basins"], output["least_severity"]) == (URL, [BASIN], "watch")
    changed = own.patch(address, json={"basins": None, "least_severity": "warning"}).json()
    assert (changed["url"], changed["basins"], changed["least_severity"]) == (URL, None, "warning")
    assert own.get(address).json() == changed
    assert own.get(SUBSCRIPTIONS).json() == {"subscriptions": [changed]}
    assert own.delete(address).status_code == 204
    assert own.get(address).status_code == 404


def test_a_secret_is_shown_once_and_rotated_in_one_call(own: TestClient, tmp_path: Path) -> None:
    output = subscribe(own)
    address = f"{SUBSCRIPTIONS}/{output['id']}"
    secret = signatures.secret(signatures.service_key(Settings(data=tmp_path / "data")), output["id"], 1)
    assert output["secret"] == secret
    rotated = own.post(f"{address}/rotate").json()
    assert rotated["secret"] not in (secret, None)
    assert rotated["old_secret_until"] > rotated["rotated_at"]
    for answer in (own.get(address), own.get(SUBSCRIPTIONS), own.patch(address, json={})):
        assert "secret" not in answer.json().keys() - {"old_secret_until"}
        assert secret not in answer.text
        assert rotated["secret"] not in answer.text


def test_a_secret_is_stored_nowhere(own: TestClient, sqlite_database: Database) -> None:
    with structlog.testing.capture_logs() as logs:
        output = subscribe(own)
    with sqlite_database.reading() as session:
        rows = [str(session.execute(text(f"SELECT * FROM {name}")).all()) for name in ("subscriptions", "audit")]  # noqa: S608
    for stored in (*rows, str(logs)):
        assert output["secret"] not in stored
    assert "hush" not in rows[1] + str(logs)


@pytest.mark.parametrize(
    "url",
    [
        *("https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://[::1]/"),
        *("https://10.0.0.1/", "https://169.254.169.254/", "https://[::ffff:192.168.0.1]/", "http://rivers.example/"),
        *("http://127.0.0.1:8000/", "ftp://rivers.example/", "https://me:secret@rivers.example/", "https:///hook"),
        *(
            "https://rivers.example/#part",
            "rivers.example",
            "",
            "https://rivers.example/\n",
            "https://ri vers.example/",
        ),
    ],
)
def test_a_forbidden_target_is_refused(own: TestClient, url: str) -> None:
    created_one = subscribe(own)
    for answer in (
        own.post(SUBSCRIPTIONS, json={"url": url}),
        own.patch(f"{SUBSCRIPTIONS}/{created_one['id']}", json={"url": url}),
    ):
        assert answer.status_code == 422
        assert "secret@" not in answer.text


def test_a_host_that_an_administrator_allows_may_be_private_and_speak_http(
    sqlite_database: Database, sqlite: str, tmp_path: Path
) -> None:
    with serving(sqlite, data=tmp_path / "data", webhook_hosts=(("pager", 8080),)) as client:
        client.headers |= bearer(sqlite_database)
        assert client.post(SUBSCRIPTIONS, json={"url": "http://Pager:8080/hook"}).status_code == 201
        refused = client.post(SUBSCRIPTIONS, json={"url": "http://pager:8081/hook"})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/forbidden-target")
    assert "FRESHET_WEBHOOK_HOSTS=pager:8081" in refused.json()["detail"]


def test_a_basin_that_is_not_stored_is_refused(own: TestClient) -> None:
    assert own.post(SUBSCRIPTIONS, json={"url": URL, "basins": ["USGS-00000001"]}).status_code == 422


def test_another_key_sees_and_changes_nothing_of_a_subscription(own: TestClient, sqlite_database: Database) -> None:
    output = subscribe(own)
    address = f"{SUBSCRIPTIONS}/{output['id']}"
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session)
        basin_levels.put(session, BASIN, NewThreshold(name="ford", discharge=0.001, direction="rising"), NOW)
    issue(sqlite_database, version)
    with sqlite_database.reading() as session:
        (delivery,) = deliveries.page(session)
    log = f"/v1/deliveries/{delivery.id}"
    other, admin = bearer(sqlite_database, "operator", "another office"), bearer(sqlite_database, "admin")
    tries = [
        *(("GET", address), ("PATCH", address), ("DELETE", address), ("POST", f"{address}/rotate")),
        *(("GET", log), ("POST", f"{log}/replay"), ("GET", f"/v1/deliveries?subscription={output['id']}")),
    ]
    for method, path in tries:
        answer = own.request(method, path, headers=other, json={} if method == "PATCH" else None)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/not-your-subscription")
        assert "hush" not in answer.text
    assert own.get(SUBSCRIPTIONS, headers=other).json() == {"subscriptions": []}
    assert own.get("/v1/deliveries", headers=other).json()["deliveries"] == []
    assert [one["id"] for one in own.get(SUBSCRIPTIONS, headers=admin).json()["subscriptions"]] == [output["id"]]
    assert own.get(log, headers=admin).status_code == 200
    for path in (SUBSCRIPTIONS, address, "/v1/deliveries", log):
        assert own.get(path, headers={"Authorization": ""}).status_code == 401


def test_a_revoked_key_gets_no_more_notifications(own: TestClient, sqlite_database: Database) -> None:
    subscribe(own)
    version = fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        (key,) = keys.list_keys(session)
        keys.revoke(session, key.id, NOW)
    issue(sqlite_database, version)
    with sqlite_database.reading() as session:
        assert deliveries.page(session) == []


def test_the_subscriptions_of_a_key_are_limited(own: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("records.alerts.subscriptions.MAX_OF_A_KEY", 2)
    for _ in range(2):
        subscribe(own)
    refused = own.post(SUBSCRIPTIONS, json={"url": URL})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/too-many-subscriptions")
