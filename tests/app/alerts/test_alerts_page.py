"""The page of alerts: a row a river against the issue before, history, and alerts by e-mail without a key."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.http.limits.rate_limits import SIGN_UPS_PER_MINUTE
from app.pages import alerts as alerts_page
from hydrology.base.calendar import day
from operations.alerts.decide_alerts import decide
from records.access import audit
from records.alerts import deliveries, subscriptions
from records.alerts.subscriptions import PUBLIC, Subscription
from records.database.engine import Database
from records.runs import run_arrays
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_run
from testing.work import work_of
from tests.app.alerts.test_mail_pages import MAIL
from tests.app.conftest import serving
from tests.app.outlooks.test_outlooks import fill_records, forecast
from tests.app.pages.page_text import text_of

ADDRESS = "mayor@town.example"


def issue(database: Database, version: str, number: int, share: float) -> None:
    """Store the forecast of a later day with a share of the flow, and decide its alerts."""
    flows = (run_arrays.CALIBRATED, run_arrays.PATHS)
    series = [
        replace(one, values=(one.values * share).astype("float32")) if one.variable in flows else one
        for one in forecast().series
    ]
    at = NOW + timedelta(days=number)
    with database.transaction() as session:
        issued = {"t0": day("2008-09-30") + number, "horizon_days": 3, "issued_at": at, "available_at": at}
        a_run(session, version, replace(forecast(), series=series), **issued)
    decide(work_of(database, Clock(at)), [BASIN])


def parts_of(sqlite: str, number: int, address: str = "/alerts") -> tuple[str, str]:
    """Return the text of the rivers and of the history, by the clock of a day."""
    with serving(sqlite, NOW + timedelta(days=number)) as client:
        rivers, _, history = client.get(address).text.partition('id="history"')
    return text_of(rivers), text_of(history)


def test_a_river_stands_against_the_issue_before_and_its_history_has_pages(
    sqlite: str, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = fill_records(sqlite_database)
    decide(work_of(sqlite_database, Clock(NOW)), [BASIN])
    rivers, _ = parts_of(sqlite, 0)
    assert "1 river has an alert" in rivers
    assert all(part in rivers for part in ("warning", "new ford", "Next peak", "30 September 2008"))
    issue(sqlite_database, version, 1, 1.0)
    rivers, _ = parts_of(sqlite, 1)
    assert "as before ford" in rivers
    for number in (2, 3):
        issue(sqlite_database, version, number, 0.0001)
    rivers, history = parts_of(sqlite, 3)
    assert "No level of any basin has an alert" in rivers
    assert history.index("Warning ended: ford") < history.index("Warning: ford")
    monkeypatch.setattr(alerts_page, "PAGE", 1)
    pages, address = [], "/alerts"
    while address:
        with serving(sqlite, NOW + timedelta(days=3)) as client:
            page = client.get(address).text
        pages += re.findall(r"<td>((?:Warning|Watch|Advisory)[^<]*?)\s*<", page)
        address = "".join(re.findall(r'rel="next" href="([^"#]+)#history"', page))
    assert (pages[0], pages[-1]) == ("Warning ended: ford", "Warning: ford")
    assert len(pages) == len(set(pages)) > 1


def ask(client: TestClient, **fields: str) -> tuple[int, str]:
    answer = client.post("/alerts", data={"least_severity": "watch", **fields})
    return answer.status_code, answer.text


def stored(database: Database) -> list[Subscription]:
    with database.reading() as session:
        return subscriptions.list_subscriptions(session, PUBLIC)


def test_a_visitor_asks_for_alerts_and_gets_them_once_the_mailbox_agrees(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    fill_records(sqlite_database)
    with serving(sqlite, data=tmp_path, **MAIL) as client:
        form = client.get(f"/alerts?basin={BASIN}").text
        assert f'name="basins" value="{BASIN}"' in form
        status, page = ask(client, email=ADDRESS, basins=f" {BASIN} ,", digest="daily")
        assert (status, f"mailbox of {ADDRESS}" in page) == (200, True)
        again = ask(client, email="Mayor+again@Town.example".lower())
    assert again[0] == 200
    first, _ = stored(sqlite_database)
    assert (first.basins, first.least_severity, first.digest) == ([BASIN], "watch", {"at": "07:00", "timezone": "UTC"})
    with sqlite_database.transaction() as session:
        questions = deliveries.page(session)
        allowed = [one.subscription_id for one in questions if deliveries.mailbox_to_ask(session, one.id)]
        assert allowed == [first.id]  # the mailbox is asked once, whatever it is asked for
        (entry, _) = audit.page(session)
        assert (entry.who, entry.action) == ("visitor", "subscription created")
        assert subscriptions.matching(session, BASIN, "warning", NOW) == []
        subscriptions.confirm(session, first.id, first.created_at)
        assert [one.id for one in subscriptions.matching(session, BASIN, "warning", NOW)] == [first.id]
        assert subscriptions.unsubscribe(session, first.id, NOW)
        assert subscriptions.matching(session, BASIN, "warning", NOW) == []


@pytest.mark.parametrize(
    ("fields", "place", "words"),
    [
        ({}, "email", "Give the address"),
        ({"email": "mayor"}, "email", "“mayor”: not an e-mail address: write one"),
        ({"email": ADDRESS, "basins": "the mill"}, "basins", "USGS"),
        ({"email": ADDRESS, "basins": "USGS-99999999"}, "basins", "USGS-99999999"),
        ({"email": ADDRESS, "least_severity": "<script>"}, "least_severity", "advisory"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_stored(
    sqlite: str, sqlite_database: Database, tmp_path: Path, fields: dict[str, str], place: str, words: str
) -> None:
    fill_records(sqlite_database)
    with serving(sqlite, data=tmp_path, **MAIL) as client:
        status, page = ask(client, **fields)
    assert status == 422
    _, _, fault = page.partition(f'id="fault-{place}">')
    assert words in text_of(fault.partition("</strong>")[0])
    assert f'aria-describedby="fault-{place}"' in page
    assert "<script>" not in page
    assert stored(sqlite_database) == []


def test_one_address_asks_a_few_times_a_minute_and_all_visitors_a_few_times_a_day(
    sqlite: str, sqlite_database: Database, tmp_path: Path
) -> None:
    with serving(sqlite, data=tmp_path, mail_questions_per_day=2, **MAIL) as client:
        answers = [ask(client, email=f"mayor{number}@town.example")[0] for number in range(SIGN_UPS_PER_MINUTE + 1)]
    assert answers == [200, 200, 422, 429]
    assert len(stored(sqlite_database)) == 2
    with serving(sqlite, data=tmp_path) as client:
        assert "sends no e-mail" in client.get("/alerts").text
        assert ask(client, email=ADDRESS)[0] == 409
