"""`freshet basins`: shown, added from USGS or by hand, described by their climate."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from records.access import keys
from records.basins import basins
from records.database.engine import Database
from testing.feed_services.server import serving
from testing.feed_services.world import World
from tests.freshet.conftest import BASINS, Freshet
from tests.ingestion.feeds.conftest import MAINE, NOW, gauge

OUTLINE = {
    "type": "Polygon",
    "coordinates": [[[-69.6, 45.1], [-69.2, 45.1], [-69.2, 45.32], [-69.6, 45.32], [-69.6, 45.1]]],
}


@pytest.fixture
def usgs() -> Iterator[dict[str, str]]:
    """Settings under which USGS is a server of this machine that knows one gauge."""
    with serving(World({MAINE: gauge(MAINE)}, NOW)) as url:
        yield {"FRESHET_USGS_URL": f"{url}/ogcapi/v0", "FRESHET_INGEST_HOSTS": url.removeprefix("http://")}


def test_a_newcomer_adds_a_gauge_by_its_number(tmp_path: Path, usgs: dict[str, str]) -> None:
    freshet = Freshet(tmp_path / "data")
    added = freshet("basins", "add", MAINE, "--json", **usgs)
    assert (added.code, added.json["basin"], added.json["new"]) == (0, MAINE, True)
    assert freshet("basins", MAINE, "--json").json["latitude"] == 45.17
    assert f"{MAINE} is as it was." in freshet("basins", "add", MAINE[5:], **usgs).err
    outline = tmp_path / "outline.json"
    outline.write_text(json.dumps(OUTLINE))
    attributes = tmp_path / "attributes.json"
    attributes.write_text(json.dumps({"elev_mean": 300.5}))
    files = ("--outline", str(outline), "--attributes", str(attributes), "--assume-attributes")
    changed = freshet("basins", "add", MAINE, *files, **usgs)
    assert "weather averaged over 4 points" in changed.out
    assert "None" not in changed.out
    assert "attributes that are not known may be assumed" in changed.out
    assert freshet("basins", MAINE, "--json").json["attributes"]["elev_mean"] == 300.5
    actions = [entry["action"] for entry in freshet("audit", "--json").json["changes"]]
    assert actions.count("basin added") == 3


def test_an_impossible_gauge_is_refused_by_name(tmp_path: Path, usgs: dict[str, str]) -> None:
    freshet = Freshet(tmp_path / "data")
    outline = tmp_path / "outline.json"
    outline.write_text("{")
    for arguments, sentence in (
        (("OWN-mill",), "The location of OWN-mill is not known"),
        (("OWN-mill", "--latitude", "44"), "latitude and longitude go together"),
        (("OWN-mill", "--outline", str(outline)), "is not JSON"),
        (("SYNTH-01",), "the basins of SYNTH are ingested from their source"),
        (("USGS-06409000",), "USGS knows no monitoring location USGS-06409000"),
    ):
        refused = freshet("basins", "add", *arguments, **usgs)
        assert refused.code != 0
        assert sentence in " ".join(refused.err.split())


def test_climate_is_computed_where_no_source_reports_it(ingested: Freshet) -> None:
    period = ("--product", "synthetic", "--period", "2001-10-01..2004-09-30")
    shown = ingested("basins", "climate", BASINS[0], *period)
    assert (shown.code, "from its source" in shown.err) == (4, True)
    assert ingested("basins", "climate", "OWN-none", *period).code == 3


def test_an_operators_basin_is_adopted_and_given_back(empty: Freshet) -> None:
    file = empty.data / "freshet.sqlite"
    with closing(Database(f"sqlite:///{file}")) as database, database.transaction() as session:
        key, _ = keys.make(session, "mill", "operator", None, datetime.now(UTC))
        basins.register(session, "OWN-mill", key.id)
    assert "unofficial: an operator registered it" in empty("basins", "OWN-mill").out
    assert empty("basins", "OWN-mill", "--json").json["kind"] == "unofficial"
    adopted = empty("basins", "adopt", "OWN-mill", "--json")
    assert (adopted.code, adopted.json["owner"], adopted.json["version"]) == (0, key.id, None)
    assert empty("basins", "OWN-mill", "--json").json["kind"] != "unofficial"
    again = empty("basins", "adopt", "OWN-mill")
    assert (again.code, "official already" in again.err) == (2, True)
    assert "is unofficial again" in empty("basins", "release", "OWN-mill").out
    assert empty("basins", "OWN-mill", "--json").json["kind"] == "unofficial"
    refused = empty("basins", "release", "OWN-mill")
    assert (refused.code, "was not adopted" in refused.err) == (2, True)
    trail = empty("audit", "--json").out
    assert [action in trail for action in ("basin adopted", "basin released")] == [True, True]
