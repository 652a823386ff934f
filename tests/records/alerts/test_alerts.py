"""Alerts are decided once a run, report every change once, and stay where no decision is possible."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from jobspec.levels import NewCategories
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.alerts import alert_changes, alerts, deliveries, settle_alerts, subscriptions
from records.alerts.alert_changes import Change, headline, other_levels
from records.alerts.alerts import LevelChance
from records.database.engine import Database
from records.levels import categories_and_doubts
from records.runs.run_types import Run
from records.versions import promotions
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_version, contents, issued

T0 = day("2008-09-30")
HIGH, LOW = 0.45, 0.0


def chance(value: float, level: str = "bankfull", **chosen: Any) -> LevelChance:
    named: dict[str, Any] = {
        "level": level,
        "kind": None,
        "return_period_years": None,
        "direction": "rising",
        "discharge": 210.0,
        "calibration": "observed",
    }
    return LevelChance(**{**named, "chance": value, **chosen})


def issue_day(session: Session, version: str, number: int, **chosen: Any) -> Run:
    """Return the run of an issue day, with a T0 of its own."""
    at = NOW + timedelta(days=number)
    return a_run(session, version, issued(), t0=T0 + number, issued_at=at, available_at=at, **chosen)


def settle(session: Session, run: Run, *chances: LevelChance | Absent, window: int = 10) -> list[Change]:
    of_levels = [one for one in chances if isinstance(one, LevelChance)]
    result = next((one for one in chances if isinstance(one, Absent)), of_levels)
    return settle_alerts.settle(
        session, BASIN, run, window, result, settle_alerts.DecisionTime(run.issued_at, run.issued_at)
    )


def kinds(changes: list[Change]) -> list[tuple[str, str | None]]:
    return [(change.kind, change.severity) for change in changes]


@pytest.fixture
def version(database: Database) -> str:
    with database.transaction() as session:
        a_basin(session)
        return a_promoted_version(session)


def test_an_alert_begins_rises_falls_and_ends_each_reported_with_its_run(database: Database, version: str) -> None:
    values = [0.25, 0.25, 0.45, 0.45, 0.25, 0.25, 0.05, 0.05]
    with database.transaction() as session:
        issue_days = [issue_day(session, version, number) for number in range(len(values))]
        shown = [settle(session, run, chance(value)) for run, value in zip(issue_days, values, strict=True)]
    assert [kinds(changes) for changes in shown] == [
        [],
        [("begins", "advisory")],
        [],
        [("rises", "watch")],
        [],
        [("falls", "advisory")],
        [],
        [("ends", None)],
    ]
    (rise,) = shown[3]
    assert (rise.run_id, rise.t0, rise.version_id) == (issue_days[3].id, T0 + 3, version)
    assert (rise.level, rise.discharge, rise.severity_before) == ("bankfull", 210.0, "advisory")
    assert (rise.chance, rise.chance_before, rise.trend, rise.window_days) == (0.45, 0.45, "steady", 10)
    assert rise.why.startswith("Watch begins: a chance of 0.45 reaches 0.4")
    with database.reading() as session:
        assert alert_changes.page(session, basins=[BASIN]) == [change for changes in shown for change in changes][::-1]
        (alert,) = alerts.of_basin(session, BASIN)
    assert (alert.severity, alert.since, alert.run_id) == (None, None, issue_days[-1].id)


def test_the_same_run_again_changes_nothing(database: Database, version: str) -> None:
    with database.transaction() as session:
        first, second = (issue_day(session, version, number) for number in range(2))
        settle(session, first, chance(HIGH))
        settle(session, second, chance(HIGH))
        before = contents(session)
        for run in (second, first):
            assert settle(session, run, chance(LOW)) == []
        assert contents(session) == before


def test_a_change_caused_by_a_run_is_not_stored_twice(database: Database, version: str) -> None:
    with database.transaction() as session:
        run = issue_day(session, version, 0)
        (change,) = settle(session, run, chance(0.9))
        values = {name: getattr(change, name) for name in alert_changes.NewChange.__dataclass_fields__}
        assert alert_changes.record_message(session, [alert_changes.NewChange(**values)], NOW) == []
        assert len(alert_changes.page(session)) == 1


def test_a_new_rating_does_not_set_a_category_anew(database: Database, version: str) -> None:
    with database.transaction() as session:
        settle(session, issue_day(session, version, 0), chance(HIGH, official_stage=2.5))
        rated = chance(HIGH, official_stage=2.5, discharge=190.0)
        (began,) = settle(session, issue_day(session, version, 1), rated)
        assert (began.kind, began.discharge) == ("begins", 190.0)
        assert settle(session, issue_day(session, version, 2), chance(HIGH, official_stage=2.5)) == []
        (moved,) = settle(session, issue_day(session, version, 3), chance(HIGH, official_stage=2.4))
        assert moved.kind == "level"


def test_a_change_of_an_official_category_states_its_stage_and_impact(database: Database, version: str) -> None:
    flood = {"categories": {"minor": {"stage": 10.0, "flow": 5000.0}}, "impacts": [{"stage": 10, "statement": "Wet."}]}
    with database.transaction() as session:
        categories_and_doubts.put_categories(
            session, BASIN, NewCategories(document={"flood": flood}, source="NWS"), NOW
        )
        (change,) = settle(session, issue_day(session, version, 0), chance(0.9, "minor", official_stage=3.048))
    shown = alert_changes.as_json(change)
    assert (shown["stage_ft"], shown["category"], shown["impact"]) == (10.0, "minor", "Wet.")
    assert "minor flood" in headline(change, "Fish River")


def test_two_runs_of_one_day_count_as_one(database: Database, version: str) -> None:
    with database.transaction() as session:
        first = issue_day(session, version, 0)
        again = issue_day(session, version, 0)
        assert settle(session, first, chance(0.25)) == []
        assert settle(session, again, chance(0.25)) == []
        assert kinds(settle(session, issue_day(session, version, 1), chance(0.25))) == [("begins", "advisory")]


@pytest.mark.parametrize("broken", ["gap", "version", "window"])
def test_runs_that_cannot_be_compared_are_not_in_a_row(database: Database, version: str, broken: str) -> None:
    with database.transaction() as session:
        settle(session, issue_day(session, version, 0), chance(0.25))
        other = a_promoted_version(session) if broken == "version" else version
        second = issue_day(session, other, 4 if broken == "gap" else 1)
        changes = settle(session, second, chance(0.3), window=5 if broken == "window" else 10)
        (alert,) = alerts.of_basin(session, BASIN)
    assert changes == []
    assert (alert.severity, alert.trend) == (None, None)


def test_an_undecidable_alert_neither_begins_nor_ends_and_gives_the_reason(database: Database, version: str) -> None:
    reason = absent(Reason.FAILED, message="It was not calibrated.")
    with database.transaction() as session:
        assert settle(session, issue_day(session, version, 0), reason) == []
        standing = alerts.standing(session, BASIN)
        assert standing is not None
        assert standing.reason == reason
        (back,) = settle(session, issue_day(session, version, 1), chance(LOW))
        assert back.kind == "decided"
        (started,) = settle(session, issue_day(session, version, 2), chance(0.9))
        (lost,) = settle(session, issue_day(session, version, 3), reason)
        assert settle(session, issue_day(session, version, 4), reason) == []
        (alert,) = alerts.of_basin(session, BASIN)
        assert (lost.kind, lost.level, lost.severity) == ("undecided", None, "warning")
        assert str(reason) in lost.why
        assert (alert.severity, alert.run_id) == ("warning", started.run_id)
        assert kinds(settle(session, issue_day(session, version, 5), chance(LOW))) == [("decided", "warning")]
        assert kinds(settle(session, issue_day(session, version, 6), chance(LOW))) == [("ends", None)]


def test_a_promotion_is_not_reported_as_a_change_of_the_river(database: Database, version: str) -> None:
    with database.transaction() as session:
        settle(session, issue_day(session, version, 0), chance(0.9))
        other = a_version(session).id
        for _ in range(2):
            promotions.promote(session, other, [BASIN], reason="better", by="someone", at=NOW)
        (shown, started) = alert_changes.page(session, basins=[BASIN])
        (alert,) = alerts.of_basin(session, BASIN)
    assert (shown.kind, shown.level, shown.run_id, shown.version_id) == ("promotion", None, None, other)
    assert f"no longer from {version}. The river has not changed" in shown.why
    assert (started.kind, alert.severity) == ("begins", "warning")


def test_a_promotion_where_nothing_was_decided_is_not_reported(database: Database, version: str) -> None:
    with database.transaction() as session:
        promotions.promote(session, a_version(session).id, [BASIN], reason="better", by="someone", at=NOW)
        assert alert_changes.page(session) == []
    assert version


def test_a_level_that_is_changed_or_removed_is_reported_if_it_has_an_alert(database: Database, version: str) -> None:
    with database.transaction() as session:
        for number in range(2):
            settle(session, issue_day(session, version, number), chance(0.9), chance(LOW, "dike"))
        (moved,) = settle(session, issue_day(session, version, 2), chance(LOW, discharge=300.0), chance(LOW, "dike"))
        assert (moved.kind, moved.severity, moved.discharge) == ("level", "warning", 300.0)
        assert "was set from 210 to 300 m3/s" in moved.why
        (turned,) = settle(session, issue_day(session, version, 3), chance(LOW, discharge=2.0, direction="falling"))
        assert (turned.kind, turned.severity, turned.severity_before) == ("level", None, "warning")
        settle(session, issue_day(session, version, 4), chance(0.9, discharge=2.0, direction="falling"))
        (gone,) = settle(session, issue_day(session, version, 5))
        assert (gone.kind, gone.severity_before) == ("level", "warning")
        assert alerts.of_basin(session, BASIN) == []


def test_a_recomputed_level_of_the_record_is_not_a_change(database: Database, version: str) -> None:
    with database.transaction() as session:
        flood: dict[str, Any] = {"level": "gev-10", "kind": "flood", "return_period_years": 10}
        settle(session, issue_day(session, version, 0), chance(0.9, **flood))
        assert settle(session, issue_day(session, version, 1), chance(0.9, **flood, discharge=212.0)) == []
        (alert,) = alerts.of_basin(session, BASIN)
        assert (alert.severity, alert.discharge) == ("warning", 212.0)


DRY = chance(0.45, "intake", direction="falling", discharge=2.0)


def test_a_river_has_one_alert_with_its_levels_as_details(database: Database, version: str) -> None:
    with database.transaction() as session:
        levels = [chance(0.9, "bridge"), chance(0.45, "dike", discharge=300.0), chance(0.0, "roof"), DRY]
        for number in range(2):
            settle(session, issue_day(session, version, number), *levels)
        dry, flood = alerts.rivers(session)
        assert [one["level"] for one in flood.levels] == ["bridge", "dike"]
        assert flood.levels[1] == {"level": "dike", "severity": "watch", "chance": 0.45, "discharge_m3s": 300.0}
        assert (dry.direction, dry.level, flood.level, flood.severity) == ("falling", "intake", "bridge", "warning")
        assert alerts.rivers(session, minimum="warning") == [flood]
        assert alerts.rivers(session, after=(BASIN, "falling")) == [flood]
        assert alerts.rivers(session, limit=1) == [dry]
        assert alerts.count_rivers(session) == 2
        assert alerts.most_urgent(session, 2, 0) == [(BASIN, "rising"), (BASIN, "falling")]
        assert alerts.most_urgent(session, 2, 1) == [(BASIN, "falling")]
        assert alerts.rivers(session, only=[(BASIN, "rising")]) == [flood]
        assert alerts.rivers(session, only=[]) == []


def test_what_a_run_changes_at_a_river_is_one_message_headed_by_the_gravest(database: Database, version: str) -> None:
    high, middle = chance(0.45, "dam", discharge=300.0), chance(0.6, "bridge", discharge=250.0)
    with database.transaction() as session:
        for number in range(2):
            changes = settle(session, issue_day(session, version, number), chance(0.65), high, middle, DRY)
        by_level = {change.level: change for change in changes}
        bridge, intake = by_level["bridge"], by_level["intake"]
        assert [by_level[name].message for name in ("bankfull", "dam", "bridge", "intake")] == [
            *(bridge.id, bridge.id, bridge.id, intake.id)
        ]
        assert [one["level"] for one in bridge.levels or ()] == ["bridge", "bankfull", "dam"]
        assert (by_level["dam"].levels, len(intake.levels or ())) == (None, 1)
        heads = alert_changes.page(session, in_feeds=True)
        assert {change.id for change in heads} == {bridge.id, intake.id}
        assert alert_changes.head_of(session, by_level["dam"].id) == bridge
        assert other_levels(bridge) == "Other levels with an alert: bankfull (watch, 65 %), dam (watch, 45 %)."


def test_a_change_of_lower_levels_alone_is_stored_and_not_sent(database: Database, version: str) -> None:
    flood: dict[str, Any] = {"kind": "flood", "return_period_years": 2, "discharge": 150.0}
    with database.transaction() as session:
        subscribed(session)
        days = [issue_day(session, version, number) for number in range(3)]
        (started,) = settle(session, days[0], chance(0.9), chance(0.95, "gev-2", **flood))
        (lower,) = settle(session, days[1], chance(0.9), chance(0.95, "gev-2", **flood))
        assert (started.level, lower.level, lower.severity, lower.message) == ("bankfull", "gev-2", "watch", None)
        with pytest.raises(alert_changes.UnknownChange, match="below the alert of its river"):
            alert_changes.head_of(session, lower.id)
        higher = chance(0.75, "dam", discharge=900.0)
        (further,) = settle(session, days[2], chance(0.9), chance(0.95, "gev-2", **flood), higher)
        assert [one.change_seq for one in deliveries.page(session)][::-1] == [started.seq, further.seq]
        assert lower in alert_changes.page(session)


def test_an_alert_of_a_river_goes_on_as_long_as_any_of_its_levels_has_one(database: Database, version: str) -> None:
    lower = {"discharge": 150.0}
    days = [(0.9, 0.8), (0.0, 0.8), (0.0, 0.8), (0.0, 0.0), (0.0, 0.0), (0.0, 0.9)]
    with database.transaction() as session:
        shown = [
            settle(session, issue_day(session, version, number), chance(high), chance(low, "ford", **lower))
            for number, (high, low) in enumerate(days)
        ]
        (started, _), (fell,), (over,), (anew,) = shown[0], shown[2], shown[4], shown[5]
        assert (fell.level, [one["level"] for one in fell.levels or ()]) == ("bankfull", ["ford"])
        assert headline(fell, "Fish River").endswith("; now warning: ford")
        assert (over.level, over.levels) == ("ford", [])
        chains = [alert_changes.earlier_of_alert(session, one) for one in (started, fell, over, anew)]
        assert chains == [[], [started], [started, fell], []]


def subscribed(session: Session, name: str = "office", **chosen: Any) -> tuple[str, str]:
    """Return a key and its subscription."""
    key, _ = keys.make(session, name, "operator", None, NOW)
    new = NewSubscription.model_validate({"url": "https://rivers.example/", **chosen})
    return key.id, subscriptions.create(session, new, key.id, NOW, Settings()).id


def test_a_change_is_put_out_once_for_each_subscription_that_wants_it(database: Database, version: str) -> None:
    with database.transaction() as session:
        a_basin(session, "USGS-13235000")
        _, everything = subscribed(session)
        _, here = subscribed(session, basins=[BASIN], least_severity="watch")
        subscribed(session, basins=["USGS-13235000"])
        subscribed(session, least_severity="warning")
        revoked, _ = subscribed(session)
        keys.revoke(session, revoked, NOW)
        changes = [settle(session, issue_day(session, version, number), chance(0.45)) for number in range(3)]
        settle(session, issue_day(session, version, 3), absent(Reason.FAILED, message="It was not calibrated."))
        (begin,) = changes[1]
        started = [one for one in deliveries.page(session) if one.change_seq == begin.seq]
        assert {one.subscription_id for one in started} == {everything, here}
        assert all(one.status == "pending" for one in started)
        # A change of the basin as a whole is sent to every subscriber of it.
        assert len(deliveries.page(session)) == 2 + 3


def test_subscribers_notified_of_a_rise_are_notified_of_the_fall(database: Database, version: str) -> None:
    with database.transaction() as session:
        _, subscription = subscribed(session, least_severity="warning")
        values = [0.9, 0.45, 0.45, LOW, LOW]
        shown = [settle(session, issue_day(session, version, n), chance(value)) for n, value in enumerate(values)]
        assert [kinds(changes) for changes in shown] == [
            [("begins", "warning")],
            [],
            [("falls", "watch")],
            [],
            [("ends", None)],
        ]
        of_it = deliveries.page(session, subscriptions=[subscription])
        assert [one.change_seq for one in of_it] == [shown[2][0].seq, shown[0][0].seq]
