"""What happens at the likely and at the possible level and what to do: the same words for every reader."""

from typing import Any
from xml.etree import ElementTree

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from hydrology.extremes.level_checks import LevelText, advice_of
from hydrology.outlook import LevelOutlook
from hydrology.uncertainty.exceedance import Direction
from jobspec.levels import NewThreshold
from operations.alerts import mail
from operations.alerts.decide_alerts import decide
from records.alerts import alert_changes
from records.alerts.alerts import ALERTS
from records.alerts.dispatch import Sending
from records.alerts.subscriptions import Subscription
from records.database.engine import Database
from records.levels import basin_levels
from records.outlooks import outlooks, reader
from runtime.clock import Clock
from runtime.settings import Settings
from testing.records import BASIN, NOW
from testing.work import work_of
from tests.app.outlooks.test_outlooks import PER_MM, fill_records, read
from tests.app.pages.page_text import text_of

CAP = "{urn:oasis:names:tc:emergency:cap:1.2}"
FORD = {"impact": "The ford is under water.", "instruction": "Take the bridge & mind the <dogs>."}
STREET = {"impact": None, "instruction": "Move cars to the hill."}


def fill_texts(database: Database) -> None:
    fill_records(database)
    with database.transaction() as session:
        for name, depth, text in (("ford", 0.01, FORD), ("street", 6.0, STREET), ("dam", 1000.0, FORD)):
            level: Any = {"name": name, "discharge": depth * PER_MM, **text}
            basin_levels.put(session, BASIN, NewThreshold(**level), NOW)
        outlooks.renew(session, BASIN)


def test_every_reader_gets_what_is_stated_of_the_likely_and_of_the_possible_level(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_texts(sqlite_database)
    decide(work_of(sqlite_database, Clock(NOW)), [BASIN])
    threat = read(sqlite_client)["threat"]
    assert (threat["likely"]["level"], threat["possible"]["level"]) == ("ford", "street")
    stated = [(one["level"], one["impact"], one["instruction"]) for one in threat["advice"]]
    assert stated == [("ford", *FORD.values()), ("street", *STREET.values())]
    with sqlite_database.reading() as session:
        advice = reader.outlook(session, BASIN, NOW).advice
        (change,) = alert_changes.page(session, in_feeds=True)
    words = [one.in_words for one in advice]
    assert words[0].startswith("ford, likely (")
    assert words[1].startswith("street, possible (")
    for page in (f"/basins/{BASIN}", "/"):
        shown = text_of(sqlite_client.get(page).text).replace("What to do", "")
        assert all(text in shown for one in (FORD, STREET) for text in one.values() if text is not None), page
    message = sqlite_client.get(f"/v1/alerts/cap/{change.id}").content
    info = ElementTree.fromstring(message).find(f"{CAP}info")
    assert info is not None
    assert str(FORD["impact"]) in str(info.findtext(f"{CAP}description"))
    assert info.findtext(f"{CAP}instruction") == " ".join(f"{one.heading}: {one.instruction}" for one in advice)
    plain, _ = mail.written(
        Settings(smtp_host="mail.example", mail_from="river@mail.example", public_url="https://rivers.example"),
        b"key",
        [Sending("a", 1, _subscription(), change)],
        {BASIN: "Fish"},
        NOW,
    ).iter_parts()
    written = " ".join(plain.get_content().split())
    assert all(one in written for one in words)


def _subscription() -> Subscription:
    named = dict.fromkeys(Subscription.__dataclass_fields__)
    return Subscription(**{**named, "id": "a", "email": "duty@rivers.example", "least_severity": "watch"})  # type: ignore[arg-type]


def test_nothing_is_stated_where_no_such_level_is_possible_or_no_chance_is_calibrated(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, calibrated=False)
    with sqlite_database.transaction() as session:
        level: Any = {"name": "ford", "discharge": 0.01 * PER_MM, **FORD}
        basin_levels.put(session, BASIN, NewThreshold(**level), NOW)
        outlooks.renew(session, BASIN)
    assert read(sqlite_client)["threat"]["advice"] == []
    assert FORD["impact"] not in text_of(sqlite_client.get("/").text)


def test_of_several_levels_the_one_furthest_out_of_which_anything_is_stated_is_shown() -> None:
    def level(name: str, discharge: float, chance: float, direction: Direction = "rising") -> LevelOutlook:
        return LevelOutlook(
            level=name, kind=None, return_period_years=None, direction=direction, discharge=discharge, chance=chance
        )

    levels = [
        level("minor", 10, 0.9), level("moderate", 20, 0.5), level("mill", 30, 0.5), level("major", 40, 0.1),
        level("record", 50, 0.09), level("withdrawal", 3, 0.7, "falling"), level("dry", 1, 0.2, "falling"),
    ]  # fmt: skip
    stated = {name: LevelText(name, None) for name in ("minor", "moderate", "major", "record", "withdrawal")}
    chosen = [one.level for one in advice_of(levels, stated)]
    assert chosen == ["moderate", "major", "withdrawal"]
    assert [one.level for one in advice_of(levels, stated, "record")] == [*chosen, "record"]
    assert [one.level for one in advice_of(levels, stated, "major")] == chosen
    assert [one.level for one in advice_of(levels, stated, "dry")] == chosen


def test_an_alert_whose_level_is_no_longer_possible_shows_what_was_advised(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_texts(sqlite_database)
    decide(work_of(sqlite_database, Clock(NOW)), [BASIN])
    with sqlite_database.transaction() as session:
        session.execute(update(ALERTS).values(severity=None, since=None))
        session.execute(update(ALERTS).where(ALERTS.c.level == "dam").values(severity="warning", since=NOW))
    (advice,) = [one for one in read(sqlite_client)["threat"]["advice"] if one["level"] == "dam"]
    assert (advice["chance"], advice["instruction"]) == (pytest.approx(0, abs=0.09), FORD["instruction"])
    for page in (f"/basins/{BASIN}", "/"):
        assert f"Was advised: {FORD['instruction']}" in text_of(sqlite_client.get(page).text)
