"""Verification of forecasts, in a basin and over basins."""

from dataclasses import replace

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from records.database.engine import Database
from records.verification import lead_scores
from records.versions.version_properties import Pretrained, VersionProperties
from testing.records import BASIN, a_basin, a_promoted_version, a_version
from tests.records.verification.test_lead_scores import SCORES, a_verification


def fill_records(session: Session) -> tuple[str, str]:
    """Store verification results of the current version of three basins; return it, and one without."""
    a_basin(session)
    current, other = a_promoted_version(session), a_version(session).id
    first = a_verification(session, version_id=current)
    rows = [
        replace(first, basin_id=a_basin(session, basin), scores=replace(SCORES, coverage_90=value))
        for basin, value in ((BASIN, 0.9), ("SYNTH-01", 0.8), ("SYNTH-02", 0.95))
    ]
    earlier = replace(first, first_day=day("1980-10-01"), last_day=day("1989-09-30"), error_model=None)
    lead_scores.replace(session, [*rows, replace(rows[0], lead=2), replace(rows[0], season="DJF"), earlier])
    return current, other


@pytest.fixture
def versions(database: Database) -> tuple[str, str]:
    """The version that is current for a basin and verified, and one that is neither."""
    with database.transaction() as session:
        return fill_records(session)


@pytest.fixture
def of_sqlite(sqlite_database: Database) -> tuple[str, str]:
    """The same on SQLite alone."""
    with sqlite_database.transaction() as session:
        return fill_records(session)


def test_a_basin_reports_every_period_lead_and_forecaster_of_its_version(
    client: TestClient, versions: tuple[str, str]
) -> None:
    result = client.get(f"/v1/basins/{BASIN}/verification").json()
    assert (result["basin"], result["version"], result["season"]) == (BASIN, versions[0], "all")
    earlier, one, two = result["verification"]
    assert earlier["period"] == {"first_day": "1980-10-01", "last_day": "1989-09-30"}
    assert (earlier["error_model"], one["error_model"]) == (None, "0" * 64)
    assert (one["lead"], two["lead"], one["forecaster"], one["every_days"]) == (1, 2, "calibrated", 5)
    assert (one["n"], one["years"], one["coverage_90"], one["crpss_climatology_low"]) == (730, 10, 0.9, 0.66)
    assert (one["far"], one["missing"]) == (None, {"far": "The forecasts warned on none of these days."})
    assert one["pit"] == [73.0] * 10
    assert one["reliability"] == {"forecast": [0.01, 0.95], "observed": [0.0, 1.0], "days": [720, 10]}
    winter = client.get(f"/v1/basins/{BASIN}/verification?season=DJF&version={versions[0]}").json()
    assert (winter["season"], len(winter["verification"])) == ("DJF", 1)


def test_a_version_reports_its_quartiles_over_the_basins(client: TestClient, versions: tuple[str, str]) -> None:
    result = client.get(f"/v1/models/{versions[0]}/verification").json()
    assert [period["first_day"] for period in result["periods"]] == ["1980-10-01", "1989-10-01"]
    _, one, _ = result["verification"]
    assert (one["lead"], one["forecaster"], one["basins"]) == (1, "calibrated", 3)
    assert one["coverage_90"] == pytest.approx({"n": 3, "p25": 0.85, "median": 0.9, "p75": 0.925})
    assert one["far"] == {"n": 0, "p25": None, "median": None, "p75": None}


def test_a_version_that_was_not_verified_itself_reports_its_twin(
    sqlite_database: Database, sqlite_client: TestClient, of_sqlite: tuple[str, str]
) -> None:
    shipped = Pretrained(name="today", content="a", trained_on="maurer_extended", twin=of_sqlite[0])
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, properties=VersionProperties(pretrained=shipped))
    for address in (f"/v1/basins/{BASIN}/verification", f"/v1/models/{version}/verification"):
        answer = sqlite_client.get(address).json()
        assert answer["version"] == version
        assert {row["scored"] for row in answer["verification"]} == {of_sqlite[0]}


