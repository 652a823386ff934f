"""Simulations of rivals and published scores stand beside versions in comparisons, on the same days."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import HydroErr
import numpy as np
import pandas as pd
import pytest

from extensions.rivals.reading import RivalFlows
from extensions.rivals.storing import add, add_scores
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.base.units import converted
from ingestion.base import SourceError
from operations.verification.compare import compare
from records.database.engine import Database
from records.series import series
from records.verification.scores import published_scores
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.work import work_of

DAYS = Period.parse("2004-10-01..2005-09-30")
MODEL = "mhm"


@pytest.fixture
def store(trained_file: Path, tmp_path: Path) -> Iterator[Database]:
    with closing(Database(f"sqlite:///{shutil.copy(trained_file, tmp_path / 'country.sqlite')}")) as database:
        yield database


def observed(store: Database, basin: str) -> np.ndarray:
    with store.reading() as session:
        flow = series.read(session, basin, gauge_product(basin), "discharge", DAYS)
    assert flow is not None
    return np.asarray(converted(flow.over(DAYS).values, unit=flow.unit, into="m3/s", area=None))


@pytest.mark.extended
def test_a_simulation_is_scored_on_the_days_of_the_version_and_compared(store: Database) -> None:
    random = np.random.default_rng(8)
    flows = {basin: observed(store, basin) * random.lognormal(0, 0.3, len(DAYS)) for basin in BASINS}
    seen = np.flatnonzero(np.isfinite(observed(store, BASINS[2])))
    flows[BASINS[2]][seen[7]] = np.nan
    read = RivalFlows(
        "simulation", 1, {(basin, DAYS.first): flow[None].astype(np.float32) for basin, flow in flows.items()}
    )
    done = add(work_of(store, CLOCK), MODEL, "A simulation of this test.", read, DAYS)
    assert (done.scored, done.left_out) == (2, {BASINS[2]: f"The simulation lacks 1 of the observed days of {DAYS}."})
    with store.reading() as session:
        version = versions.newest(session).id
        rows = published_scores(session, f"rival {MODEL}")
    found = {(row.basin_id, row.metric): row.value for row in rows}
    for basin in BASINS[:2]:
        known = np.isfinite(observed(store, basin))
        theirs, seen_there = flows[basin][known].astype(np.float32), observed(store, basin)[known]
        assert found[basin, "nse"] == pytest.approx(HydroErr.nse(theirs, seen_there), rel=1e-4)
        assert found[basin, "kge"] == pytest.approx(HydroErr.kge_2009(theirs, seen_there), rel=1e-4)
        assert found[basin, "kge_2012"] == pytest.approx(HydroErr.kge_2012(theirs, seen_there), rel=1e-4)
    (model,) = compare(work_of(store, CLOCK), [version], DAYS, BASINS).result.published_models
    of_nse = next(score for score in model.scores if score.metric == "nse")
    assert (model.model, model.citation, of_nse.n) == (MODEL, "A simulation of this test.", 2)
    assert of_nse.median == pytest.approx(np.median([found[basin, "nse"] for basin in BASINS[:2]]))


def test_forecasts_are_scored_with_the_issued_ones_alone(store: Database) -> None:
    read = RivalFlows("forecasts", 1, {(BASINS[0], DAYS.first): np.ones((1, 3), np.float32)})
    with pytest.raises(InvalidInput, match="freshet verify"):
        add(work_of(store, CLOCK), "other", "Another.", read, DAYS)


def test_scores_of_the_national_water_model_are_stored_as_published(store: Database, camels: Path) -> None:
    file = camels / "benchmarks" / "lstm_for_pub" / "benchmark_nwm_retrospective.csv"
    expected = pd.read_csv(file, dtype={"basin": str}).set_index("basin")["nse"]
    period = Period.parse("1993-10-01..2003-09-30")
    assert add_scores(work_of(store, CLOCK), file, "NWM", "Kratzert et al. 2019", period, ()) == len(expected)
    with store.reading() as session:
        rows = published_scores(session, "NWM, Kratzert et al. 2019", period=period, metrics=["nse"])
    found = {row.basin_id.removeprefix("USGS-"): row.value for row in rows}
    assert {basin: pytest.approx(value) for basin, value in expected.items()} == found


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("gauge,nse\n01013500,0.5\n", "no column is the basin"),
        ("basin,quality\n01013500,0.5\n", "no column is a score"),
        ("basin,nse\n01013500,0.5\n01013500,0.6\n", "line 3: the basin comes twice"),
        ("basin,nse\n1013500,0.5\n", "line 2: basin is not a gauge's number"),
        ("basin,nse\n", "no score in it"),
    ],
)
def test_a_table_of_scores_that_is_wrong_is_refused_whole(
    store: Database, tmp_path: Path, table: str, expected: str
) -> None:
    (tmp_path / "scores.csv").write_text(table)
    with pytest.raises(SourceError, match=expected):
        add_scores(work_of(store, CLOCK), tmp_path / "scores.csv", "m", "Somebody.", DAYS, ())
    with store.reading() as session:
        assert published_scores(session, "m, Somebody.") == []
