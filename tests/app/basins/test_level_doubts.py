"""Levels that seem wrong: official categories of another datum, equal and reversed ones, and those of usual flow."""

from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import series_writer
from testing.records import NOW, a_source, daily
from tests.app.conftest import bearer

BASIN = "USGS-13235000"
LEVELS, RATING, CATEGORIES = (f"/v1/basins/{BASIN}/{name}" for name in ("thresholds", "rating", "flood-categories"))
POINTS = {-1.2: 45.21, 0.0: 223.41, 3.5: 1188.28, 4.0: 1369.16, 5.0: 1758.93, 5.7: 2053.01, 6.0: 2184.2}
"""Stage, ft, and discharge, cfs, of a table whose datum lies some feet above that of the file of categories."""
FLOWS = {"action": 68.0, "minor": 137.0, "moderate": 325.0, "major": 489.0}
STAGES = {"action": 3.5, "minor": 4.0, "moderate": 5.0, "major": 5.7}
M3 = 0.3048**3


def table(factor: float = 1.0) -> dict[str, Any]:
    rows = [f"{stage},{flow * factor}" for stage, flow in POINTS.items()]
    return {"table": "\n".join(["stage_ft,discharge_cfs", *rows]), "source": "exsa.rdb"}


def categories(stages: dict[str, float], flows: dict[str, float], units: str = "ft") -> dict[str, Any]:
    named = {name: {"stage": stages.get(name, -9999), "flow": flows.get(name, -9999)} for name in {**stages, **flows}}
    flood = {"stageUnits": units, "flowUnits": "cfs", "categories": named, "impacts": []}
    return {"document": {"lid": "INVI1", "usgsId": "13235000", "flood": flood}, "source": "NOAA/NWS"}


@pytest.fixture
def office(sqlite_database: Database, sqlite_client: TestClient) -> TestClient:
    """A client with an admin's key, of a basin whose flow is 2 to 12 m3/s, from one day to the next."""
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"area_gages2": 1.2e9}))
        flow = daily("2005-10-01", *(2 + np.arange(1000) % 100 / 10), unit="m3/s")
        series_writer.write(session, BASIN, "usgs", "discharge", flow, a_source(session), NOW)
    sqlite_client.headers.update(bearer(sqlite_database, "admin"))
    return sqlite_client


