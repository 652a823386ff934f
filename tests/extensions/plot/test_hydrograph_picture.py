"""/v1/basins/{basin}/hydrograph draws the figure of the page for a briefing."""

from xml.etree import ElementTree

from records.database.engine import Database
from testing.records import BASIN, NOW, a_run
from tests.app import factories
from tests.app.alerts.test_alerts import fill_records
from tests.app.conftest import serving

ADDRESS = f"/v1/basins/{BASIN}/hydrograph"


def test_the_picture_states_by_itself_what_it_shows(sqlite: str, sqlite_database: Database) -> None:
    version = fill_records(sqlite_database)
    with serving(sqlite) as client:
        assert client.get(ADDRESS).status_code == 404  # no forecast yet
        assert ADDRESS not in client.get(f"/basins/{BASIN}").text
    with sqlite_database.transaction() as session:
        run = a_run(session, version, factories.forecast(), horizon_days=3).id
    with serving(sqlite) as client:
        answer = client.get(ADDRESS, params={"units": "cfs"})
        assert ElementTree.fromstring(answer.content).tag.endswith("svg")
        stated = (BASIN, "ft³/s", "T0 30 September 2008", "issued", "Source: Freshet", run, "90 % range", "now", "T0")
        assert [words for words in (*stated, "Not an official warning.") if words not in answer.text] == []
        assert client.get(ADDRESS, params={"image": "png", "run": run}).content.startswith(b"\x89PNG")
        assert client.get(ADDRESS, params={"image": "gif"}).status_code == 422
        page = client.get(f"/basins/{BASIN}").text
        assert f'{ADDRESS}?units=m3/s&amp;days=14&amp;image=png"' in page
    with serving(sqlite, NOW, cap_sender="alerts@rivers.example") as client:
        replayed = client.get(ADDRESS).text
    assert "Not an official warning." in replayed
