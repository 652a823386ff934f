"""Buckets go the way of any version: trained, evaluated, forecast, with their ledger, snow, origin and states."""

import numpy as np
import pytest

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day
from jobspec.network import sized
from operations.verification.evaluate import evaluate
from operations.verification.simulated_levels import compute
from records.basins.ownership import Basin
from records.database.engine import Database
from records.database.stored import table_of
from records.runs import run_types, runs
from records.runs.run_summary import KnownSkill
from records.simulations import simulated_series, snow_cells
from records.simulations.snow_cells import mappings
from records.versions import versions
from testing.country import BASINS, CLOCK, configuration
from testing.records import change
from testing.training import train
from testing.work import work_of
from tests.operations.conftest import Copies
from tests.operations.forecasting.test_networks import discharge, one_run

pytestmark = pytest.mark.extended

STORE = list(range(9, 15))  # snow and the liquid water in it, of three components
HELD_OUT = Period.parse("2004-10-01..2005-09-30")


def test_they_are_trained_examined_and_promoted_like_any_other(copies: Copies) -> None:
    database, version = copies("buckets")
    with database.reading() as session:
        created = versions.get(session, version)
    assert (created.architecture, created.conserving) == ("buckets", True)
    assert created.config["inputs"]["static"][-1] == "gauge_lat"
    assert list(created.properties.snow_cells) == STORE
    assert created.properties.physics is not None
    assert not any(probe.forbids for probe in created.properties.physics)
    done = evaluate(work_of(database, CLOCK), version, HELD_OUT, BASINS)
    assert done.worst_residual is not None
    assert done.worst_residual < 1e-6
    assert all(one.scores["nse"].value is not None for one in done.basins)
    with database.reading() as session:
        judged = {row.basin_id: row for row in snow_cells.own_cells(session, version)}
        chosen = mappings(session, version, BASINS)
    assert judged
    for basin, row in judged.items():
        mapping = chosen[basin]
        assert not isinstance(mapping, Absent)
        assert row.cells == {label: list(cells) for label, cells in mapping.cells.items()} == dict.fromkeys("01", STORE)
        assert row.test_r is None or (isinstance(mapping.skill, KnownSkill) and mapping.skill.r == row.test_r)


def test_a_forecast_has_a_closed_ledger_the_snow_of_the_store_and_the_origin_of_its_water(copies: Copies) -> None:
    database, version = copies("buckets")
    run = one_run(database, version, t0=day("2004-03-10"), age=True)
    assert run.status == "issued"
    with database.reading() as session:
        chosen = mappings(session, version, BASINS)
        for basin in BASINS:
            arrays = runs.series_of(session, run.id, basin)
            ledgers = runs.ledger_of(session, run.id, basin)
            summary = runs.basin_of(session, run.id, basin).summary
            assert len(ledgers) == 2
            by_origin = arrays[run_types.ORIGIN].values
            assert (by_origin >= 0).all()
            assert {"storage", "loss", "snow"} <= set(arrays)
            assert not isinstance(summary.snow, Absent)
            assert summary.snow.mapping == "store"
            assert summary.age_reason is None
    assert all(not isinstance(mapping, Absent) and mapping.kind == "store" for mapping in chosen.values())


def test_its_normal_snow_is_known_once_its_past_is_simulated(copies: Copies) -> None:
    database, version = copies("buckets")
    compute(work_of(database, CLOCK), version, BASINS)
    with database.reading() as session:
        snow = simulated_series.snow_of_basins(session, version, mappings(session, version, BASINS))
    assert sorted(snow) == sorted(BASINS)
    assert not [reason for reason in snow.values() if isinstance(reason, Absent)]


def test_a_warm_start_gives_the_bits_of_a_cold_one(copies: Copies) -> None:
    database, version = copies("buckets")
    one_run(database, version, t0=day("2004-03-09"))
    warm = one_run(database, version)
    cold_database, _ = copies("buckets")
    cold = one_run(cold_database, version)
    assert np.array_equal(discharge(database, warm, "SYNTH-02"), discharge(cold_database, cold, "SYNTH-02"))


def test_a_basin_without_a_latitude_is_left_out_with_the_reason(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        change(session, table_of(Basin), "SYNTH-02", latitude=None)
    config = configuration(network=sized("buckets", 2), members=1)
    outcome = train(work_of(trained_store, CLOCK), config, BASINS)
    assert "gauge_lat" in str(outcome.left_out["SYNTH-02"])


def test_inputs_without_what_they_need_are_refused() -> None:
    with pytest.raises(ValueError, match="buckets needs tmin among its inputs"):
        configuration(network=sized("buckets", 2), inputs={"product": "synthetic", "auxiliary": ("tmax", "srad")})
    with pytest.raises(ValueError, match="buckets needs gauge_lat"):
        configuration(network=sized("buckets", 2), inputs={"product": "synthetic", "static": ("p_mean",)})
