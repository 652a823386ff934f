"""A service with data at every address that answers in several formats."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from hydrology.base.series import Flag
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import series_writer
from records.verification import scores
from records.versions import promotions
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_source, daily
from tests.app import factories
from tests.app.conftest import serving
from tests.app.forecasts.test_volumes import paths
from tests.app.versions.test_scores import SCORE

FORMULA = '=HYPERLINK("http://evil.example")'
SECOND, BARE = "SYNTH-02", "SYNTH-03"
FORECAST = f"/v1/basins/{BASIN}/forecasts/latest"
FORECASTS = f"/v1/forecasts?basins={BASIN},{SECOND},{BARE}"
STORAGE = f"/v1/basins/{BASIN}/storage"
OBSERVATIONS = f"/v1/basins/{BASIN}/observations?product=usgs"
SKILL = f"/v1/basins/{BASIN}/skill"
VOLUMES = f"/v1/basins/{BASIN}/volumes?season=09-21..10-03"
BASINS = "/v1/basins"


@pytest.fixture(scope="session")
def exporting(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The service on the data of `fill_records`, for tests that only read."""
    file = shutil.copy(migrated_sqlite, tmp_path_factory.mktemp("exports") / "service.sqlite")
    database = Database(f"sqlite:///{file}")
    fill_records(database)
    database.close()
    with serving(f"sqlite:///{file}") as client:
        yield client


def fill_records(database: Database) -> None:
    """Store three basins, one of them without a forecast, with observations, scores and a run with traces."""
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN, FORMULA, 47.25, -68.5, "01", areas={"maurer_extended": 2.3e9}))
        basins.upsert(session, Basin(SECOND, 'Älv, "Övre"\nbron', 60.0, 15.0))
        version = a_promoted_version(session, a_basin(session, BARE))
        promotions.promote(session, version, [BASIN, SECOND], reason="better", by="someone", at=NOW)
        uncalibrated = factories.forecast(SECOND)
        plain = [one for one in uncalibrated.series if "calibrated" not in one.variable]
        results = factories.forecast(), replace(uncalibrated, series=plain)
        a_run(session, version, *results, horizon_days=3, forcing_kind="observed")
        traces = factories.forecast_with_traces()
        traces = replace(traces, series=[*traces.series, paths()])
        a_run(session, version, traces, horizon_days=3, forcing_kind="climatology", purpose="on-request")
        flow = np.where(np.arange(30) == 4, np.nan, np.linspace(1.0, 9.0, 30))
        record = daily("2008-09-01", *flow.tolist(), flag=Flag.APPROVED, unit="cfs")
        series_writer.write(session, BASIN, "usgs", "discharge", record, a_source(session), NOW)
        scores.replace(session, [replace(SCORE, version_id=version)])
