"""Answers whose size a client chooses are bounded before they are read, and count as several requests."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from app.http.limits import costs
from app.http.limits.admission import Places
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import series_writer
from testing.databases import counted_statements
from testing.records import NOW, a_source, daily
from tests.app.conftest import serving
from tests.openapi import paths

pytestmark = pytest.mark.usefixtures("within_a_minute")

GAUGES = [f"USGS-{number:08}" for number in range(1, 96)]
YEARS, YEAR = "1998-01-01/2007-12-31", "2007-01-01/2007-12-31"
OBSERVED = "/v1/edr/collections/discharge-usgs"
EVERYWHERE = {"cube": "bbox=-179,-89,179,89", "area": "coords=POLYGON((-179 -89,179 -89,179 89,-179 89,-179 -89))"}
QUOTA = 200


@pytest.fixture
def country(sqlite: str, sqlite_database: Database) -> Iterator[TestClient]:
    """A service with ninety-five gauges with ten years of flow, and two variables of one."""
    flow = daily("1998-01-01", *np.ones(3652).tolist(), unit="m3/s")
    with sqlite_database.transaction() as session:
        source = a_source(session)
        for number, gauge in enumerate(GAUGES):
            basins.upsert(session, Basin(gauge, latitude=40.0, longitude=-100.0 + number / 10))
            series_writer.write(session, gauge, "usgs", "discharge", flow, source, NOW)
        series_writer.write(session, GAUGES[0], "usgs", "stage", flow, source, NOW)
    with serving(sqlite, requests_per_minute=QUOTA) as client:
        yield client


def remaining(answer: Response) -> int:
    found = re.search(r'"requests";r=([0-9]+);', answer.headers["RateLimit"])
    assert found
    return int(found[1])


def test_a_decade_of_every_gauge_is_refused_before_it_is_read(country: TestClient) -> None:
    for kind, place in EVERYWHERE.items():
        for days in (YEARS, "../..", "1998-01-01/.."):
            with counted_statements() as statements:
                refused = country.get(f"{OBSERVED}/{kind}?{place}&datetime={days}")
            assert refused.status_code == 422, refused.text
            (fault,) = refused.json()["errors"]
            assert fault["field"] == "datetime"
            assert "693880 values" in fault["detail"]
            assert "ask for fewer days, or for a part of the gauges" in fault["detail"]
            assert len(statements) < 20


def test_an_answer_costs_what_it_holds(country: TestClient) -> None:
    plain, small, decade, large = (
        country.get(address)
        for address in (
            f"/v1/basins/{GAUGES[0]}",
            f"/v1/basins/{GAUGES[0]}/observations?product=usgs&start=2007-01-01&end=2007-01-09",
            f"/v1/basins/{GAUGES[0]}/observations?product=usgs&start=1998-01-01&end=2007-12-31",
            f"{OBSERVED}/cube?{EVERYWHERE['cube']}&datetime={YEAR}",
        )
    )
    assert {answer.status_code for answer in (plain, small, decade, large)} == {200}
    left = [remaining(answer) for answer in (plain, small, decade, large)]
    assert left[0] == QUOTA - 1
    assert left[1] == left[0] - 1
    assert left[2] == left[1] - 1 - 2 * 3652 // costs.VALUES_PER_REQUEST
    assert left[3] == left[2] - costs.HEAVY - 95 * 365 * 2 // costs.VALUES_PER_REQUEST
    while (answer := country.get(f"{OBSERVED}/cube?{EVERYWHERE['cube']}&datetime={YEAR}")).status_code == 200:
        left.append(remaining(answer))
    assert len(left) == 5
    assert answer.json()["type"] == "/problems/too-many-requests"
    assert int(answer.headers["Retry-After"]) >= 1
    assert country.get(f"/v1/basins/{GAUGES[0]}").status_code == 200  # a plain one still fits


def test_each_answer_whose_size_is_chosen_is_bounded(country: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "MAX_VALUES", 20)
    basin = GAUGES[0]
    for address, field in (
        (f"/v1/basins/{basin}/observations?product=usgs&start=2007-01-01&end=2007-01-11", "variable"),
        (f"/v1/basins/{basin}/observations?product=usgs&start=2007-01-01&end=2007-01-11&format=netcdf", "variable"),
        (f"/v1/basins/{basin}/normals?start=2007-01-01&end=2007-01-03", "variable"),
        (f"{OBSERVED}/locations/{basin}?datetime={YEAR}", "datetime"),
        (f"{OBSERVED}/position?coords=POINT(-100 40)&datetime=2007-01-01/2007-01-11", "datetime"),
        (f"{OBSERVED}/cube?bbox=-101,39,-99.85,41&datetime=2007-01-01/2007-01-10", "datetime"),
    ):
        refused = country.get(address)
        assert refused.status_code == 422, address
        assert [fault["field"] for fault in refused.json()["errors"]] == [field]
        assert "holds at most 20" in refused.json()["detail"]
    assert country.get(f"{OBSERVED}/locations/{basin}?datetime=2007-01-01/2007-01-10").status_code == 200


def test_costly_requests_leave_places_to_the_others(country: TestClient) -> None:
    country.app.state.costly_places = Places(0, max_waiting=0)  # type: ignore[attr-defined]
    basin = f"/v1/basins/{GAUGES[0]}"
    for costly in (
        f"{OBSERVED}/cube?{EVERYWHERE['cube']}",
        f"{OBSERVED}/locations/{GAUGES[0]}",
        f"{basin}/observations?product=usgs&format=netcdf",
        f"{basin}/observations?product=usgs&format=parquet",
        "/v1/forecasts?format=NetCDF",
        "/v1/basins?form%61t=parqu%65t",
    ):
        refused = country.get(costly)
        assert (refused.status_code, refused.json()["type"]) == (503, "/problems/overloaded"), costly
    by_header = country.get(f"{basin}/observations?product=usgs", headers={"Accept": "application/x-netcdf"})
    assert by_header.status_code == 503
    for plain in (
        "/",
        f"/basins/{GAUGES[0]}",
        basin,
        f"{basin}/observations?product=usgs",
        f"{basin}/observations?product=usgs&format=csv",
    ):
        assert country.get(plain).status_code == 200, plain


def test_a_cost_is_declared_of_addresses_that_there_are() -> None:
    pages = {"/", "/basins/{basin}", "/openapi.json", "/v1/edr/collections/{rest:path}"}
    assert set(costs.DECLARED) - pages <= set(paths())
