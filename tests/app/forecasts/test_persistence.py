"""The chances of one level by one forecast after the other."""

from starlette.testclient import TestClient

from hydrology.base.calendar import day
from records.database.engine import Database
from records.runs import runs
from testing.records import BASIN, a_run
from tests.app import factories
from tests.app.basins.test_thresholds import fill_records as store_record
from tests.app.forecasts.test_forecasts import fill_records
from tests.app.pages.page_text import text_of

ADDRESS, PAGE = f"/v1/basins/{BASIN}/persistence", f"/basins/{BASIN}/persistence"


def test_a_row_is_what_exceedance_answers_of_its_run_on_days_of_all(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    newest = fill_records(sqlite_database, factories.forecast())
    store_record(sqlite_database)
    with sqlite_database.transaction() as session:
        run = runs.get(session, newest)
        a_run(session, run.version_id, factories.forecast(), horizon_days=3, t0=day("2008-09-28"))
        a_run(session, run.version_id, factories.forecast(), horizon_days=2, t0=day("2008-09-29"))
    answer = sqlite_client.get(ADDRESS, params={"level": "gev-10"}).json()
    assert [one["t0"] for one in answer["forecasts"]] == ["2008-09-30", "2008-09-28"]
    assert answer["time"] == ["2008-10-01", "2008-10-02", "2008-10-03"]
    for forecast in answer["forecasts"]:
        of_run = sqlite_client.get(f"/v1/basins/{BASIN}/exceedance", params={"run": forecast["run"]}).json()
        (level,) = (one for one in of_run["levels"] if one["name"] == "gev-10")
        of_days = dict(zip(of_run["time"], level["chance"], strict=True))
        assert forecast["chance"] == [of_days.get(day) for day in answer["time"]]
        assert forecast["within"] == level["within"]
    assert [chance is None for chance in answer["forecasts"][1]["chance"]] == [False, True, True]

    shown = text_of(sqlite_client.get(PAGE, params={"level": "gev-10"}).text)
    assert "10-year flood" in shown
    assert "28 September" in shown


def test_the_level_is_by_default_one_that_is_likely_or_possible_and_another_is_refused_by_name(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast())
    (forecast,) = sqlite_client.get(ADDRESS).json()["forecasts"]
    assert forecast["reason"]
    assert set(forecast["chance"]) == {None}
    store_record(sqlite_database)
    answer = sqlite_client.get(ADDRESS).json()
    threat = sqlite_client.get(f"/v1/basins/{BASIN}/outlook").json()["threat"]
    level = threat["likely"] or threat["possible"]
    assert answer["level"] == (level["level"] if level else "pot-0.5")
    refused = sqlite_client.get(ADDRESS, params={"level": "low-7"})
    assert refused.status_code == 422
    assert "gev-10" in refused.text
    assert sqlite_client.get(PAGE, params={"level": "x"}).status_code == 422
