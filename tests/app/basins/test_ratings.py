"""Rating tables over the API: set, read, refused; stages beside levels, alerts and forecasts."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import BASIN
from tests.app.basins.test_thresholds import ADDRESS, fill_records, reported
from tests.app.conftest import bearer
from tests.hydrology.ratings.tables import GAUGES, exsa

RATING = f"/v1/basins/{BASIN}/rating"
TABLE = "stage_ft,discharge_cfs\n1.0,10\n11.0,8000\n"


def new(table: str = TABLE, **more: Any) -> dict[str, Any]:
    return {"table": table, "source": "river office", "datum": "NAVD88"} | more


def test_levels_have_stages_by_the_rating_and_a_reason_beyond_it(database: Database, client: TestClient) -> None:
    flows = fill_records(database)
    admin = bearer(database, "admin")
    client.put(f"{ADDRESS}/bankfull", json={"discharge": 100.0}, headers=admin)
    before = client.get(ADDRESS)
    unrated = before.json()["fixed"][0]["stage"]
    assert (unrated["ft"], unrated["reason"].startswith("No rating of this basin")) == (None, True)
    created = client.put(RATING, json=new(), headers=admin)
    assert (created.status_code, created.json()["stage_ft"], created.json()["datum"]) == (201, [1.0, 11.0], "NAVD88")
    assert client.put(RATING, json=new(), headers=admin).status_code == 200
    assert created.json() == client.get(RATING).json() | {"left_out": {}, "in_doubt": {}}
    # An earlier table is stored and answered, and converts nothing today.
    earlier = client.put(RATING, json=new(TABLE.replace("8000", "20"), valid_from="1990-01-01"), headers=admin)
    assert (earlier.status_code, earlier.json()["valid_from"]) == (201, "1990-01-01")
    assert client.get(RATING).json()["discharge_m3s"] == created.json()["discharge_m3s"]
    result = client.get(ADDRESS, headers={"If-None-Match": before.headers["ETag"]}).json()
    stage = result["fixed"][0]["stage"]
    assert stage["ft"] == pytest.approx(1 + 10 * (100 / 0.3048**3 - 10) / 7990, abs=1e-3)
    assert stage["m"] == pytest.approx(stage["ft"] * 0.3048, abs=1e-3)
    levels = {level["name"]: level for statistic in result["record"] for level in statistic["levels"]}
    for name, flow in flows.items():
        assert (levels[name]["stage"]["ft"] is not None) == (10 <= flow <= 8000)
    beyond = next(level for level in levels.values() if (level["discharge"] or 0) > 8000 * 0.3048**3)
    assert beyond["stage"]["reason"].startswith("The rating covers 0.2832 to 226.5 m³/s, not ")


def test_a_level_can_be_given_in_any_unit_and_is_stored_in_m3s(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database)
    admin = bearer(sqlite_database, "admin")

    def put(discharge: float, unit: str) -> Any:
        return sqlite_client.put(f"{ADDRESS}/mill", json={"discharge": discharge, "unit": unit}, headers=admin)

    assert put(1.83, "m").json()["type"] == "/problems/no-rating"
    sqlite_client.put(RATING, json=new(), headers=admin)
    for discharge, unit in ((6.0, "ft"), (6 * 0.3048, "m"), (4005.0, "cfs"), (4005 * 0.3048**3, "m3/s")):
        level = put(discharge, unit).json()
        assert level["discharge"] == pytest.approx(4005 * 0.3048**3), unit
        assert level["stage"]["ft"] == pytest.approx(6.0)
    for discharge, unit in ((12.0, "ft"), (2e7, "m3/s"), (1.0, "mm/day")):
        assert put(discharge, unit).status_code == 422, unit


def test_a_table_that_cannot_be_used_is_refused_with_the_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database)
    admin = bearer(sqlite_database, "admin")
    missing = sqlite_client.get(RATING)
    assert (missing.status_code, missing.json()["type"]) == (404, "/problems/no-rating")
    for body, sentence in (
        (new(exsa(3)), f"of gauge {GAUGES[3]}"),
        (new("stage_ft,discharge_cfs\n1,2\n1,3\n"), "stage does not rise"),
        (new(valid_from="2999-01-01"), "set it on that day"),
    ):
        refused = sqlite_client.put(RATING, json=body, headers=admin)
        assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-rating")
        assert sentence in refused.json()["detail"]
    assert sqlite_client.put(RATING, json=new(datum=5), headers=admin).status_code == 422
    assert sqlite_client.put(RATING, json=new(), headers=bearer(sqlite_database)).status_code == 403
    own = exsa(3).replace(GAUGES[3], BASIN.removeprefix("USGS-"))
    table = sqlite_client.put(RATING, json=new(own), headers=admin).json()
    assert (table["expansion"], table["shifted"], table["largest_shift_ft"]) == (
        "logarithmic",
        "20180906102503 EST",
        -0.12,
    )
    assert reported(sqlite_client.get(ADDRESS).json())["gev-2"] is not None


def categories(**units: Any) -> dict[str, Any]:
    """Return a gauge's document of the shape of api.water.noaa.gov."""
    flood = {
        "stageUnits": "ft",
        "flowUnits": "kcfs",
        "categories": {
            "action": {"stage": 6.0, "flow": -9999},
            "minor": {"stage": 8.0, "flow": 5.0},
            "moderate": {"stage": 20.0, "flow": -9999},
            "major": {"stage": 25.0, "flow": 30.0},
        },
        "impacts": [
            {"stage": 8.5, "statement": "The mill\nroad floods."},
            {"stage": 8.0, "statement": "Water leaves its bed."},
            {"stage": 3.0, "statement": "Nothing."},
        ],
    }
    return {"lid": "XXXX1", "usgsId": BASIN.removeprefix("USGS-"), "flood": flood | units}


