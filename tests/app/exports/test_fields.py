"""`fields=` on every list: only the named fields of each entry, and unknown names refused."""

from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import BASIN, a_basin, a_promoted_version
from tests import openapi
from tests.app.conftest import bearer
from tests.app.exports.conftest import BASINS

FOREIGN = "/v1/edr"


def lists() -> dict[str, list[str]]:
    """Return the addresses of lists, with the fields of their entries."""
    found = {}
    for path, operations in openapi.paths().items():
        for parameter in operations.get("get", {}).get("parameters", []):
            if parameter["name"] == "fields":
                found[path] = parameter["schema"]["items"]["enum"]
    return found


def test_every_list_takes_fields() -> None:
    reads = {path: one["get"]["operationId"] for path, one in openapi.paths().items() if "get" in one}
    named = {path for path, operation in reads.items() if operation.startswith("list_")}
    assert {path for path in named if not path.startswith(FOREIGN)} == set(lists())


def test_an_unknown_field_is_refused_with_the_nearest(sqlite_client: TestClient, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        a_promoted_version(session, a_basin(session))
    key = bearer(sqlite_database, "admin")
    for path, known in lists().items():
        address = path.format(basin=BASIN)
        answer = sqlite_client.get(address, params={"fields": f"{known[0]},{known[1]}x"}, headers=key)
        assert (answer.status_code, [one["field"] for one in answer.json()["errors"]]) == (422, ["fields"]), path
        assert f"did you mean {known[1]}?" in answer.json()["detail"], path
        assert sqlite_client.get(address, params={"fields": known[0]}, headers=key).status_code == 200, path


def test_entries_have_only_the_named_fields(exporting: TestClient) -> None:
    whole = exporting.get(BASINS).json()
    some = exporting.get(f"{BASINS}?fields=name,id")
    assert some.json()["basins"] == [{"id": one["id"], "name": one["name"]} for one in whole["basins"]]
    assert some.json()["next"] is None
    assert exporting.get(f"{BASINS}?fields=id&fields=name").json() == some.json()
    assert exporting.get(BASINS, headers={"If-None-Match": some.headers["ETag"]}).status_code == 200


def test_the_next_page_has_the_same_fields(exporting: TestClient) -> None:
    first = exporting.get("/v1/runs?fields=id,t0&limit=1")
    assert [*first.json()["runs"][0]] == ["id", "t0"]
    assert first.json()["next"] in first.headers["Link"]
    assert [*exporting.get(first.json()["next"]).json()["runs"][0]] == ["id", "t0"]


def test_a_file_has_all_its_columns(exporting: TestClient) -> None:
    answer = exporting.get(f"{BASINS}?fields=id&format=csv")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "fields")
