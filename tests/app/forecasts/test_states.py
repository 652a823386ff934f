"""/v1/basins/{basin}/states: the chain of stored states, and the arrays of one."""

from pathlib import Path

import numpy as np
import xarray
from starlette.testclient import TestClient

from hydrology.base.digests import fingerprint
from hydrology.water.ledger import FLOWS
from records.database.checksums import member_hashes
from records.database.engine import Database
from records.runs import states
from records.versions import promotions
from testing.records import BASIN, NOW, a_basin, a_member, a_reason, a_state, a_version

STATES = f"/v1/basins/{BASIN}/states"
SUMS = {name: np.zeros(2) for name in FLOWS}


def a_chain(database: Database) -> str:
    """Store a version with three states, of which the last is invalid."""
    with database.transaction() as session:
        version = a_version(session, a_member(), a_member(1)).id
        promotions.promote(session, version, [a_basin(session)], reason="better", by="someone", at=NOW)
        first = states.put(session, [a_state(version, "2008-01-31", sums=SUMS)], NOW)[0]
        parent = {"parent_day": first.day, "parent_hash": first.sha256}
        states.put(session, [a_state(version, "2008-02-29", 2.0, **parent)], NOW)
        states.put(session, [a_state(version, "2008-03-31", 3.0)], NOW)
        reason = a_reason("The precipitation was revised.")
        states.invalidate(session, BASIN, "maurer_extended", np.datetime64("2008-03-01", "D"), reason, NOW)
    return version


def test_states_are_listed_the_newest_first_with_their_parents(client: TestClient, database: Database) -> None:
    version = a_chain(database)
    listed = client.get(STATES).json()
    assert listed["version"] == version
    newest, middle, oldest = listed["states"]
    assert [newest["day"], middle["day"], oldest["day"]] == ["2008-03-31", "2008-02-29", "2008-01-31"]
    assert (middle["parent_day"], middle["parent_sha256"]) == ("2008-01-31", oldest["sha256"])
    assert oldest["parent_day"] is None
    assert "empty cells" in oldest["missing"]["parent_day"]
    assert (newest["invalid_reason"], middle["invalid_reason"]) == ("The precipitation was revised.", None)
    assert oldest["storage_mm"] == [3.0, 3.0]  # three cells of 1 mm in each member
    assert "does not conserve mass" in middle["missing"]["storage_mm"]


def test_a_page_leads_to_the_earlier_days(client: TestClient, database: Database) -> None:
    a_chain(database)
    first = client.get(f"{STATES}?limit=2&fields=day").json()
    assert first["states"] == [{"day": "2008-03-31"}, {"day": "2008-02-29"}]
    last = client.get(first["next"]).json()
    assert (last["states"], last["next"]) == ([{"day": "2008-01-31"}], None)


def test_the_fingerprint_of_a_state_follows_from_its_arrays(client: TestClient, database: Database) -> None:
    a_chain(database)
    state = client.get(f"{STATES}/2008-01-31").json()
    arrays = {name: np.array(one["values"], one["dtype"]) for name, one in state["arrays"].items()}
    assert member_hashes(arrays) == state["member_sha256"]
    assert fingerprint(state["member_sha256"]) == state["sha256"]
    assert (state["members"], state["arrays"]["c"]["shape"]) == (["0", "1"], [2, 3])


def test_a_file_holds_the_arrays_and_the_members(client: TestClient, database: Database, tmp_path: Path) -> None:
    a_chain(database)
    answer = client.get(f"{STATES}/2008-02-29?format=netcdf")
    assert answer.headers["Content-Type"] == "application/x-netcdf"
    file = tmp_path / "state.nc"
    file.write_bytes(answer.content)
    with xarray.open_dataset(file) as dataset:
        assert dataset["c"].values.tolist() == [[2.0] * 3] * 2
        assert dataset.attrs["day"] == "2008-02-29"
    held = client.get(f"{STATES}/2008-02-29?format=netcdf", headers={"If-None-Match": answer.headers["ETag"]})
    assert held.status_code == 304


def test_what_is_not_stored_is_answered_404(sqlite_client: TestClient, sqlite_database: Database) -> None:
    a_chain(sqlite_database)
    for path, kind in ((f"{STATES}/2008-02-01", "unknown-state"), ("/v1/basins/SYNTH-99/states", "unknown-basin")):
        answer = sqlite_client.get(path)
        assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")
    assert sqlite_client.get(f"{STATES}/today").status_code == 422
