"""Atom feeds and CAP 1.2 messages of a year's turns of an alert, as readers and hubs take them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import feedparser
import pytest
import xmlschema
from starlette.testclient import TestClient

from extensions.cap import atom
from extensions.cap.messages import NO_SENDER
from hydrology.alerts import Severity
from hydrology.base.calendar import day
from records.alerts import alert_changes
from records.alerts.alert_changes import Change, ChangeKind, NewChange
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from testing.messages import cap
from testing.records import BASIN, NOW, a_promoted_version, a_run
from tests.app.conftest import serving

Turn = tuple[ChangeKind, Severity | None, Severity | None]
TURNS: Sequence[Turn] = (
    ("begins", "advisory", None),
    ("rises", "watch", "advisory"),
    ("undecided", "watch", "watch"),
    ("falls", "advisory", "watch"),
    ("ends", None, "advisory"),
    ("begins", "warning", None),
)
OTHER = "OWN-mill"
SQUARE = [[45.0, -69.0], [45.0, -68.9], [45.1, -68.9], [45.0, -69.0]]


def fill(database: Database) -> list[Change]:
    """Store the turns of an alert of a gauge and one of a basin with an outline."""
    stored = []
    with database.transaction() as session:
        gauge = Basin(BASIN, name="FISH R <NR> & \x08FORT KENT, ME", latitude=47.2, longitude=-68.6, huc="01010003")
        for basin in (gauge, Basin(OTHER, outline=[SQUARE])):
            basins.upsert(session, basin)
        version = a_promoted_version(session)
        for number, (kind, severity, before) in enumerate(TURNS):
            run = a_run(session, version)
            level: dict[str, Any] = (
                {}
                if kind == "undecided"
                else {
                    "level": "gev-5",
                    "direction": "rising",
                    "discharge": 158.3,
                    "chance": 0.6 if severity == "warning" else 0.3,
                }
            )
            new = NewChange(
                kind=kind,
                at=NOW + timedelta(days=number),
                basin_id=BASIN,
                severity=severity,
                severity_before=before,
                window_days=10,
                run_id=run.id,
                t0=day("2008-09-30"),
                version_id=version,
                why=f"Turn {number} & <more>.",
                **level,
            )
            stored.append(alert_changes.record_message(session, [new], NOW)[0])
        run = a_run(session, version)
        new = NewChange(
            kind="begins", at=NOW, basin_id=OTHER, level="bankfull", direction="falling", discharge=1.0,
            severity="watch", chance=0.04, window_days=10, run_id=run.id, t0=day("2008-09-30"), version_id=version,
            why="Low.",
        )  # fmt: skip
        stored.append(alert_changes.record_message(session, [new], NOW)[0])
    return [one for one in stored if one is not None]


def test_a_feed_is_read_by_a_reader_page_by_page_and_is_answered_304(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    changes = fill(sqlite_database)
    address: str | None = "/v1/alerts/feed?limit=3"
    entries, ids = [], set()
    while address:
        answer = sqlite_client.get(address)
        assert answer.headers["Content-Type"].startswith("application/atom+xml")
        assert sqlite_client.get(address, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
        feed = feedparser.parse(answer.content)
        assert (feed.bozo, feed.version) == (False, "atom10")
        ids.add(feed.feed.id)
        assert feed.feed.updated == max(entry.updated for entry in feed.entries)
        links = {link.rel: link.href for link in feed.feed.links}
        assert links["self"] == address
        entries += feed.entries
        address = links.get("next")
    assert len(ids) == 1
    assert [entry.summary for entry in entries] == [change.why for change in changes[::-1]]
    assert len({entry.id for entry in entries} | ids) == len(changes) + 1
    assert entries[1].title == "Warning: 5-year flood, Fish River <nr> & Fort Kent, ME, chance 60 %"
    required = {"id", "title", "updated"}
    atom = "{http://www.w3.org/2005/Atom}"
    root = ElementTree.fromstring(sqlite_client.get("/v1/alerts/feed").content)
    for element in (root, *root.iter(f"{atom}entry")):
        names = [child.tag.removeprefix(atom) for child in element]
        assert all(names.count(name) == 1 for name in required)
    assert root.find(f"{atom}author/{atom}name") is not None


def test_a_feed_has_the_selected_changes_and_those_of_whole_basins(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill(sqlite_database)

    def summaries(query: str) -> list[str]:
        return [
            entry.summary for entry in feedparser.parse(sqlite_client.get(f"/v1/alerts/feed?{query}").content).entries
        ]

    assert summaries(f"basins={OTHER}") == ["Low."]
    assert summaries(f"basins={BASIN}&least_severity=warning") == ["Turn 5 & <more>.", "Turn 2 & <more>."]
    assert sqlite_client.get("/v1/alerts/feed?basins=OWN-none").status_code == 404
    assert feedparser.parse(sqlite_client.get("/v1/alerts/feed?basins=" + OTHER + "&after=1").content).bozo is False


@pytest.mark.parametrize("official", [None, "w-agency@rivers.example"])
def test_every_change_is_a_valid_cap_message_and_refers_to_the_earlier_ones_of_its_alert(
    sqlite: str, official: str | None
) -> None:
    changes = fill(Database(sqlite, official))
    schema = xmlschema.XMLSchema(str(cap.SCHEMA))
    with serving(sqlite, None, cap_sender=official, public_url="https://rivers.example/") as client:
        index = feedparser.parse(client.get("/v1/alerts/cap").content)
        assert index.feed.subtitle == (f"Issued by {official}." if official else "Not an official warning.")
        links = [link.href for entry in index.entries for link in entry.links if link.rel == "alternate"][::-1]
        assert links == [f"https://rivers.example/v1/alerts/cap/{change.id}" for change in changes]
        messages = [client.get(link.removeprefix("https://rivers.example")).content for link in links]
        assert client.get("/v1/alerts/cap/none").status_code == 404
    assert [fault for message in messages for fault in cap.faults(message, schema)] == []
    read = [cap.read(message) for message in messages]
    assert cap.broken_chains(read) == []
    assert [one["msgType"] for one in read] == ["Alert", "Update", "Alert", "Update", "Cancel", "Alert", "Alert"]
    assert [len((one["references"] or "").split()) for one in read] == [0, 1, 0, 2, 3, 0, 0]
    meant = ["Actual", "Actual", "System", "Actual", "Actual", "Actual", "Actual"]
    assert [one["status"] for one in read] == (meant if official else ["Exercise"] * 7)
    shown = [(one["event"], one["urgency"], one["severity"], one["certainty"]) for one in read]
    assert shown[0] == ("Flood", "Future", "Minor", "Possible")
    assert shown[2] == ("Notice about alerts", "Unknown", "Unknown", "Unknown")
    assert shown[4] == ("Flood", "Past", "Minor", "Possible")
    assert shown[5] == ("Flood", "Future", "Severe", "Likely")
    assert shown[6] == ("Low flow", "Future", "Moderate", "Unlikely")
    assert read[0]["expires"] == "2008-10-11T00:00:00-00:00"
    assert (read[0]["circle"], read[0]["areaDesc"]) == ("47.2000,-68.6000 5", "Fish River <nr> & Fort Kent, ME")
    assert read[0]["geocodes"] == {"basin": BASIN, "HUC": "01010003"}
    assert read[6]["polygon"] == "45.0000,-69.0000 45.0000,-68.9000 45.1000,-68.9000 45.0000,-69.0000"
    assert read[5]["parameters"]["discharge_m3s"] == "158.3"


def test_the_alert_of_a_river_is_one_chain_of_messages_whatever_its_levels_do(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    five, two = ("gev-5", "warning", 0.8), ("gev-2", "watch", 0.95)
    old: list[Change] = []
    heads: list[Change] = []
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, latitude=47.2, longitude=-68.6))
        version = a_promoted_version(session)

        def message(number: int, *levels: tuple[str, Any, Any, float], standing: Any) -> list[Change]:
            run = a_run(session, version)
            changes = [
                NewChange(
                    kind="begins",
                    at=NOW + timedelta(days=number),
                    basin_id=BASIN,
                    level=level,
                    direction="rising",
                    discharge=100.0 if level == "gev-2" else 150.0,
                    severity=severity,
                    severity_before=before,
                    chance=chance,
                    run_id=run.id,
                    version_id=version,
                    why=f"{level} changes.",
                    levels=standing,
                )
                for level, severity, before, chance in levels
            ]
            return alert_changes.record_message(session, changes, NOW)

        def standing(*levels: tuple[str, str, float]) -> list[dict[str, Any]]:
            return [dict(zip(("level", "severity", "chance"), one, strict=True)) for one in levels]

        # As they were stored before a river had one message: the alert of one level goes on, that of the other ended.
        for number, turn in enumerate((("gev-5", "watch", None, 0.5), ("lp3-5", "watch", None, 0.5))):
            old += message(number, turn, standing=None)
        old += message(2, ("lp3-5", None, "watch", 0.5), standing=None)
        turns: Any = (
            ([("gev-5", "warning", "watch", 0.8), ("gev-2", "watch", None, 0.95)], standing(five, two)),
            ([("gev-5", None, "warning", 0.02)], standing(two)),
            ([("gev-2", None, "watch", 0.05)], []),
            ([("gev-2", "watch", None, 0.9)], standing(two)),
        )
        for number, (levels, left) in enumerate(turns):
            stored = message(3 + number, *levels, standing=left)
            heads += [one for one in stored if one.message == one.id]
            details = [one for one in stored if one not in heads]
            if details:
                detail = details[0].id
    schema = xmlschema.XMLSchema(str(cap.SCHEMA))
    messages = [sqlite_client.get(f"/v1/alerts/cap/{change.id}").content for change in heads]
    assert [fault for one in messages for fault in cap.faults(one, schema)] == []
    assert sqlite_client.get(f"/v1/alerts/cap/{detail}").content == messages[0]
    read = [cap.read(one) for one in messages]
    referred = [[one.split(",")[1] for one in (message["references"] or "").split()] for message in read]
    names = [f"freshet-{change.id}" for change in (old[0], *heads)]
    assert referred == [names[:1], names[:2], names[:3], []]
    assert [(one["msgType"], one["urgency"], one["severity"], one["certainty"]) for one in read] == [
        ("Update", "Future", "Severe", "Likely"),
        ("Update", "Future", "Moderate", "Likely"),
        ("Cancel", "Past", "Moderate", "Unlikely"),
        ("Alert", "Future", "Moderate", "Likely"),
    ]
    assert read[0]["description"] == "gev-5 changes. Other levels with an alert: 2-year flood (watch, 95 %)."
    assert read[1]["headline"].endswith("; now watch: 2-year flood")
    feed = feedparser.parse(sqlite_client.get("/v1/alerts/cap").content)
    assert len(feed.entries) == len(old) + len(heads)


def test_a_replay_stays_an_exercise_under_its_sender(sqlite: str) -> None:
    change = fill(Database(sqlite, "agency@rivers.example", replayed=True))[0]
    with serving(sqlite, None, cap_sender="other@rivers.example") as client:
        message = cap.read(client.get(f"/v1/alerts/cap/{change.id}").content)
        feed = feedparser.parse(client.get("/v1/alerts/feed").content)
    assert (message["status"], message["sender"]) == ("Exercise", "agency@rivers.example")
    assert feed.feed.subtitle == "Not an official warning."
    assert all(entry.title.startswith("Exercise: ") for entry in feed.entries)


def test_an_official_sender_that_is_set_later_makes_no_earlier_message_official(
    sqlite: str, sqlite_database: Database
) -> None:
    change = fill(sqlite_database)[0]
    with serving(sqlite, None, cap_sender="agency@rivers.example") as client:
        message = cap.read(client.get(f"/v1/alerts/cap/{change.id}").content)
    assert (message["status"], message["sender"]) == ("Exercise", NO_SENDER)


def test_feeds_of_two_services_have_different_ids() -> None:
    feed = atom.Feed(
        title="Changes", address="/", selection="/", following=None, base="", of_cap=False, service="a", sender=None,
        replayed=False,
    )  # fmt: skip
    ids = {feedparser.parse(atom.write(one, [], {})).feed.id for one in (feed, replace(feed, service="b"))}
    assert len(ids) == 2


def test_the_own_declaration_of_the_standard_finds_what_is_wrong(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    change = fill(sqlite_database)[0]
    good = sqlite_client.get(f"/v1/alerts/cap/{change.id}").content
    schema = xmlschema.XMLSchema(str(cap.SCHEMA))
    wrong = [
        (b"-00:00</sent>", b"Z</sent>"),
        (b"<msgType>Alert", b"<msgType>Begin"),
        (b"<scope>Public</scope>", b""),
        (b"<category>Met</category>", b""),
        (b"<identifier>freshet-", b"<identifier>freshet, "),
        (b" 5</circle>", b"</circle>"),
    ]
    for old, new in wrong:
        assert old in good
        assert cap.faults(good.replace(old, new), schema)