def test_official_categories_are_levels_by_the_rating_with_their_impacts(
    database: Database, client: TestClient
) -> None:
    fill_records(database)
    admin, address = bearer(database, "admin"), f"/v1/basins/{BASIN}/flood-categories"
    client.put(RATING, json=new(), headers=admin)
    asked = {"document": categories(), "source": "NOAA/NWS", "day": "2001-05-01"}
    done = client.put(address, json=asked, headers=admin).json()
    by_name = {level["name"]: level for level in done["levels"]}
    assert list(by_name) == ["action", "minor", "major"]
    assert "not 20.00: it is not extrapolated" in done["left_out"]["moderate"]
    minor = by_name["minor"]
    assert minor["discharge"] == pytest.approx((10 + 7 * 799) * 0.3048**3)
    assert (minor["stage"]["ft"], minor["official_stage_ft"]) == (8.0, 8.0)
    assert minor["impact"] == "Water leaves its bed. The mill road floods."
    assert (minor["source"], minor["source_day"], minor["category"]) == ("NOAA/NWS", "2001-05-01", "minor")
    assert by_name["major"]["discharge"] == pytest.approx(30_000 * 0.3048**3)
    assert (by_name["major"]["stage"]["ft"], by_name["action"]["impact"]) == (None, None)
    assert client.put(address, json=asked, headers=admin).json() == done
    assert (minor["discharge_by"], by_name["major"]["discharge_by"]) == ("rating", "source")
    # A new rating converts the stages anew; what was given as a flow stays.
    rated = client.put(RATING, json=new(TABLE.replace("8000", "4000")), headers=admin).json()
    assert list(rated["left_out"]) == ["moderate"]
    after = {level["name"]: level for level in client.get(ADDRESS).json()["fixed"]}
    assert after["minor"]["discharge"] == pytest.approx((10 + 7 * 399) * 0.3048**3)
    assert after["major"]["discharge"] == pytest.approx(by_name["major"]["discharge"])
    # An operator's level of the name is not a category.
    own = client.put(f"{ADDRESS}/minor", json={"discharge": 7.0}, headers=admin).json()
    assert (own["category"], own["impact"]) == (None, None)
    # The same value by hand makes it one, too.
    same = client.put(f"{ADDRESS}/major", json={"discharge": after["major"]["discharge"]}, headers=admin).json()
    assert (same["category"], same["source"]) == (None, None)