def put(office: TestClient, address: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = office.put(address, json=body)
    assert answer.status_code < 300, answer.text
    return dict(answer.json())


def levels(office: TestClient) -> dict[str, dict[str, Any]]:
    return {level["name"]: level for level in office.get(LEVELS).json()["fixed"]}


def doubts(office: TestClient) -> dict[str, str]:
    return {name: level["in_doubt"] for name, level in levels(office).items() if level["in_doubt"]}


def test_categories_of_another_datum_have_the_flows_of_their_file_and_are_in_doubt(office: TestClient) -> None:
    both = [(RATING, table()), (CATEGORIES, categories(STAGES, FLOWS))]
    for order in (both, both[::-1]):  # whichever was imported first
        for address, body in order:
            done = put(office, address, body)
        found = levels(office)
        assert {name: round(found[name]["discharge"], 2) for name in FLOWS} == {
            "action": 1.93,
            "minor": 3.88,
            "moderate": 9.2,
            "major": 13.85,
        }
        assert {level["discharge_by"] for level in found.values()} == {"source"}
        for name, times in (("action", 17.5), ("minor", 10.0), ("moderate", 5.4), ("major", 4.2)):
            assert f"they differ {times} times" in doubts(office)[name]
        assert all(sentence in str(done) for sentence in ("17.5 times", "4.2 times"))  # the import states it
        assert "usual here" in doubts(office)["action"]
        office.delete(f"{LEVELS}/action")


def test_a_rating_that_is_replaced_after_the_categories_puts_them_in_doubt(office: TestClient) -> None:
    put(office, RATING, table(0.3))
    agreed = categories({"moderate": 5.0, "major": 5.7}, {"moderate": 500.0, "major": 600.0})
    assert [level["in_doubt"] for level in put(office, CATEGORIES, agreed)["levels"]] == [None, None]
    assert {level["discharge_by"] for level in levels(office).values()} == {"rating"}
    replaced = put(office, RATING, table())
    assert set(replaced["in_doubt"]) == {"moderate", "major"}
    assert levels(office)["moderate"]["discharge"] == pytest.approx(500 * M3)


def test_one_category_alone_on_another_datum_has_its_own_flow(office: TestClient) -> None:
    put(office, RATING, table(0.3))
    done = put(office, CATEGORIES, categories(STAGES, {"minor": 150.0, "moderate": 500.0, "major": 600.0}))
    assert "they differ 2.7 times" in doubts(office)["minor"]
    assert {name: level["discharge_by"] for name, level in levels(office).items()} == {
        "minor": "source",
        "moderate": "rating",
        "major": "rating",
    }
    assert "no flow" in done["left_out"]["action"]  # by the rating alone, which the file contradicts
    assert set(doubts(office)) == {"minor"}


def test_metres_that_a_file_calls_feet_are_found(office: TestClient) -> None:
    put(office, RATING, table())
    flows = {name: 3 * flow for name, flow in FLOWS.items()} | {"major": 2100.0}
    right = categories(STAGES, {"moderate": 1759.0, "major": 2053.0})
    assert {level["in_doubt"] for level in put(office, CATEGORIES, right)["levels"]} == {None}
    in_metres = {name: stage * 0.3048 for name, stage in STAGES.items()}
    put(office, CATEGORIES, categories(in_metres, {"moderate": 1759.0, "major": 2053.0}))
    assert {"moderate", "major"} <= set(doubts(office))
    put(office, CATEGORIES, categories(in_metres, flows, "m"))
    assert not any("they differ" in why for name, why in doubts(office).items() if name == "major")


def test_equal_and_reversed_categories_are_in_doubt_or_refused(office: TestClient) -> None:
    put(office, RATING, table())
    put(office, CATEGORIES, categories(dict.fromkeys(STAGES, 0.0), {}))
    found = doubts(office)
    assert set(found) == set(STAGES)
    assert all("6.326 m³/s) is not above" in why and "usual here" in why for why in found.values())
    two = categories({"action": 4.0, "minor": 5.0, "moderate": 5.0, "major": 5.7}, {})
    put(office, CATEGORIES, two)
    assert set(doubts(office)) == {"minor", "moderate"}
    reversed_ = dict(zip(STAGES, reversed(STAGES.values()), strict=True))
    refused = office.put(CATEGORIES, json=categories(reversed_, {}))
    assert (refused.status_code, "do not rise" in refused.json()["detail"]) == (422, True)
    for name, flow in (("action", 100.0), ("minor", 90.0), ("moderate", 110.0), ("major", 110.0)):
        put(office, f"{LEVELS}/{name}", {"discharge": flow})
    assert set(doubts(office)) == {"action", "minor", "moderate", "major"}


def test_a_flow_without_a_stage_is_held_against_the_record(office: TestClient) -> None:
    put(office, CATEGORIES, categories({}, FLOWS))
    assert set(doubts(office)) == {"action", "minor", "moderate"}
    assert all("usual here" in why for why in doubts(office).values())


def test_a_level_set_by_hand_is_in_doubt_until_it_is_confirmed_at_its_flow(office: TestClient) -> None:
    assert "On 50% of the observed days" in put(office, f"{LEVELS}/street", {"discharge": 7.0})["in_doubt"]
    assert put(office, f"{LEVELS}/bridge", {"discharge": 30.0})["in_doubt"] is None
    confirmed = office.put(f"{LEVELS}/street/confirmation")
    assert (confirmed.status_code, confirmed.json()["in_doubt"]) == (200, None)
    assert put(office, f"{LEVELS}/street", {"discharge": 6.0})["in_doubt"] is None
    assert put(office, f"{LEVELS}/street", {"discharge": 2.0})["in_doubt"] is not None  # another flow
    assert put(office, f"{LEVELS}/street", {"discharge": 7.0, "direction": "falling"})["in_doubt"] is not None
    assert office.put(f"{LEVELS}/lane/confirmation").status_code == 404
    page = office.get(f"/basins/{BASIN}/levels").text
    assert "In doubt." in page
    assert f"{LEVELS}/street/confirmation" in page
