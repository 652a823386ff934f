"""A version that combines others over REST and on the pages: its parts, its forecasts, and what is refused."""

import math
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from hydrology.extremes.rain_margin import RAIN_MM, crossings
from hydrology.uncertainty.weighted import reached_by_shares
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from records.database.engine import Database
from records.runs import run_types, runs
from records.runs.runs import RunRequest
from records.versions import promotions
from records.versions.versions import Version
from runtime.clock import Clock
from testing.country import BASINS, CLOCK, FIRST, SECOND, combined
from testing.work import work_of
from tests.app.conftest import bearer, serving
from tests.operations.conftest import country, trained_file

__all__ = ["country", "trained_file"]

AT = datetime(2005, 4, 22, 6, tzinfo=UTC)
BASIN = BASINS[0]
MEMBERS, WEIGHTS = ["synthetic-0", "synthetic-1", "second-1"], np.array([0.35, 0.35, 0.3])


@pytest.fixture(scope="module")
def store(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Version]:
    """A database in which all basins use a combined version, with an operational and a dry run of it."""
    url = f"sqlite:///{shutil.copy(trained_file, tmp_path_factory.mktemp('both') / 'freshet.sqlite')}"
    database = Database(url)
    both = combined(database, CLOCK)
    with database.transaction() as session:
        promotions.promote(session, both.id, BASINS, reason="both", by="someone", at=AT)
    for weather in ("climatology", "dry"):
        asked = ForecastParams(basins=[*BASINS], t0=day("2005-04-20"), horizon=6, weather=weather)
        forecast(work_of(database, Clock(AT)), RunRequest(asked))
    database.close()
    return url, both


@pytest.fixture(scope="module")
def client(store: tuple[str, Version]) -> Iterator[TestClient]:
    with serving(store[0], AT) as serves:
        yield serves


@pytest.fixture(scope="module")
def both(store: tuple[str, Version]) -> Version:
    return store[1]


def test_it_is_posted_with_a_key_and_shows_its_parts(
    client: TestClient, both: Version, store: tuple[str, Version]
) -> None:
    parts = [{"version": part.version, "weight": part.weight} for part in both.parts]
    assert client.post("/v1/models", json={"parts": parts}).status_code == 401
    database = Database(store[0])
    header = bearer(database, "admin")
    database.close()
    again = client.post("/v1/models", json={"parts": parts, "label": "both"}, headers=header)
    assert (again.status_code, again.json()["id"]) == (201, both.id)
    assert client.post("/v1/models", json={"parts": [parts[0]] * 2}, headers=header).status_code == 422
    of_itself = [parts[0], {"version": both.id, "weight": 1}]
    assert (
        client.post("/v1/models", json={"parts": of_itself}, headers=header).json()["type"].endswith("combined-version")
    )
    shown = client.get(f"/v1/models/{both.id}").json()
    assert (shown["product"], shown["members"], shown["member_count"]) == (f"{FIRST}+{SECOND}", [], 3)
    assert [(part["product"], part["weight"], part["member_count"]) for part in shown["parts"]] == [
        (FIRST, 0.7, 2),
        (SECOND, 0.3, 1),
    ]


def test_a_forecast_names_its_parts_and_the_rain_of_each_product(client: TestClient) -> None:
    shown = client.get(f"/v1/basins/{BASIN}/forecasts/latest?members=true").json()
    assert [part["product"] for part in shown["version_parts"]] == [FIRST, SECOND]
    assert {label.split("/")[0] for label in shown["members"]} == {"synthetic-0", "synthetic-1", "second-1"}
    balance = shown["water_balance"]
    assert {f"precipitation of {FIRST}", f"precipitation of {SECOND}"} < balance["mean"].keys()
    assert balance["members"].keys() == {"synthetic-0", "synthetic-1", "second-1"}
    assert balance["closes"]
    assert sum(balance["mean"].values()) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    "address",
    [
        f"/v1/basins/{BASIN}/{of}"
        for of in (
            *("water-balance", "origin", "storage?past_days=30", "drain-down", "rain-margin", "exceedance"),
            *("forecasts/latest/changes", "normals?start=2005-04-01&end=2005-04-10", "long-term-balance"),
        )
    ],
)
def test_every_answer_about_it_is_there_or_has_a_reason(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code in (200, 404), answer.text
    content = answer.json()
    assert answer.status_code == 404 or content["missing"] is not None


def test_a_recession_accounts_for_the_water_of_all_parts(client: TestClient) -> None:
    shown = client.get(f"/v1/basins/{BASIN}/drain-down?units=mm/day").json()
    drained = np.sum([shown[name] for name in ("runs_off", "lost", "left")], axis=0)
    np.testing.assert_allclose(drained, shown["ceiling"], rtol=1e-5)
    run = client.get(f"/v1/runs/{shown['run']}/basins/{BASIN}?members=true&units=mm/day").json()
    of_members = [np.sum(run["cells_at_t0"][member]) for member in MEMBERS]
    assert shown["ceiling"] == pytest.approx(np.dot(WEIGHTS, of_members), rel=1e-6)
    assert run["storage"]["at_t0"] == pytest.approx(shown["ceiling"], rel=1e-6)
    flow = np.cumsum([run["members"][member] for member in MEMBERS], axis=1)
    np.testing.assert_allclose(shown["runs_off"], np.dot(WEIGHTS, flow), rtol=1e-5)
    assert shown["totals"][-1]["left"]["mean"] == pytest.approx(run["storage"]["total"][-1], rel=1e-6)
    assert shown["low_flows"] is not None


def test_the_margin_of_rain_is_of_the_weighted_members(client: TestClient, store: tuple[str, Version]) -> None:
    answer = client.get(f"/v1/basins/{BASIN}/rain-margin?units=mm/day&discharge=3").json()
    database = Database(store[0])
    with database.reading() as session:
        peaks = runs.series_of(session, answer["run"], BASIN, (run_types.PEAKS_BY_RAIN,))[run_types.PEAKS_BY_RAIN]
    database.close()
    assert peaks.axes["member"] == MEMBERS
    of_members = crossings(peaks.values[0, 0], RAIN_MM, 3.0)
    (level,) = answer["levels"]
    expected = reached_by_shares(of_members, (0.05, 0.5), WEIGHTS)
    reached = [level["windows"][0][name] for name in ("p05", "median")]
    assert [math.inf if one is None else one for one in reached] == pytest.approx(expected, rel=1e-3)


def test_states_are_those_of_its_parts(client: TestClient, both: Version) -> None:
    refused = client.get(f"/v1/basins/{BASIN}/states")
    assert (refused.status_code, refused.json()["type"].rsplit("/", 1)[-1]) == (422, "combined-version")
    assert both.parts[0].version in refused.json()["detail"]
    of_part = client.get(f"/v1/basins/{BASIN}/states?version={both.parts[1].version}").json()
    assert of_part["states"]


@pytest.mark.parametrize("page", [f"/basins/{BASIN}", f"/basins/{BASIN}/what-if", "/", "/models", "/status"])
def test_pages_show_it(client: TestClient, page: str) -> None:
    assert client.get(page).status_code == 200


def test_its_page_names_its_parts(client: TestClient, both: Version) -> None:
    page = client.get(f"/models/{both.id}")
    assert page.status_code == 200
    assert all(part.version in page.text for part in both.parts)
    assert "weight 0.7" in page.text