def test_categories_do_not_depend_on_the_order_of_imports_and_leave_other_levels(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database)
    admin, address = bearer(sqlite_database, "admin"), f"/v1/basins/{BASIN}/flood-categories"
    sqlite_client.put(f"{ADDRESS}/major", json={"discharge": 900.0}, headers=admin)
    named = {"action": {"stage": 6.0}, "minor": {"stage": 8.0, "flow": 6.0}, "moderate": {"stage": 20.0, "flow": 6.5}}
    asked = {"document": categories(categories=named), "source": "NOAA/NWS"}

    def levels() -> dict[str, float]:
        fixed = sqlite_client.get(ADDRESS).json()["fixed"]
        return {level["name"]: round(level["discharge"] / 0.3048**3) for level in fixed if level["name"] != "major"}

    before = sqlite_client.put(address, json=asked, headers=admin).json()
    assert (list(before["left_out"]), levels()) == (["action"], {"minor": 6000, "moderate": 6500})
    operators = next(one for one in sqlite_client.get(ADDRESS).json()["fixed"] if one["name"] == "major")
    assert (operators["discharge"], operators["category"]) == (900.0, None)
    # The rating gives what was left out a discharge.
    rated = sqlite_client.put(RATING, json=new(), headers=admin).json()
    assert (rated["left_out"], levels()) == ({}, {"action": 4005, "minor": 5603, "moderate": 6500})
    # A rating that covers no stage of theirs leaves none of the earlier rating's discharges.
    rated = sqlite_client.put(RATING, json=new("stage_ft,discharge_cfs\n1,10\n2,20\n"), headers=admin).json()
    assert (list(rated["left_out"]), levels()) == (["action"], {"minor": 6000, "moderate": 6500})
    # One by which a flow of the file would be out of order leaves that out.
    rated = sqlite_client.put(RATING, json=new(TABLE.replace("8000", "16000")), headers=admin).json()
    assert "out of order" in rated["left_out"]["moderate"]
    assert levels() == {"action": 8005, "minor": 11203}
    assert sqlite_client.put(address, json=asked, headers=admin).json()["left_out"] == rated["left_out"]


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({}, "In flood: Field required"),
        ({"flood": {"categories": []}}, "flood.categories"),
        ({"flood": {"categories": {"minor": {"stage": "8"}}}}, "flood.categories.minor.stage"),
        (categories(stageUnits="furlong"), "'furlong'"),
        (categories(categories={"minor": {"stage": -9999, "flow": -9999}}), "None of the categories"),
        (categories(categories={"minor": {"stage": 9.0}, "major": {"stage": 8.0}}), "do not rise"),
        (
            categories(categories={"minor": {"flow": 9.0}, "major": {"flow": 8.0}}),
            "The flows of the categories",
        ),
        (categories(categories={"minor": {"flow": 1e307}}), "is above"),
        (categories() | {"usgsId": "09999999"}, "of gauge 09999999"),
    ],
)
def test_categories_of_another_shape_are_refused(
    sqlite_database: Database, sqlite_client: TestClient, document: dict[str, Any], sentence: str
) -> None:
    fill_records(sqlite_database)
    body = {"document": document, "source": "NOAA/NWS"}
    address, admin = f"/v1/basins/{BASIN}/flood-categories", bearer(sqlite_database, "admin")
    refused = sqlite_client.put(address, json=body, headers=admin)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-categories")
    assert sentence in refused.json()["detail"]
