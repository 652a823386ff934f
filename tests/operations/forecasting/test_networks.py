"""The comparison networks do in the service what MC-LSTM does, but report no stored water."""

from collections.abc import Sequence

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from operations.forecasting.plans import NothingToForecast
from operations.verification.evaluate import evaluate
from records.database.engine import Database
from records.runs import run_types, runs, states
from records.runs.runs import RunRequest
from records.versions import versions
from testing.country import BASINS, CLOCK, configuration
from testing.training import train
from testing.work import work_of
from tests.operations.conftest import Copies
from tests.operations.forecasting.test_forecast import blank

pytestmark = pytest.mark.extended

T0 = day("2004-03-10")
HELD_OUT = Period.parse("2004-10-01..2005-09-30")
COMPARISONS = ("lstm", "ealstm", "gru", "eins", "mmrnn")


def one_run(database: Database, version: str, basins: Sequence[str] = BASINS, **request: object) -> run_types.Run:
    params = ForecastParams.model_validate({"basins": list(basins), "t0": T0, "version": version, **request})
    (run,) = forecast(work_of(database, CLOCK), RunRequest(params))
    return run


def discharge(database: Database, run: run_types.Run, basin: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    with database.reading() as session:
        return runs.series_of(session, run.id, basin)["discharge"].values


@pytest.mark.parametrize("architecture", COMPARISONS)
def test_it_is_trained_evaluated_and_forecast_without_a_water_balance(copies: Copies, architecture: str) -> None:
    database, version = copies(architecture)
    with database.reading() as session:
        created = versions.get(session, version)
        effort = versions.members_of(session, version)[0].log
    assert (created.architecture, created.conserving) == (architecture, False)
    assert effort["seconds"] > 0
    assert effort["device"] == "cpu"

    run = one_run(database, version)
    assert run.status == "issued"
    with database.reading() as session:
        arrays = runs.series_of(session, run.id, "SYNTH-01")
        assert runs.ledger_of(session, run.id, "SYNTH-01") == []
        summary = runs.basin_of(session, run.id, "SYNTH-01").summary
    assert arrays["discharge"].values.shape == (2, 10)
    assert (arrays["discharge"].values >= 0).all()
    assert not {"storage", "loss", "cells_at_t0", "snow"} & set(arrays)
    assert str(summary.snow) == "The network's cells do not hold water."

    done = evaluate(work_of(database, CLOCK), version, HELD_OUT, BASINS)
    assert len(done.basins) == len(BASINS)
    assert done.worst_residual is None
    assert all(one.snow is None and one.scores["nse"].value is not None for one in done.basins)


@pytest.mark.parametrize("architecture", COMPARISONS)
def test_a_warm_start_gives_the_bits_of_a_cold_one(copies: Copies, architecture: str) -> None:
    database, version = copies(architecture)
    one_run(database, version, t0=day("2004-03-09"))
    warm = one_run(database, version)
    cold_database, _ = copies(architecture)
    cold = one_run(cold_database, version)
    assert np.array_equal(discharge(database, warm, "SYNTH-02"), discharge(cold_database, cold, "SYNTH-02"))


def test_mmrnn_skips_the_days_that_stop_the_others(copies: Copies) -> None:
    database, version = copies("mmrnn")
    blank(database, "SYNTH-02", "precipitation", 2004, 40, float("nan"), 7)
    blank(database, "SYNTH-02", "tmax", 2004, 60, float("nan"), 2)
    run = one_run(database, version)
    assert run.status == "issued"
    with database.reading() as session:
        skipped = {row.basin_id: row.summary.skipped_days for row in runs.basins_of(session, run.id)}
        assert runs.basin_of(session, run.id, "SYNTH-02").summary.filled_forcing == {}
    assert skipped == {"SYNTH-01": 0, "SYNTH-02": 9, "SYNTH-03": 0}
    assert np.isfinite(discharge(database, run, "SYNTH-02")).all()


def test_mmrnn_waits_at_a_t0_without_forcing_and_goes_on_after_it(copies: Copies) -> None:
    """A state in the middle of a gap remembers how long it has waited: what follows is as if it had not been asked."""
    gap = ("SYNTH-02", "vp", 2004, 40, float("nan"), 7)  # 2004-02-10..2004-02-16
    database, version = copies("mmrnn")
    blank(database, *gap)
    with pytest.raises(NothingToForecast, match="forcing of 2004-02-14, one of the 10 days after T0 2004-02-13"):
        one_run(database, version, basins=("SYNTH-02",), t0=day("2004-02-13"))
    one_run(database, version, basins=("SYNTH-02",), t0=day("2004-02-16"))
    with database.reading() as session:
        waiting = states.get(session, version, "SYNTH-02", day("2004-02-16"))
    assert waiting is not None
    assert waiting.arrays["waited"].tolist() == [7.0, 7.0]

    after = one_run(database, version, basins=("SYNTH-02",))
    undisturbed, _ = copies("mmrnn")
    blank(undisturbed, *gap)
    whole = one_run(undisturbed, version, basins=("SYNTH-02",))
    assert np.array_equal(discharge(database, after, "SYNTH-02"), discharge(undisturbed, whole, "SYNTH-02"))


def test_mmrnn_is_trained_and_scored_on_the_days_it_takes(copies: Copies) -> None:
    database, of_all_days = copies("mmrnn")
    whole = evaluate(work_of(database, CLOCK), of_all_days, HELD_OUT, ("SYNTH-01",)).basins[0].scores["nse"]
    blank(database, "SYNTH-01", "srad", 2005, 10, float("nan"), 30)
    blank(database, "SYNTH-01", "srad", 2002, 10, float("nan"), 30)
    config = configuration(network={"architecture": "mmrnn", "cells": 6}, members=2)
    version = train(work_of(database, CLOCK), config, BASINS).version_id
    gapped = evaluate(work_of(database, CLOCK), version, HELD_OUT, ("SYNTH-01",)).basins[0].scores["nse"]
    assert gapped.n == whole.n - 30
    with database.reading() as session:
        assert versions.get(session, version).basins == BASINS
