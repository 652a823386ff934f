"""What is damaged is neither forecast from nor trained on, and an ingestion mends it."""

import shutil
from pathlib import Path

import numpy as np
from sqlalchemy import select, update

from ingestion.sources.camels import CamelsSource
from operations.basin_data.ingest import ingest
from operations.training.training_data import prepare
from records.database.engine import Database
from records.runs import runs
from records.series.year_rows import SERIES
from testing.country import BASINS, CLOCK, configuration
from testing.work import work_of
from tests.operations.forecasting.test_forecast import discharge, one_run

DAMAGED, *OTHERS = BASINS


def flip(database: Database, variable: str, product: str = "synthetic", year: int = 2004) -> None:
    """Flip a bit of a stored year of the first basin: a number becomes four times itself, or a quarter."""
    with database.transaction() as session:
        key = {"basin_id": DAMAGED, "product": product, "variable": variable, "year": year}
        row = session.execute(select(SERIES).filter_by(**key)).one()
        values = np.frombuffer(row.value_bytes, "<u4").copy()
        values[30] ^= 1 << 24
        session.execute(update(SERIES).filter_by(**key).values(value_bytes=values.tobytes()))


def test_a_basin_with_damaged_weather_is_not_forecast_and_the_others_are(trained_store: Database) -> None:
    before = one_run(trained_store)
    flip(trained_store, "precipitation")
    run = one_run(trained_store)
    with trained_store.reading() as session:
        result = {of.basin_id: (of.status, of.reason) for of in runs.basins_of(session, run.id)}
    assert run.status == "partial"
    assert result[DAMAGED][0] == "failed"
    assert f"precipitation of synthetic in {DAMAGED} in 2004 is damaged" in str(result[DAMAGED][1])
    for basin in OTHERS:
        assert result[basin] == ("issued", None)
        assert np.array_equal(discharge(trained_store, before, basin), discharge(trained_store, run, basin))


def test_ingesting_the_files_again_repairs_it_and_restores_the_forecast(trained_store: Database, country: Path) -> None:
    before = one_run(trained_store)
    flip(trained_store, "precipitation")
    (outcome,) = ingest(work_of(trained_store, CLOCK), CamelsSource([country]), [DAMAGED])
    assert (outcome.status, outcome.new_days, outcome.changed_days) == ("changed", 0, 366)
    assert outcome.invalidated_states > 0  # they may have consumed what was damaged
    assert np.array_equal(
        discharge(trained_store, before, DAMAGED), discharge(trained_store, one_run(trained_store), DAMAGED)
    )


def test_damaged_flow_takes_no_forecast_away_and_is_reported(
    trained_store: Database, country: Path, tmp_path: Path
) -> None:
    flip(trained_store, "discharge", "synth")
    run = one_run(trained_store)
    assert run.status == "issued"
    with trained_store.reading() as session:
        assert "is damaged" in str(runs.basin_of(session, run.id, DAMAGED).summary.normal_mm)
    weather_alone = Path(shutil.copytree(country, tmp_path / "files", ignore=shutil.ignore_patterns("usgs_streamflow")))
    (outcome,) = ingest(work_of(trained_store, CLOCK), CamelsSource([weather_alone]), [DAMAGED])
    assert outcome.status == "unchanged"
    assert "is damaged" in " ".join(outcome.warnings)


def test_a_damaged_basin_is_left_out_of_a_training_with_the_reason(trained_store: Database) -> None:
    flip(trained_store, "precipitation", year=2002)
    with trained_store.reading() as session:
        prepared = prepare(session, configuration(), BASINS)
    assert prepared.basins == tuple(OTHERS)
    assert "in 2002 is damaged" in str(prepared.left_out[DAMAGED])