def test_issued_forecasts_are_distinguished_from_reforecasts(client: TestClient, database: Database) -> None:
    with database.transaction() as session:
        current, _ = fill_records(session)
        of_weather = a_verification(session, version_id=current, origin="issued", weather="nws/gfs", every_days=None)
        lead_scores.replace_issued(session, current, BASIN, [of_weather])
    for address in (f"/v1/basins/{BASIN}/verification", f"/v1/models/{current}/verification"):
        issued, *others = client.get(address).json()["verification"]
        assert (issued["origin"], issued["weather"], issued["scored"]) == ("issued", "nws/gfs", current)
        assert {(row["origin"], row["weather"]) for row in others} == {("reforecast", "observed")}


def test_issued_forecasts_are_reported_beside_the_twins_reforecasts(
    sqlite_database: Database, sqlite_client: TestClient, of_sqlite: tuple[str, str]
) -> None:
    shipped = Pretrained(name="today", content="a", trained_on="maurer_extended", twin=of_sqlite[0])
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, properties=VersionProperties(pretrained=shipped))
        issued = a_verification(session, version_id=version, origin="issued", weather="climatology")
        lead_scores.replace_issued(session, version, BASIN, [issued])
        of_twin = replace(issued, version_id=of_sqlite[0])
        lead_scores.replace_issued(session, of_sqlite[0], BASIN, [of_twin])
    answer = sqlite_client.get(f"/v1/basins/{BASIN}/verification").json()
    scored = [(row["origin"], row["scored"]) for row in answer["verification"]]
    assert scored == [("issued", version), *[("reforecast", of_sqlite[0])] * 3]


def test_new_scores_are_a_new_answer(
    sqlite_database: Database, sqlite_client: TestClient, of_sqlite: tuple[str, str]
) -> None:
    addresses = f"/v1/basins/{BASIN}/verification", f"/v1/models/{of_sqlite[0]}/verification"
    held = [{"If-None-Match": sqlite_client.get(address).headers["ETag"]} for address in addresses]
    before = [sqlite_client.get(at, headers=tag).status_code for at, tag in zip(addresses, held, strict=True)]
    with sqlite_database.transaction() as session:
        other = replace(SCORES, coverage_90=0.5)
        lead_scores.replace(session, [a_verification(session, version_id=of_sqlite[0], scores=other)])
    after = [sqlite_client.get(at, headers=tag).status_code for at, tag in zip(addresses, held, strict=True)]
    assert (before, after) == ([304, 304], [200, 200])


def test_an_unverified_version_reports_how_to_verify_it(sqlite_client: TestClient, of_sqlite: tuple[str, str]) -> None:
    addresses = {
        f"/v1/basins/{BASIN}/verification?version={of_sqlite[1]}": "not-verified",
        f"/v1/basins/{BASIN}/verification?season=JJA": "not-verified",
        f"/v1/models/{of_sqlite[1]}/verification": "not-verified",
        f"/v1/basins/{BASIN}/verification?version=nothing": "unknown-version",
        "/v1/models/nothing/verification": "unknown-version",
        "/v1/basins/SYNTH-01/verification": "no-model",
        "/v1/basins/SYNTH-09/verification": "unknown-basin",
    }
    for address, kind in addresses.items():
        answer = sqlite_client.get(address)
        assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")
        if kind == "not-verified":
            assert "freshet reforecast --version" in answer.json()["detail"]


@pytest.mark.parametrize("asked", ["season=summer", "season=", "version=a/b"])
def test_a_parameter_that_cannot_be_used_is_named(sqlite_client: TestClient, asked: str) -> None:
    answer = sqlite_client.get(f"/v1/basins/{BASIN}/verification?{asked}")
    assert answer.status_code == 422
    assert [fault["field"] for fault in answer.json()["errors"]] == [asked.partition("=")[0]]
