"""The daily cycle: what is in the shadow is forecast, in runs of its own, and reaches neither readers nor archive."""

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from extensions.archive import forecast_archive
from extensions.archive.archive_runs import RunSelection, archive_runs
from extensions.shadow.daily import after_daily
from extensions.shadow.shadowing import start_basin, start_version
from records.database.engine import Database
from records.forecasts import issues, latest
from records.runs import runs
from records.versions import versions
from records.versions.versions import NewVersion, Version
from testing.country import BASINS
from testing.work import work_of
from tests.operations.live import FORECAST, HORIZON, Station, station

pytestmark = pytest.mark.extended
HIDDEN = BASINS[1]


@pytest.fixture
def here(live_file: Path, tmp_path: Path) -> Iterator[Station]:
    database = Database(f"sqlite:///{shutil.copy(live_file, tmp_path / 'live.sqlite')}")
    with station(database, tmp_path) as at:
        at.add("ahead", FORECAST)
        yield at
    database.close()


def as_new(version: Version) -> NewVersion:
    return NewVersion(**{part.name: getattr(version, part.name) for part in dataclasses.fields(NewVersion)})


def test_it_is_forecast_every_day_and_nobody_reads_that(here: Station, tmp_path: Path) -> None:
    public = here.database.for_public()
    with here.database.transaction() as session:
        serving = latest.asked_version(session, HIDDEN, None)
        beside = versions.create(session, as_new(serving), versions.members_of(session, serving.id)).id
        start_basin(session, HIDDEN, here.clock)
        start_version(session, beside)
    cycle = here.cycle()
    work = work_of(here.database, here.clock, here.settings)
    assert [one.status for one in cycle.basins] == ["issued"] * len(BASINS)
    assert [after_daily(work) for _ in range(2)] == [None, None]

    rest, alone = sorted({*BASINS} - {HIDDEN}), [HIDDEN]
    with here.database.reading() as session:
        stored = [one for one in runs.list_runs(session, purpose="operational") if one.issued_at == here.clock.now()]
        of_runs = {run.id: [basin for _, basin in runs.issued_pairs(session, [run.id])] for run in stored}
    issued = sorted((run.version_id != serving.id, of_runs[run.id], run.horizon_days) for run in stored)
    assert issued == [(False, rest, HORIZON), (False, alone, HORIZON), (True, rest, HORIZON), (True, alone, HORIZON)]
    (shown,) = [run for run in stored if run.version_id == serving.id and of_runs[run.id] == rest]

    with public.reading() as session:
        assert {one.id for one in runs.list_runs(session)} & of_runs.keys() == {shown.id}
        (issue,) = issues.page(session)
        assert (issue.tally.expected, len(issues.basins_of(session, issue.day))) == (2, 2)
        found = latest.latest_many(session, BASINS, here.clock.now())
        assert [isinstance(found[name], latest.Latest) for name in BASINS] == [True, False, True]
    archive_runs(work, tmp_path / "store", RunSelection())
    held = forecast_archive.contents(tmp_path / "store")
    assert held is not None
    assert {*held.issues} & of_runs.keys() == {shown.id}
