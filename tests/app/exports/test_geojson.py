"""Basins on a map, with how they stand."""

from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import BASIN
from tests.app.alerts import test_alerts
from tests.app.exports.conftest import BARE, BASINS, FORECAST, FORMULA, SECOND


def test_basins_are_points_with_their_state(exporting: TestClient) -> None:
    answer = exporting.get(BASINS, headers={"Accept": "application/geo+json"})
    assert answer.headers["Content-Type"] == "application/geo+json"
    result, forecast = answer.json(), exporting.get(FORECAST).json()
    features = {feature["id"]: feature for feature in result["features"]}
    assert list(features) == [SECOND, BARE, BASIN]
    basin = features[BASIN]
    assert basin["geometry"] == {"type": "Point", "coordinates": [-68.5, 47.25]}
    assert basin["properties"]["name"] == FORMULA  # no spreadsheet reads it
    for name in ("run", "t0", "issued_at", "age_days", "stale"):
        assert basin["properties"][name] == forecast[name]
    peak = exporting.get(f"/v1/basins/{BASIN}/outlook").json()["peak"]
    assert (basin["properties"]["peak"], basin["properties"]["peak_day"]) == (peak["discharge"], peak["day"])
    assert result["units"] == {"area": "km2", "peak": "m3/s", "peak_return_period_years": "years"}
    bare = features[BARE]
    assert (bare["geometry"], bare["properties"]["run"]) == (None, None)
    assert bare["properties"]["reason"].startswith(f"Version {forecast['version']} has no available forecast of {BARE}")


def test_the_highest_severity_alert_is_reported(sqlite_database: Database, sqlite_client: TestClient) -> None:
    test_alerts.issue(sqlite_database, test_alerts.fill_records(sqlite_database))
    (feature,) = sqlite_client.get(BASINS, params={"format": "geojson"}).json()["features"]
    assert feature["properties"]["alert"] == "warning"


def test_only_places_are_on_a_map(exporting: TestClient) -> None:
    assert exporting.get(FORECAST, headers={"Accept": "application/geo+json"}).status_code == 406


def test_the_tag_follows_the_state(exporting: TestClient) -> None:
    held = {"If-None-Match": exporting.get(BASINS, params={"format": "geojson"}).headers["ETag"]}
    assert exporting.get(BASINS, params={"format": "geojson"}, headers=held).status_code == 304
