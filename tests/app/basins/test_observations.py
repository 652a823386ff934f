"""Daily series as columns: every day of the period, a null where there is no value, and never a short page."""

import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from app.basins.observations import LEGEND
from app.basins.queries import MAX_DAYS
from hydrology.base.products import Credit
from hydrology.base.series import Flag
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.feeds import feeds
from records.series import series_writer
from testing.records import BASIN, NOW, a_source, daily
from tests.app.conftest import serving

ADDRESS = f"/v1/basins/{BASIN}/observations"
FLOWS = (100.0, float("nan"), 250.0)


def fill_records(database: Database) -> None:
    """Store three days of discharge (one missing) and of two weather variables, the second a day later."""
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN, areas={"area_gages2": 2.0e9, "daymet": 2.5e9}))
        source = a_source(session)
        flow = daily("2008-01-30", *FLOWS, flag=Flag.APPROVED | Flag.ESTIMATED, unit="cfs")
        series_writer.write(session, BASIN, "usgs", "discharge", flow, source, NOW)
        series_writer.write(session, BASIN, "daymet", "precipitation", daily("2008-01-30", 1.0, 0.0, 0.1), source, NOW)
        warm = daily("2008-01-31", -1.5, 2.0, 0.25, unit="degC")
        series_writer.write(session, BASIN, "daymet", "tmax", warm, source, NOW)


