"""/v1/basins/{basin}/simulation: the flow from which anyone can compute the scores again."""

import csv
from pathlib import Path

import numpy as np
import pytest
import xarray
from sqlalchemy import select
from starlette.testclient import TestClient

from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.simulations import simulated_series
from records.simulations.simulated_series import SIMULATED_FLOW
from testing.records import BASIN, a_basin, a_promoted_version, a_simulated_flow

SIMULATION = f"/v1/basins/{BASIN}/simulation"
FLOW = a_simulated_flow("")


def a_simulation(database: Database) -> str:
    """Store a current version with the flow of an evaluation."""
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        simulated_series.replace_flow(session, [a_simulated_flow(version)])
    return version


def test_the_series_of_the_newest_evaluation_are_answered(client: TestClient, database: Database) -> None:
    version = a_simulation(database)
    answer = client.get(SIMULATION).json()
    assert (answer["version"], answer["scored"], answer["units"]) == (version, version, "mm/day")
    assert answer["period"] == {"first_day": "2007-10-01", "last_day": "2007-10-04"}
    assert answer["simulated"] == FLOW.simulated.tolist()
    assert answer["observed"] == [1.0, 2.0, None, 1.25]
    assert "1 of 4 days" in answer["missing"]["observed"]
    assert client.get(SIMULATION, params={"version": version}).json() == answer


def test_days_of_the_evaluation_are_chosen(sqlite_client: TestClient, sqlite_database: Database) -> None:
    a_simulation(sqlite_database)
    answer = sqlite_client.get(f"{SIMULATION}?start=2007-10-02&end=2007-10-03").json()
    assert (answer["time"], answer["simulated"]) == (["2007-10-02", "2007-10-03"], FLOW.simulated[1:3].tolist())
    assert answer["period"]["last_day"] == "2007-10-04"
    refused = sqlite_client.get(f"{SIMULATION}?start=2008-01-01")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "start")


def test_flow_is_converted_with_the_area(sqlite_client: TestClient, sqlite_database: Database) -> None:
    a_simulation(sqlite_database)
    assert sqlite_client.get(f"{SIMULATION}?units=m3/s").json()["errors"][0]["field"] == "area"
    with sqlite_database.transaction() as session:
        basins.upsert(session, Basin(BASIN, None, None, None, areas={"maurer_extended": 864e6}))
    answer = sqlite_client.get(f"{SIMULATION}?units=m3/s").json()
    assert answer["area"] == {"name": "maurer_extended", "km2": 864.0}
    assert answer["simulated"] == pytest.approx(FLOW.simulated * 10, rel=1e-6)
    assert sqlite_client.get(f"{SIMULATION}?area=maurer_extended").status_code == 422


def test_files_hold_the_same_days(sqlite_client: TestClient, sqlite_database: Database, tmp_path: Path) -> None:
    a_simulation(sqlite_database)
    rows = list(csv.DictReader(sqlite_client.get(f"{SIMULATION}?format=csv").text.splitlines()))
    assert [row["time"] for row in rows] == [str(day) for day in FLOW.period.days]
    assert {row["period_use"] for row in rows} == {sqlite_client.get(SIMULATION).json()["period_use"]}
    file = tmp_path / "simulation.nc"
    file.write_bytes(sqlite_client.get(f"{SIMULATION}?format=netcdf").content)
    with xarray.open_dataset(file) as dataset:
        assert np.array_equal(dataset["simulated"].values[0], FLOW.simulated)
        assert np.array_equal(dataset["observed"].values[0], FLOW.observed, equal_nan=True)
        assert dataset["simulated"].attrs["units"] == "mm day-1"


def test_without_an_evaluation_the_remedy_is_named(sqlite_client: TestClient, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        a_promoted_version(session, a_basin(session))
    answer = sqlite_client.get(SIMULATION)
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-simulated")
    assert "freshet evaluate" in answer.json()["detail"]


def test_damage_is_reported(client: TestClient, database: Database) -> None:
    version = a_simulation(database)
    with database.transaction() as session:
        of_version = SIMULATED_FLOW.c.version_id == version
        content = session.scalars(select(SIMULATED_FLOW.c.content).where(of_version)).one()
        session.execute(SIMULATED_FLOW.update().where(of_version).values(content=content[::-1]))
    assert client.get(SIMULATION).status_code == 500
