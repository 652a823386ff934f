"""The balance of all years: the sums of the state of T0 beside the observed runoff."""

import numpy as np
from fastapi.testclient import TestClient

from hydrology.base.basins import gauge_product
from records.database.engine import Database
from records.runs import states
from records.series import series_writer
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_source, a_state, daily
from tests.app import factories
from tests.app.forecasts.test_forecasts import fill_records

ADDRESS = f"/v1/basins/{BASIN}/long-term-balance"
DAYS = 1461  # four years


def store_run(database: Database) -> None:
    """Store a forecast from a state with sums of four years, in millimetres a year: 800 of rain, 390 and 410 of flow,
    and all else lost but 4 mm that are stored."""
    sums = {
        "precipitation": np.array([3200.0, 3200.0]),
        "discharge": np.array([1560.0, 1640.0]),
        "loss": np.array([1624.0, 1544.0]),
    }
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session, BASIN))
        stored = states.put(session, [a_state(version, "2008-09-30", sums=sums)], NOW)[0]
        result = factories.forecast(state_hash=stored.sha256, spin_up_days=DAYS)
        a_run(session, version, result, horizon_days=3, forcing_kind="observed")


def test_precipitation_runoff_and_loss_are_reported_per_year(database: Database, client: TestClient) -> None:
    store_run(database)
    answer = client.get(ADDRESS).json()
    assert answer["period"] == {"first_day": "2004-10-01", "last_day": "2008-09-30"}
    assert answer["simulated"] == {"precipitation": 800.0, "discharge": 400.0, "loss": 396.0, "stored": 4.0}
    assert answer["observed"] is None
    assert answer["missing"]["observed"] == f"No discharge of {BASIN} is stored from 2004-10-01 to 2008-09-30."


def test_observed_runoff_is_the_mean_of_whole_water_years(database: Database, client: TestClient) -> None:
    store_run(database)
    a_year = np.repeat([1.0, 3.0, np.nan], [181, 181, 3])  # from October on; a year with 3 missing days is whole
    summers = [9.0] * 100  # of the year after: not a whole year
    with database.transaction() as session:
        source = a_source(session)
        flow = daily("2005-10-01", *a_year, *summers)
        series_writer.write(session, BASIN, gauge_product(BASIN), "discharge", flow, source, NOW)
    assert client.get(ADDRESS).json()["observed"] == {"runoff": 730.5, "days": 362}


def test_runoff_of_a_part_of_a_year_is_not_that_of_a_year(database: Database, client: TestClient) -> None:
    store_run(database)
    with database.transaction() as session:
        flow = daily("2008-04-01", *[5.0] * 183)
        series_writer.write(session, BASIN, gauge_product(BASIN), "discharge", flow, a_source(session), NOW)
    answer = client.get(ADDRESS).json()
    assert answer["observed"] is None
    assert answer["missing"]["observed"].startswith("No water year has 355 days or more with observed flow")


def test_a_state_that_is_not_stored_has_no_sums(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    answer = sqlite_client.get(ADDRESS).json()
    assert (answer["period"], answer["simulated"], answer["observed"]) == (None, None, None)
    assert answer["missing"]["simulated"] == "The state of T0 is no longer stored: forecast again."


def test_a_network_that_does_not_conserve_mass_has_none(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast(), conserving=False)
    answer = sqlite_client.get(ADDRESS).json()
    assert "does not conserve mass" in answer["missing"]["simulated"]