@pytest.fixture(scope="module")
def stocked(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The service on the data of `fill_records`, for the tests that only read."""
    file = shutil.copy(migrated_sqlite, tmp_path_factory.mktemp("stocked") / "service.sqlite")
    database = Database(f"sqlite:///{file}")
    fill_records(database)
    database.close()
    with serving(f"sqlite:///{file}") as client:
        yield client


def test_discharge_is_reported_day_by_day_in_cubic_metres_per_second(database: Database, client: TestClient) -> None:
    fill_records(database)
    result = client.get("/v1/basins/01013500/observations?product=usgs&variable=discharge").json()
    assert (result["basin"], result["product"], result["units"]) == (BASIN, "usgs", {"discharge": "m3/s"})
    assert result["time"] == ["2008-01-30", "2008-01-31", "2008-02-01"]
    first, nothing, last = result["values"]["discharge"]
    assert (first, nothing, last) == (pytest.approx(2.831685), None, pytest.approx(7.079212))
    assert result["flags"] == {"discharge": [3, 8, 3]}
    assert result["kept"] == {"discharge": {"first_day": "2008-01-30", "last_day": "2008-02-01"}}
    assert set(result["missing"]) == {"values.discharge", "area", "credit", "known_at"}
    assert result["missing"]["values.discharge"].startswith("1 of 3 days")


def test_data_from_a_feed_are_reported_with_their_credit(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    before = sqlite_client.get(ADDRESS, params={"product": "usgs"})
    assert (before.json()["credit"], before.json()["missing"]["credit"]) == (None, "No feed brought any of it.")
    with sqlite_database.transaction() as session:
        feeds.store_credit(session, "usgs", "usgs", Credit("By the survey.", "public domain"))
    held = {"If-None-Match": before.headers["ETag"]}
    after = sqlite_client.get(ADDRESS, params={"product": "usgs"}, headers=held)
    assert after.json()["credit"] == {"credit": "By the survey.", "licence": "public domain"}
    assert sqlite_client.get(ADDRESS, params={"product": "daymet"}).json()["credit"] is None


def test_every_flag_has_its_word() -> None:
    assert list(LEGEND) == list(Flag)


def test_all_variables_of_a_product_stand_in_the_same_days(database: Database, client: TestClient) -> None:
    fill_records(database)
    result = client.get(f"{ADDRESS}?product=daymet").json()
    assert len(result["time"]) == 4
    assert result["values"] == {"precipitation": [1.0, 0.0, 0.1, None], "tmax": [None, -1.5, 2.0, 0.25]}
    assert result["flags"] == {"precipitation": [0, 0, 0, Flag.ABSENT], "tmax": [Flag.ABSENT, 0, 0, 0]}
    assert result["units"] == {"precipitation": "mm/day", "tmax": "degC"}
    first = client.get(f"{ADDRESS}?product=daymet&end=2008-01-30").json()
    assert first["values"] == {"precipitation": [1.0], "tmax": [None]}


@pytest.mark.parametrize(
    ("asked", "unit", "factor"),
    [
        ("variable=discharge", "m3/s", 0.3048**3),
        ("units=source", "cfs", 1.0),
        ("units=cfs", "cfs", 1.0),
        ("units=m3/s", "m3/s", 0.3048**3),
        ("units=mm/day&area=area_gages2", "mm/day", 0.3048**3 * 86_400_000 / 2.0e9),
        ("units=mm/day&area=daymet", "mm/day", 0.3048**3 * 86_400_000 / 2.5e9),
        ("units=mm/day", "mm/day", 0.3048**3 * 86_400_000 / 2.5e9),
    ],
)
def test_discharge_is_converted_with_the_area_that_is_named_or_that_of_the_basin(
    stocked: TestClient, asked: str, unit: str, factor: float
) -> None:
    result = stocked.get(f"{ADDRESS}?product=usgs&{asked}").json()
    assert result["units"] == {"discharge": unit}
    shown = np.array(result["values"]["discharge"], dtype=float)
    np.testing.assert_allclose(shown, np.array(FLOWS) * factor, rtol=1e-6)
    assert (result["area"] is None) == ("mm/day" not in asked)


def test_depths_that_are_stored_are_reported_as_flows(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database)
    with sqlite_database.transaction() as session:
        depth = daily("2008-01-30", 1.0, 2.0)
        series_writer.write(session, BASIN, "own", "discharge", depth, a_source(session), NOW)
    result = sqlite_client.get(f"{ADDRESS}?product=own&units=m3/s&area=area_gages2").json()
    assert result["values"]["discharge"] == pytest.approx([2.0e6 / 86_400, 4.0e6 / 86_400])
    feet = sqlite_client.get(f"{ADDRESS}?product=own&units=cfs&area=area_gages2").json()
    assert feet["values"]["discharge"][0] == pytest.approx(2.0e6 / 86_400 / 0.3048**3)


@pytest.mark.parametrize(
    ("asked", "field", "mend"),
    [
        ("product=usgs&area=daymet", "area", "leave it out"),
        ("product=usgs&units=m3/s&area=daymet", "area", "units=mm/day"),
        ("product=daymet&units=m3/s", "units", "leave it out"),
        ("product=usgs&start=2008-02-01&end=2008-01-30", "end", "swap"),
        ("product=usgs&start=1990-01-01", "start", "a part at a time"),
        ("product=usgs&start=1990-01-01&end=2008-01-31", "end", f"at most {MAX_DAYS}"),
        ("product=usgs&start=soon", "start", "YYYY-MM-DD"),
        ("product=usgs&start=0", "start", "YYYY-MM-DD"),
        ("product=us%20gs", "product", "1 to 64 letters"),
        ("variable=discharge", "product", "needed"),
    ],
)
def test_an_impossible_request_is_refused_with_the_remedy(
    stocked: TestClient, asked: str, field: str, mend: str
) -> None:
    answer = stocked.get(f"{ADDRESS}?{asked}")
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["field"] == field
    assert mend in fault["detail"].lower() + fault["detail"]


def test_the_longest_period_is_answered_whole(stocked: TestClient) -> None:
    end = date(2008, 2, 1)
    start = date.fromordinal(end.toordinal() - MAX_DAYS + 1)
    result = stocked.get(f"{ADDRESS}?product=usgs&start={start}&end={end}").json()
    assert len(result["time"]) == len(result["values"]["discharge"]) == len(result["flags"]["discharge"]) == MAX_DAYS
    assert result["flags"]["discharge"][:2] == [Flag.ABSENT, Flag.ABSENT]
    assert stocked.get(f"{ADDRESS}?product=usgs&start={date.fromordinal(start.toordinal() - 1)}").status_code == 422


@pytest.mark.parametrize(
    ("asked", "kind", "names"),
    [
        ("product=nldas", "no-observations", "usgs: discharge 2008-01-30..2008-02-01"),
        ("product=usgs&variable=swe", "no-observations", "daymet: tmax"),
        ("product=usgs&end=1999-12-31", "no-observations", "2008-01-30..2008-02-01"),
        ("product=usgs&start=2009-01-01", "no-observations", "2008-01-30..2008-02-01"),
        ("product=usgs&end=0001-01-01", "no-observations", "2008-01-30..2008-02-01"),
        ("product=usgs&start=9999-12-31", "no-observations", "2008-01-30..2008-02-01"),
        ("product=usgs&units=mm/day&area=nldas", "unknown-area", "area_gages2, daymet"),
    ],
)
def test_a_missing_series_is_reported_with_the_stored_ones(
    stocked: TestClient, asked: str, kind: str, names: str
) -> None:
    answer = stocked.get(f"{ADDRESS}?{asked}")
    assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")
    assert names in answer.json()["detail"]


def test_a_basin_that_is_not_stored_is_distinguished(sqlite_client: TestClient) -> None:
    answer = sqlite_client.get(f"{ADDRESS}?product=usgs")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/unknown-basin")


def test_a_copy_is_good_until_the_product_is_written_again(database: Database, client: TestClient) -> None:
    fill_records(database)
    address = f"{ADDRESS}?product=usgs"
    held = {"If-None-Match": client.get(address).headers["ETag"]}
    assert client.get(address, headers=held).status_code == 304
    assert client.get(f"{address}&units=cfs", headers=held).status_code == 200
    with database.transaction() as session:
        revised = daily("2008-01-30", 101.0, unit="cfs")
        series_writer.write(session, BASIN, "usgs", "discharge", revised, a_source(session), NOW)
    changed = client.get(address, headers=held)
    assert (changed.status_code, changed.json()["values"]["discharge"][0]) == (200, pytest.approx(101 * 0.3048**3))


def test_what_was_known_at_an_instant_does_not_change(database: Database, client: TestClient) -> None:
    fill_records(database)
    before = client.get(f"{ADDRESS}?product=usgs&units=source&known_at=2008-10-01T07:00:00Z")
    later = NOW + timedelta(days=1)
    with database.transaction() as session:
        revised = daily("2008-02-01", 251.0, 300.0, flag=Flag.APPROVED, unit="cfs")
        series_writer.write(session, BASIN, "usgs", "discharge", revised, a_source(session, "later"), later)
    after = client.get(f"{ADDRESS}?product=usgs&units=source&known_at=2008-10-01T07:00:00Z").json()
    assert after == before.json()
    assert (after["known_at"], after["values"]) == ("2008-10-01T07:00:00Z", {"discharge": [100.0, None, 250.0]})
    assert after["kept"] == {"discharge": {"first_day": "2008-01-30", "last_day": "2008-02-01"}}
    now = client.get(f"{ADDRESS}?product=usgs&units=source").json()
    assert (now["known_at"], now["values"]) == (None, {"discharge": [100.0, None, 251.0, 300.0]})


def test_later_values_are_not_there(stocked: TestClient) -> None:
    answer = stocked.get(f"{ADDRESS}?product=usgs&known_at=2008-10-01T05:59:59Z")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-observations")
    assert "was known" in answer.json()["detail"]
    assert stocked.get(f"{ADDRESS}?product=usgs&known_at=yesterday").status_code == 422
