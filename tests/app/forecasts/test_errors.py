"""The worst forecasts and what went wrong, over the API and on the page of a model."""

from dataclasses import replace

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from hydrology.attribution import ErrorSplit
from hydrology.base.calendar import day
from records.database.engine import Database
from records.verification import error_splits
from records.verification.error_splits import ForecastError
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run

WORST = "/v1/verification/worst"
PEAK = ErrorSplit(observed=4.0, error=-1.0, weather=-0.5, initial_state=0.0, network=-0.5)


def fill_records(session: Session) -> str:
    """Store the errors of three forecasts, two of them of the same days; return the version."""
    version = a_promoted_version(session, a_basin(session))
    for t0, season, error in (("2008-01-10", "DJF", 3.0), ("2008-01-12", "DJF", -8.0), ("2008-06-01", "JJA", 5.0)):
        run = a_run(session, version, t0=day(t0), horizon_days=5)
        volume = ErrorSplit(observed=20.0, error=error, weather=error - 1, initial_state=0.25, network=0.75)
        stored = ForecastError(
            run_id=run.id,
            basin_id=BASIN,
            version_id=version,
            t0=run.t0,
            horizon_days=5,
            weather="ecmwf/ifs",
            season=season,
            volume=volume,
            peak=replace(PEAK, error=-error),
            verified_at=NOW,
        )
        error_splits.store(session, [stored])
    return version


def test_the_worst_forecasts_are_listed_with_their_parts(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        version = fill_records(session)
    answer = client.get(WORST).json()
    assert (answer["of"], answer["season"], answer["forecasts"], answer["missing"]) == ("volume", "all", 3, {})
    assert [case["t0"] for case in answer["cases"]] == ["2008-01-12", "2008-06-01"]
    worst = answer["cases"][0]
    assert (worst["basin"], worst["version"], worst["weather"]) == (BASIN, version, "ecmwf/ifs")
    assert worst["days"] == {"first_day": "2008-01-13", "last_day": "2008-01-17"}
    parts = {"observed": 20.0, "error": -8.0, "weather": -9.0, "initial_state": 0.25, "network": 0.75}
    assert worst["volume"] == parts
    assert worst["in_words"] == (
        "The volume of 5 days was forecast as 12.0 mm, and 20.0 came: -8.00, -9.00 by the weather, +0.250 by the "
        "initial state, +0.750 by the network."
    )
    assert answer["means"]["volume"] == {
        "error": pytest.approx(16 / 3),
        "weather": pytest.approx(5.0),
        "initial_state": 0.25,
        "network": 0.75,
    }


@pytest.mark.parametrize(
    ("asked", "t0s"),
    [
        ({"season": "JJA"}, ["2008-06-01"]),
        ({"end": "2008-01-11"}, ["2008-01-10"]),
        ({"end": "1970-01-01"}, []),
        ({"start": "2008-01-13", "basin": "01013500"}, ["2008-06-01"]),
        ({"limit": "1", "of": "peak"}, ["2008-01-12"]),
        ({"season": "SON"}, []),
    ],
)
def test_forecasts_can_be_chosen(
    sqlite_database: Database, sqlite_client: TestClient, asked: dict[str, str], t0s: list[str]
) -> None:
    with sqlite_database.transaction() as session:
        fill_records(session)
    answer = sqlite_client.get(WORST, params=asked).json()
    assert [case["t0"] for case in answer["cases"]] == t0s
    assert (answer["means"] is None) == (not t0s)
    assert ("freshet verify" in answer["missing"].get("means", "")) == (not t0s)


def test_unknown_basins_and_versions_and_exchanged_days_are_refused(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        fill_records(session)
    assert sqlite_client.get(WORST, params={"version": "none"}).status_code == 404
    assert sqlite_client.get(WORST, params={"basin": "01013501"}).status_code == 404
    assert sqlite_client.get(WORST, params={"start": "2008-02-01", "end": "2008-01-01"}).status_code == 422


def test_the_page_of_a_model_lists_them(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        version = fill_records(session)
    page = sqlite_client.get(f"/models/{version}").text
    assert "Of 3 verified forecasts, the error of the volume was 5.33 mm in the mean" in page
    assert f">{BASIN}</a>" in page
    assert "2008-01-13 to 2008-01-17" in page
    assert ">-9.00<" in page
