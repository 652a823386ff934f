"""The latest forecasts of many basins in one answer."""

from starlette.testclient import TestClient

from app.forecasts.lookup import MAX_BASINS
from records.database.engine import Database
from records.versions import promotions
from testing.databases import counted_statements
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_version, not_issued
from tests.app import factories
from tests.app.forecasts.test_forecasts import LATEST, fill_records

SECOND, THIRD, FOURTH = "SYNTH-02", "SYNTH-03", "SYNTH-04"


def test_many_basins_are_reported_as_each_is_and_none_is_left_out(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        a_promoted_version(session, a_basin(session, SECOND), conserving=False)
        a_basin(session, THIRD)
        promotions.promote(session, version, [a_basin(session, FOURTH)], reason="first", by="someone", at=NOW)
        second = promotions.current(session, [SECOND])[SECOND]
        results = factories.forecast(), not_issued("The forcing ends.", FOURTH, "failed")
        a_run(session, version, *results, horizon_days=3)
        a_run(session, second, factories.forecast(SECOND, conserving=False), horizon_days=3)
    for units in ("m3/s", "mm/day"):
        asked = f"/v1/forecasts?basins=USGS-00000001,{SECOND},{FOURTH},01013500,{THIRD}&units={units}"
        output = client.get(asked).json()
        alone = [client.get(f"/v1/basins/{basin}/forecasts/latest?units={units}").json() for basin in (SECOND, BASIN)]
        assert output["forecasts"] == alone
    assert [(one["basin"], one["type"]) for one in output["without"]] == [
        ("USGS-00000001", "/problems/unknown-basin"),
        (FOURTH, "/problems/no-forecast"),
        (THIRD, "/problems/no-model"),
    ]
    assert "The forcing ends." in output["without"][1]["reason"]
    assert client.get(f"/v1/basins/{FOURTH}/forecasts/latest").json()["detail"] == output["without"][1]["reason"]


def test_a_basin_without_an_area_does_not_affect_the_others(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        promotions.promote(session, version, [a_basin(session, SECOND)], reason="first", by="someone", at=NOW)
        results = factories.forecast(), factories.forecast(SECOND, area_m2=None, area_name=None)
        a_run(session, version, *results, horizon_days=3)
    output = sqlite_client.get(f"/v1/forecasts?basins={SECOND},{BASIN}").json()
    assert [one["basin"] for one in output["forecasts"]] == [BASIN]
    assert [(one["basin"], one["type"]) for one in output["without"]] == [(SECOND, "/problems/no-area")]
    depths = sqlite_client.get(f"/v1/forecasts?basins={SECOND},{BASIN}&units=mm/day").json()
    assert [one["basin"] for one in depths["forecasts"]] == [SECOND, BASIN]


def test_the_tag_of_many_basins_follows_the_missing_ones(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    address = f"/v1/forecasts?basins={BASIN},{SECOND}"
    first = sqlite_client.get(address)
    again = sqlite_client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    with sqlite_database.transaction() as session:
        a_basin(session, SECOND)
    changed = sqlite_client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200
    assert changed.json()["without"][0]["type"] == "/problems/no-model"


def test_a_cached_answer_serves_one_and_many_basins_until_a_newer_run(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast())
    address = f"/v1/forecasts?basins={BASIN}"
    before = sqlite_client.get(LATEST).json()
    for _ in range(2):
        assert sqlite_client.get(address).json() == {"forecasts": [before], "without": []}
    fill_records(sqlite_database, factories.forecast())
    (after,) = sqlite_client.get(address).json()["forecasts"]
    assert after["run"] != before["run"]
    assert after == sqlite_client.get(LATEST).json()


def test_many_basins_need_no_more_queries_than_a_few(sqlite_database: Database, sqlite_client: TestClient) -> None:
    ids = [f"SYNTH-{number:02}" for number in range(1, 41)]
    with sqlite_database.transaction() as session:
        version = a_version(session).id
        promoted = [a_basin(session, basin) for basin in ids]
        promotions.promote(session, version, promoted, reason="first", by="someone", at=NOW)
        a_run(session, version, *(factories.forecast(basin) for basin in ids), horizon_days=3)
    counts = []
    for asked in (ids[:2], ids):
        with counted_statements() as statements:
            output = sqlite_client.get("/v1/forecasts", params={"basins": ",".join(asked)}).json()
        assert [one["basin"] for one in output["forecasts"]] == asked
        counts.append(len(statements))
    assert counts[0] == counts[1] > 0


def test_the_number_of_basins_in_one_answer_is_limited(sqlite_client: TestClient) -> None:
    ids = [f"SYNTH-{number:03}" for number in range(MAX_BASINS + 1)]
    maximum = sqlite_client.get("/v1/forecasts", params={"basins": ",".join([*ids[:MAX_BASINS], ids[0]])})
    assert len(maximum.json()["without"]) == MAX_BASINS
    for basins, output in (
        (",".join(ids), f"at most {MAX_BASINS}"),
        ("fish", "fish"),
        ("", "'' is"),
        (f"{BASIN},,", "'' is"),
    ):
        refused = sqlite_client.get("/v1/forecasts", params={"basins": basins})
        assert refused.status_code == 422
        (fault,) = refused.json()["errors"]
        assert fault["field"] == "basins"
        assert output in fault["detail"]
