"""A forecaster adjusts and publishes a forecast, and decides held alerts; the forecast as issued stays."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text, update
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from jobspec.levels import NewThreshold
from operations.alerts.decide_alerts import carry_out, decide
from records.access import audit
from records.alerts import alerts, held_alerts
from records.alerts.held_alerts import HELD_ALERTS
from records.database.engine import Database
from records.levels import basin_levels
from records.outlooks import outlooks
from records.runs import runs
from records.versions import promotions
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_basin, a_run, a_version
from testing.work import work_of
from tests.app import factories
from tests.app.alerts.test_alerts import PER_MM, fill_records
from tests.app.conftest import bearer

ADJUSTMENTS = f"/v1/basins/{BASIN}/adjustments"
OTHER = "USGS-01022500"
HELD = f"/v1/basins/{BASIN}/alerts/held"
ANN = "Ann, duty forecaster"
WAIT = timedelta(hours=1)


@pytest.fixture
def run(database: Database) -> str:
    """A forecast that has decided no alerts yet; one of its two levels is nearly sure to be passed."""
    version = fill_records(database)
    with database.transaction() as session:
        return a_run(session, version, factories.forecast(), t0=day("2008-09-30"), horizon_days=3).id


@pytest.fixture
def holding(database_url: str) -> Iterator[Database]:
    """The database of a service whose alerts wait for approval."""
    opened = Database(database_url, approval=WAIT)
    yield opened
    opened.close()


@pytest.fixture
def ann(database: Database) -> dict[str, str]:
    """Headers with the key of a forecaster."""
    return bearer(database, "forecaster", ANN)


def draft(client: TestClient, headers: dict[str, str], run: str, **chosen: Any) -> dict[str, Any]:
    body = {"run": run, "words": "The gauge upstream reads more."} | chosen
    answer = client.post(ADJUSTMENTS, json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    shown: dict[str, Any] = answer.json()
    assert answer.headers["Location"] == f"/v1/adjustments/{shown['id']}"
    return shown


def publish(client: TestClient, headers: dict[str, str], adjustment: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/adjustments/{adjustment}/publish", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    published: dict[str, Any] = answer.json()
    return published


def actions(database: Database) -> Sequence[tuple[str, str]]:
    with database.reading() as session:
        return [(entry.action, entry.who) for entry in audit.page(session)][::-1]


def test_a_draft_shows_the_forecast_as_issued_and_as_adjusted_and_changes_no_run(
    client: TestClient, run: str, ann: dict[str, str]
) -> None:
    issued = client.get(f"/v1/runs/{run}/basins/{BASIN}").content
    shown = draft(client, ann, run, factor=2.0, shift_days=1, chances={"dam": 0.25})
    assert (shown["state"], shown["author"], shown["flow_of"]) == ("draft", ANN, "calibrated")
    first, *others = shown["adjusted"]["median"]
    assert first is None
    assert others == pytest.approx([2 * flow for flow in shown["issued"]["median"][:-1]])
    assert shown["issued"] == client.get(f"/v1/runs/{run}/basins/{BASIN}").json()["calibrated"]
    gauge, dam = shown["levels"]
    assert (dam["level"], dam["adjusted"]) == ("dam", 0.25)
    assert dam["issued"] < 0.01
    assert gauge["adjusted"] >= 0.9
    assert client.get(f"/v1/runs/{run}/basins/{BASIN}").content == issued


def test_flow_is_moved_to_earlier_days_too(client: TestClient, run: str, ann: dict[str, str]) -> None:
    shown = draft(client, ann, run, shift_days=-1)
    assert shown["adjusted"]["p95"] == [*shown["issued"]["p95"][1:], None]


def test_only_forecasters_see_a_draft_and_everybody_what_is_published(
    database: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    drafted = draft(client, ann, run, factor=1.5)
    adjusted = f"/v1/runs/{run}/basins/{BASIN}/adjusted"
    assert client.get(ADJUSTMENTS).json()["adjustments"] == []
    assert client.get(adjusted).json()["type"].endswith("/not-adjusted")
    operator = bearer(database)
    for path in ("/v1/adjustments", f"/v1/adjustments/{drafted['id']}", "/v1/alerts/held"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers=operator).status_code == 403
    for method, path, body in (
        ("POST", ADJUSTMENTS, {"run": run, "words": "No."}),
        ("POST", f"/v1/adjustments/{drafted['id']}/publish", {}),
        ("DELETE", f"/v1/adjustments/{drafted['id']}", None),
        ("POST", HELD, {"run": run, "ruling": "approve"}),
    ):
        assert client.request(method, path, json=body, headers=operator).status_code == 403
    published = publish(client, ann, drafted["id"], note="Agreed with the dam's operator.")
    assert (published["publisher"], published["note"]) == (ANN, "Agreed with the dam's operator.")
    (listed,) = client.get(ADJUSTMENTS).json()["adjustments"]
    assert (listed["id"], listed["words"]) == (drafted["id"], "The gauge upstream reads more.")
    assert client.get(adjusted).json()["adjusted"] == drafted["adjusted"]
    assert actions(database) == [("forecast adjusted", ANN), ("adjustment published", ANN)]


def test_drafts_are_found_by_their_basin(client: TestClient, run: str, ann: dict[str, str]) -> None:
    drafted = draft(client, ann, run, factor=1.5)
    for basin in (BASIN, BASIN.removeprefix("USGS-")):
        found = client.get("/v1/adjustments", params={"basin": basin}, headers=ann).json()["adjustments"]
        assert [one["id"] for one in found] == [drafted["id"]]
    unknown = client.get("/v1/adjustments", params={"basin": "99999999"}, headers=ann)
    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/unknown-basin")


def test_what_is_published_stays_and_a_draft_can_be_deleted(client: TestClient, run: str, ann: dict[str, str]) -> None:
    first, second = draft(client, ann, run, factor=1.5), draft(client, ann, run, factor=0.5)
    publish(client, ann, first["id"])
    again = client.post(f"/v1/adjustments/{first['id']}/publish", json={}, headers=ann)
    gone = client.delete(f"/v1/adjustments/{first['id']}", headers=ann)
    for answer in (again, gone):
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (409, "already-published")
        assert ANN in answer.json()["detail"]
    assert client.delete(f"/v1/adjustments/{second['id']}", headers=ann).status_code == 204
    assert client.get(f"/v1/adjustments/{second['id']}", headers=ann).status_code == 404


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"factor": 0}, 422, "factor"),
        ({"factor": 11}, 422, "factor"),
        ({"shift_days": 6}, 422, "shift_days"),
        ({"shift_days": 3}, 422, "fewer than 3 days"),
        ({"chances": {"dam": 1.5}}, 422, "dam"),
        ({"chances": {"bridge": 0.5}}, 422, "bridge"),
        ({"words": "  "}, 422, "words"),
        ({"words": "two\nlines"}, 422, "words"),
        ({"run": "01a1fa31d0a6718d9e12f4"}, 404, "01a1fa31d0a6718d9e12f4"),
    ],
)
def test_what_cannot_be_adjusted_is_refused_with_a_sentence(
    client: TestClient, run: str, ann: dict[str, str], changes: dict[str, Any], status: int, words: str
) -> None:
    answer = client.post(ADJUSTMENTS, json={"run": run, "words": "Why."} | changes, headers=ann)
    assert answer.status_code == status
    assert words in answer.text


def test_only_the_latest_forecast_can_be_adjusted_and_published(
    database: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    drafted = draft(client, ann, run, factor=1.5)
    with database.transaction() as session:
        version = runs.get(session, run).version_id
        asked = a_run(session, version, factories.forecast(), horizon_days=3, purpose="on-request").id
        newer = a_run(session, version, factories.forecast(), t0=day("2008-09-30"), horizon_days=3).id
    for answer in (
        client.post(ADJUSTMENTS, json={"run": asked, "words": "Why."}, headers=ann),
        client.post(ADJUSTMENTS, json={"run": run, "words": "Why."}, headers=ann),
        client.post(f"/v1/adjustments/{drafted['id']}/publish", json={}, headers=ann),
    ):
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (422, "not-adjustable")
        assert newer in answer.json()["detail"]


def test_a_published_chance_decides_at_once_beside_what_the_run_decided(
    database: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    (first,) = decide(work_of(database, Clock(NOW)), [BASIN])
    assert (first.level, first.decided_by) == ("gauge-2", None)
    drafted = draft(client, ann, run, chances={"gauge-2": 0.01, "dam": 0.5})
    assert carry_out(work_of(database, Clock(NOW))) == []
    publish(client, ann, drafted["id"], note="Talked to the dam")
    changes = {change.level: change for change in carry_out(work_of(database, Clock(NOW)))}
    assert {name: (change.kind, change.severity) for name, change in changes.items()} == {
        "gauge-2": ("ends", None),
        "dam": ("begins", "watch"),
    }
    for change in changes.values():
        assert (change.decided_by, change.adjustment_id, change.run_id) == (ANN, drafted["id"], run)
        assert "as a forecaster set it" in change.why
        assert change.why.endswith(f"Adjusted by {ANN}: The gauge upstream reads more. Talked to the dam.")
    assert carry_out(work_of(database, Clock(NOW))) == []
    shown = client.get(f"/v1/basins/{BASIN}/alerts/changes").json()["changes"]
    assert {change["adjustment"] for change in shown} == {drafted["id"], None}
    assert decide(work_of(database, Clock(NOW)), [BASIN]) == []


@pytest.mark.usefixtures("run")
def test_changes_that_wait_from_before_messages_were_of_rivers_are_shown_and_go_out(
    database: Database, holding: Database, client: TestClient, ann: dict[str, str]
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    with database.transaction() as session:
        proposed = held_alerts.get(session, BASIN).proposed
        without = [{name: value for name, value in proposed[0].items() if name != "levels"}]
        session.execute(HELD_ALERTS.update().values(proposed=without))
    (held,) = client.get("/v1/alerts/held", headers=ann).json()["held"]
    (proposed,) = held["proposed"]
    assert (proposed["levels"], "levels" in proposed["missing"]) == (None, True)
    client.post(HELD, json={"run": held["run"], "ruling": "approve"}, headers=ann)
    (change,) = carry_out(work_of(holding, Clock(NOW)))
    assert [level["level"] for level in change.levels or ()] == ["gauge-2"]


def test_held_alerts_go_out_once_a_forecaster_approves_them(
    database: Database, holding: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    assert decide(work_of(holding, Clock(NOW)), [BASIN]) == []
    assert client.get(f"/v1/basins/{BASIN}/alerts").json()["run"] is None
    (held,) = client.get("/v1/alerts/held", headers=ann).json()["held"]
    (proposed,) = held["proposed"]
    assert (held["run"], proposed["level"], proposed["severity"]) == (run, "gauge-2", "warning")
    assert carry_out(work_of(holding, Clock(NOW))) == []
    ruling = {"run": run, "ruling": "approve", "note": "Seen on the camera"}
    assert client.post(HELD, json=ruling, headers=ann).json()["ruled_by"] == ANN
    refused = client.post(HELD, json=ruling, headers=ann)
    assert (refused.status_code, ANN in refused.json()["detail"]) == (409, True)
    (change,) = carry_out(work_of(holding, Clock(NOW)))
    assert (change.level, change.decided_by) == ("gauge-2", ANN)
    assert change.why.endswith(f"Approved by {ANN}: Seen on the camera.")
    assert client.get("/v1/alerts/held", headers=ann).json()["held"] == []
    assert actions(database) == [("alerts approved", ANN)]
    assert client.post(HELD, json=ruling, headers=ann).status_code == 404


def test_dismissed_alerts_stay_as_they_were_and_the_next_run_proposes_anew(
    database: Database, holding: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    without_note = client.post(HELD, json={"run": run, "ruling": "dismiss"}, headers=ann)
    assert (without_note.status_code, "note" in without_note.text) == (422, True)
    client.post(HELD, json={"run": run, "ruling": "dismiss", "note": "The sensor is broken."}, headers=ann)
    assert carry_out(work_of(holding, Clock(NOW))) == []
    assert client.get(f"/v1/basins/{BASIN}/alerts").json()["run"] == run
    assert client.get(f"/v1/basins/{BASIN}/alerts/changes").json()["changes"] == []
    assert decide(work_of(holding, Clock(NOW)), [BASIN]) == []
    newer = later_run(database, run)
    decide(work_of(holding, Clock(NOW + timedelta(days=1))), [BASIN])
    (held,) = client.get("/v1/alerts/held", headers=ann).json()["held"]
    assert held["run"] == newer


def test_what_nobody_decides_goes_out_at_the_deadline_which_a_newer_run_does_not_move(
    database: Database, holding: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    set_deadline(database, datetime.now(UTC) + timedelta(minutes=1))
    newer = later_run(database, run)
    decide(work_of(holding, Clock(NOW + timedelta(days=1))), [BASIN])
    (held,) = client.get("/v1/alerts/held", headers=ann).json()["held"]
    assert held["run"] == newer
    assert datetime.fromisoformat(held["due_at"]) < datetime.now(UTC) + timedelta(minutes=2)
    stale = client.post(HELD, json={"run": run, "ruling": "approve"}, headers=ann)
    assert (stale.status_code, newer in stale.json()["detail"]) == (409, True)
    set_deadline(database, datetime.now(UTC))
    (change,) = carry_out(work_of(holding, Clock(NOW + timedelta(days=1))))
    assert (change.run_id, change.decided_by) == (newer, None)
    assert change.why.endswith("UTC, and nobody decided.")
    assert actions(database) == [("alerts released", "deadline of approval")]


def test_a_published_adjustment_decides_held_alerts(
    holding: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    publish(client, ann, draft(client, ann, run, chances={"gauge-2": 0.3})["id"])
    (change,) = decide(work_of(holding, Clock(NOW)), [BASIN])
    assert (change.level, change.severity, change.decided_by) == ("gauge-2", "advisory", ANN)
    assert client.get("/v1/alerts/held", headers=ann).json()["held"] == []


def test_a_published_adjustment_of_a_newer_run_withdraws_what_an_earlier_one_proposed(
    database: Database, holding: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    newer = later_run(database, run, NOW)
    publish(client, ann, draft(client, ann, newer, chances={"gauge-2": 0.3})["id"])
    (change,) = carry_out(work_of(holding, Clock(NOW)))
    assert (change.run_id, change.severity) == (newer, "advisory")
    with database.reading() as session:
        assert held_alerts.page(session) == []
    assert actions(database)[-1] == ("alerts withdrawn", "service")


def test_a_run_that_proposes_nothing_withdraws_what_an_earlier_one_proposed(
    database: Database, holding: Database, run: str
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    with database.transaction() as session:
        basin_levels.remove(session, BASIN, "gauge-2")
    newer = later_run(database, run)
    assert decide(work_of(holding, Clock(NOW + timedelta(days=1))), [BASIN]) == []
    with database.reading() as session:
        assert held_alerts.page(session) == []
        stood = alerts.standing(session, BASIN)
    assert stood is not None
    assert stood.run_id == newer


def test_what_was_decided_before_a_newer_run_goes_out_first(
    database: Database, holding: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    client.post(HELD, json={"run": run, "ruling": "approve"}, headers=ann)
    newer = later_run(database, run)
    (change,) = decide(work_of(holding, Clock(NOW + timedelta(days=1))), [BASIN])
    assert (change.run_id, change.decided_by) == (run, ANN)
    with database.reading() as session:
        stood = alerts.standing(session, BASIN)
    assert stood is not None
    assert stood.run_id == newer


def test_nothing_goes_out_that_nobody_has_seen(
    database: Database, holding: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    client.post(HELD, json={"run": run, "ruling": "approve"}, headers=ann)
    with database.transaction() as session:
        basin_levels.put(session, BASIN, NewThreshold(name="new-street", discharge=0.02 * PER_MM), NOW)
        outlooks.renew(session, BASIN)
    assert carry_out(work_of(holding, Clock(NOW))) == []
    (held,) = client.get("/v1/alerts/held", headers=ann).json()["held"]
    assert {change["level"] for change in held["proposed"]} == {"gauge-2", "new-street"}
    assert actions(database)[-1] == ("alerts withdrawn", "service")
    client.post(HELD, json={"run": run, "ruling": "approve"}, headers=ann)
    assert {change.level for change in carry_out(work_of(holding, Clock(NOW)))} == {"gauge-2", "new-street"}


@pytest.mark.parametrize("ends", ["stale", "promotion"])
@pytest.mark.usefixtures("run")
def test_what_waits_is_withdrawn_with_its_forecast(
    database: Database, holding: Database, client: TestClient, ann: dict[str, str], ends: str
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    clock = Clock(NOW + timedelta(days=9) if ends == "stale" else NOW)
    if ends == "promotion":
        with database.transaction() as session:
            another = a_version(session, label="another").id
            promotions.promote(session, another, [BASIN], reason="better", by="someone", at=NOW)
            a_run(session, another, factories.forecast(), horizon_days=3)
    set_deadline(database, datetime.now(UTC))
    assert carry_out(work_of(holding, clock)) == []
    assert client.get("/v1/alerts/held", headers=ann).json()["held"] == []
    assert actions(database)[-1] == ("alerts withdrawn", "service")


def test_a_stale_forecast_decides_nothing_when_it_is_adjusted(
    database: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(database, Clock(NOW)), [BASIN])
    publish(client, ann, draft(client, ann, run, chances={"dam": 0.9})["id"])
    assert carry_out(work_of(database, Clock(NOW + timedelta(days=9)))) == []
    assert carry_out(work_of(database, Clock(NOW))) == []


def test_a_damaged_outlook_holds_up_no_other_basin(database: Database, holding: Database, run: str) -> None:
    with database.transaction() as session:
        a_basin(session, OTHER)
        level = NewThreshold(name="gauge-2", discharge=0.01 * PER_MM, direction="rising")
        basin_levels.put(session, OTHER, level, NOW)
        version = runs.get(session, run).version_id
        promotions.promote(session, version, [OTHER], reason="better", by="someone", at=NOW)
        a_run(session, version, factories.forecast(OTHER), t0=day("2008-09-30"), horizon_days=3)
    decide(work_of(holding, Clock(NOW)), [BASIN, OTHER])
    set_deadline(database, datetime.now(UTC))
    with database.transaction() as session:
        damaged = text("UPDATE outlooks SET outlook = :content WHERE basin_id = :basin")
        session.execute(damaged, {"content": b"damaged", "basin": BASIN})
    assert [change.basin_id for change in carry_out(work_of(holding, Clock(NOW)))] == [OTHER]
    assert ("alerts withdrawn", "service") in actions(database)
    assert carry_out(work_of(holding, Clock(NOW))) == []


def test_a_replay_of_the_archive_leaves_alone_what_waits(
    holding: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    decide(work_of(holding, Clock(NOW)), [BASIN])
    client.post(HELD, json={"run": run, "ruling": "approve"}, headers=ann)
    (replayed,) = decide(work_of(holding, Clock(NOW)), [BASIN], may_hold=False)
    assert replayed.decided_by is None
    with holding.reading() as session:
        held = held_alerts.get(session, BASIN)
    assert (held.run_id, held.ruled_by) == (run, ANN)


def set_deadline(database: Database, at: datetime) -> None:
    with database.transaction() as session:
        session.execute(update(HELD_ALERTS).values(due_at=at))


def later_run(database: Database, run: str, at: datetime = NOW + timedelta(days=1)) -> str:
    """Issue the forecast of the next day."""
    with database.transaction() as session:
        version = runs.get(session, run).version_id
        newer = a_run(
            session,
            version,
            factories.forecast(),
            t0=day("2008-10-01"),
            horizon_days=3,
            issued_at=at,
            available_at=at,
        )
    return newer.id


UPDATES = f"/v1/basins/{BASIN}/updates"
LATEST = f"/v1/basins/{BASIN}/forecasts/latest"
FLOW = {"at": "2008-10-01T00:15:00-04:00", "discharge": 150.0}
LABEL = "Updated with the flow of 04:15 UTC, 150 m³/s."


def test_a_measured_flow_is_in_every_answer_and_on_the_page_with_its_time(
    database: Database, client: TestClient, run: str, ann: dict[str, str]
) -> None:
    issued, tag = client.get(LATEST).json(), client.get(LATEST).headers["ETag"]
    answer = client.post(UPDATES, json=FLOW, headers=ann)
    assert answer.status_code == 201, answer.text
    shown = answer.json()
    assert (shown["run"], shown["words"], shown["measured_at"]) == (run, LABEL, "2008-10-01T04:15:00Z")
    assert shown["adjusted"]["median"][0] > shown["issued"]["median"][0]
    latest = client.get(LATEST)
    assert latest.headers["ETag"] != tag
    assert (latest.json()["update"], latest.json()["calibrated"]) == (LABEL, issued["calibrated"])
    outlook = client.get(f"/v1/basins/{BASIN}/outlook").json()
    assert outlook["adjustment"]["words"] == LABEL
    flows = [latest.json()["published"], outlook["days"]["quantiles"]]
    assert [flow["median"][0] for flow in flows] == pytest.approx([shown["adjusted"]["median"][0]] * 2)
    chances = {one["name"]: one["within"] for one in client.get(f"/v1/basins/{BASIN}/exceedance").json()["levels"]}
    for level in outlook["threat"]["levels"]:
        assert chances[level["level"]] == pytest.approx(level["chance"])
    page = client.get(f"/basins/{BASIN}").text
    assert LABEL in page
    assert "Adjusted</strong> by" not in page
    assert actions(database) == [("forecast updated", ANN)]


def test_the_same_measured_flow_again_is_the_same_answer(client: TestClient, run: str, ann: dict[str, str]) -> None:
    first, again = (client.post(UPDATES, json=FLOW, headers=ann).json() for _ in range(2))
    assert first == again
    assert first["run"] == run
    (listed,) = client.get(ADJUSTMENTS).json()["adjustments"]
    assert listed["id"] == first["id"]


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"at": "2008-10-01T00:15:00"}, 422),
        ({"at": "0001-01-01T00:00:00+14:00"}, 422),
        ({"at": 1222834500}, 422),
        ({"at": "2008-09-01T00:15:00Z"}, 422),
        ({"discharge": -1}, 422),
        ({"discharge": 1e7}, 422),
        ({"stage": 2.0}, 422),
    ],
)
def test_a_flow_that_cannot_be_is_refused(
    client: TestClient, ann: dict[str, str], changes: dict[str, Any], status: int
) -> None:
    assert client.post(UPDATES, json=FLOW | changes, headers=ann).status_code == status
    assert "update" not in client.get(LATEST).json()


@pytest.mark.usefixtures("run")
def test_only_a_forecaster_updates(database: Database, client: TestClient) -> None:
    assert client.post(UPDATES, json=FLOW).status_code == 401
    assert client.post(UPDATES, json=FLOW, headers=bearer(database)).status_code == 403
