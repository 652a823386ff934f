"""Grids as feeds, and by `freshet weather add --grid`: from files to stored weather."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hydrology.base.calendar import Period
from jobspec.feed_kinds import NewFeed, read_settings
from operations.basin_data.sources import Intake
from operations.feeds.fetch import FetchCallbacks, fetch
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.feeds import feeds
from records.feeds.feeds import FetchedBasin
from records.series import series
from records.weather import weather_issues
from runtime.clock import Clock
from runtime.settings import Settings
from testing.files.grids import outline
from testing.work import work_of
from tests.extensions.grid.test_reading import SITES, observed, run
from tests.freshet.conftest import Freshet

pytestmark = pytest.mark.extended

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


class Office:
    """A service of three basins with outlines, one without and one beyond the grid."""

    def __init__(self, database: Database, folder: Path, now: datetime = NOW) -> None:
        self.database, self.folder, self.now = database, folder, now
        with database.transaction() as session:
            for site in SITES:
                zone = {"time_zone": str(site.time_zone)}
                rings = [list(ring) for ring in site.outline]
                basins.upsert(
                    session,
                    Basin(site.basin, None, site.latitude, site.longitude, texts=zone, outline=rings),  # type: ignore[arg-type]
                )
            basins.upsert(session, Basin("OWN-bare", None, 44.0, -74.0))
            basins.upsert(session, Basin("OWN-far", None, 10.0, 10.0, outline=outline(10, 10, 0.5)))

    def add(self, **settings: Any) -> None:
        with self.database.transaction() as session:
            new = NewFeed(name="grid", settings=read_settings(settings))
            feeds.create(session, new, None, self.now)

    def fetch(self, notes: list[str] | None = None, period: str | None = None) -> dict[str, FetchedBasin]:
        intake = Intake(self.folder / "downloads", (), (self.folder / "incoming",), lambda *_: None, lambda _: None)
        listener = FetchCallbacks(notify=([] if notes is None else notes).append)
        work = work_of(self.database, Clock(self.now), Settings(data=self.folder))
        days = None if period is None else Period.parse(period)
        return {one.basin_id: one for one in fetch(work, intake, "grid", (), days, listener)}


@pytest.fixture
def office(database: Database, tmp_path: Path) -> Office:
    (tmp_path / "incoming").mkdir()
    return Office(database, tmp_path)


def test_a_run_in_a_folder_is_fetched_once_with_its_members(office: Office) -> None:
    incoming = office.folder / "incoming"
    run(members=3, missing=[(1, 4)]).grib(incoming / "run.grib2")
    office.add(adapter="grid-forecast", model="guess", **{"from": [str(incoming)]})
    notes: list[str] = []

    done = office.fetch(notes)

    assert {basin: one.status for basin, one in done.items()} == {
        "OWN-bare": "failed", "OWN-far": "failed", "OWN-ford": "new", "OWN-mill": "new", "OWN-peak": "new",
    }  # fmt: skip
    assert "has no outline" in str(done["OWN-bare"].reason)
    assert "goes beyond the edge of the grid" in str(done["OWN-far"].reason)
    assert any("member 1 lacks step 12 h" in note for note in notes)
    assert {one.status for one in office.fetch().values()} == {"failed", "unchanged"}
    with office.database.reading() as session:
        (issue,) = weather_issues.list_issues(session, office.now)
        found = weather_issues.read(session, issue.id, "OWN-ford", office.now)
    assert (issue.source, issue.model, issue.operational) == ("kwbc", "guess", True)
    assert (found.traces, str(found.first), len(found.period)) == (("0", "2"), "2026-11-20", 3)
    assert (office.folder / "grid-weights").is_dir()


def test_observed_weather_is_stored_and_its_revisions_are_recorded(office: Office) -> None:
    path = observed(office.folder / "incoming" / "observed.nc")
    office.add(adapter="grid", product="own_grid", **{"from": [str(path)]})

    done = office.fetch()

    assert (done["OWN-ford"].status, done["OWN-ford"].new_days) == ("new", 4 * 4)
    with office.database.reading() as session:
        stored = series.read(session, "OWN-ford", "own_grid", "precipitation")
    assert stored is not None
    assert str(stored.period) == "2026-11-18..2026-11-21"
    assert {one.status for one in office.fetch().values()} == {"failed", "unchanged"}

    import xarray as xr

    with xr.load_dataset(path, decode_times=False) as dataset:
        dataset["pr"][30] += 1.0
        dataset.to_netcdf(path)
    assert office.fetch()["OWN-ford"].revised_days == 1


def test_a_file_outside_of_the_folders_that_jobs_read_is_refused(office: Office) -> None:
    path = observed(office.folder / "elsewhere.nc")
    office.add(adapter="grid", product="own_grid", **{"from": [str(path)]})
    assert all("is not in a folder that jobs read from" in str(one.reason) for one in office.fetch().values())
    (office.folder / "incoming" / "link.nc").symlink_to(path)


def test_a_damaged_run_costs_this_fetch_alone(office: Office) -> None:
    path = run().netcdf(office.folder / "incoming" / "run.nc")
    office.add(adapter="grid-forecast", model="guess", **{"from": [str(path)]})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert all(
        "cannot be read as nc" in str(one.reason) for one in office.fetch().values() if one.basin_id in "OWN-mill"
    )
    path.write_bytes(whole)
    assert office.fetch()["OWN-mill"].status == "new"


def test_weather_on_a_grid_is_added_by_the_command(freshet: Freshet, tmp_path: Path) -> None:
    rings = outline(44, -74, 0.9, 1)
    geojson = {"type": "Polygon", "coordinates": [[[longitude, latitude] for latitude, longitude in rings[0]]]}
    (tmp_path / "mill.json").write_text(json.dumps(geojson))
    path = run().netcdf(tmp_path / "run.nc")
    place = ("OWN-mill", "--latitude", "44", "--longitude", "-74", "--area", "9000")
    assert freshet("basins", "add", *place).code == 0
    assert "No basin has an outline" in freshet("weather", "add", "--grid", str(path)).err
    with_outline = ("--outline", str(tmp_path / "mill.json"), "--accept-outline-area")
    assert freshet("basins", "add", *place, *with_outline).code == 0

    added = freshet("weather", "add", "--grid", str(path), "--json")

    assert (added.code, added.json["new"], added.json["refused"]) == (0, 1, {})
    assert freshet("weather", "add", "--grid", str(path), "--json").json["known"] == 1
    (listed,) = freshet("weather", "list", "--json").json["weather"]
    assert (listed["source"], listed["model"]) == ("River-Office", "guess-1")

    fallen = run(began=np.datetime64("2026-11-20T06:00:00", "s"))
    fallen.values["tp"][1, 8:] = 0
    refused = freshet("weather", "add", "--grid", str(fallen.netcdf(tmp_path / "fallen.nc")))
    assert refused.code == 4
    assert "precipitation of member 1 falls at step 24 h" in refused.err
