"""Many basins at once: by place, all, as of an instant, and only what is new."""

from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.forecasts.lookup import MAX_BASINS
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.versions import promotions
from testing.records import BASIN, NOW, a_basin, a_run, a_version
from tests.app import factories
from tests.app.exports.conftest import BARE, SECOND

FORECASTS = "/v1/forecasts"


def reported(client: TestClient, **params: Any) -> list[str]:
    answer = client.get(FORECASTS, params=params)
    assert answer.status_code == 200, answer.text
    return [basin["basin"] for part in answer.json().values() for basin in part]


@pytest.mark.parametrize(
    ("params", "chosen"),
    [
        ({}, {BASIN, SECOND, BARE}),
        ({"huc": "01"}, {BASIN}),
        ({"huc": "17"}, set()),
        ({"bbox": "-70,40,20,65"}, {BASIN, SECOND}),
        ({"bbox": "-70,40,20,65", "huc": "01"}, {BASIN}),
        ({"basins": BARE}, {BARE}),
    ],
)
def test_basins_are_chosen_by_place(exporting: TestClient, params: dict[str, str], chosen: set[str]) -> None:
    assert set(reported(exporting, **params)) == chosen


def test_a_choice_by_place_is_a_file_too(exporting: TestClient) -> None:
    named, everywhere = (
        exporting.get(FORECASTS, params=chosen).json() for chosen in ({"basins": BASIN}, {"huc": "01"})
    )
    assert named == everywhere
    assert BASIN in exporting.get(FORECASTS, params={"huc": "01", "format": "csv"}).text


@pytest.mark.parametrize("params", [{"basins": BASIN, "huc": "01"}, {"basins": BASIN, "bbox": "-70,40,20,65"}])
def test_a_list_and_a_place_are_not_one_choice(exporting: TestClient, params: dict[str, str]) -> None:
    answer = exporting.get(FORECASTS, params=params)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "basins")


def test_more_than_one_answer_holds_is_refused_not_cut(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        for number in range(MAX_BASINS + 1):
            basins.upsert(session, Basin(f"SYNTH-{number:03}", huc="01" if number else "02"))
    refused = sqlite_client.get(FORECASTS)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "basins")
    assert f"{MAX_BASINS + 1} basins" in refused.json()["detail"]
    assert len(reported(sqlite_client, huc="01")) == MAX_BASINS


def fill_records(database: Database) -> None:
    """Promote a version for two basins, store a run of both some hours later, and then one of the second alone."""
    promoted, earlier, later = (NOW - timedelta(hours=hours) for hours in (10, 2, 1))
    with database.transaction() as session:
        version, both = a_version(session).id, [a_basin(session), a_basin(session, SECOND)]
        promotions.promote(session, version, both, reason="better", by="someone", at=promoted)
        results = factories.forecast(), factories.forecast(SECOND)
        a_run(session, version, *results, horizon_days=3, issued_at=earlier, available_at=earlier)
        a_run(session, version, results[1], horizon_days=3, issued_at=later, available_at=later)


def since(client: TestClient, hours: float, **params: Any) -> list[str]:
    return reported(client, updated_since=(NOW - timedelta(hours=hours)).isoformat(), **params)


def test_only_what_is_new_is_reported(database: Database, client: TestClient) -> None:
    fill_records(database)
    assert since(client, 3) == [SECOND, BASIN]
    assert since(client, 1.5) == since(client, 1.5, basins=f"{BASIN},{SECOND}") == [SECOND]
    assert since(client, 0.5) == since(client, 1.5, basins=BASIN) == []
    before_the_second = (NOW - timedelta(hours=1.25)).isoformat()
    assert since(client, 1.5, known_at=before_the_second) == []
    assert since(client, 3, known_at=before_the_second) == [SECOND, BASIN]


def test_another_version_is_news(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        promotions.promote(session, a_version(session).id, [BASIN], reason="better", by="someone", at=NOW)
    assert since(sqlite_client, 0.5) == [BASIN]
