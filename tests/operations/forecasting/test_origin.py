"""The origin of a forecast's water at T0, computed in every run of a network that conserves it."""

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.base.calendar import day
from records.database.engine import Database
from records.runs import run_types, runs
from records.simulations import snow_cells
from records.versions import versions
from testing.country import BASINS, CLOCK
from tests.operations.forecasting.test_forecast import one_run

Parts = dict[str, npt.NDArray[np.float32]]


def origin(database: Database, run: run_types.Run, basin: str) -> tuple[Parts, npt.NDArray[np.float32]]:
    """Return the means by origin, (leads,), and the mean discharge."""
    with database.reading() as session:
        arrays = runs.series_of(session, run.id, basin)
    shown, flow = arrays[run_types.ORIGIN], arrays["discharge"].values
    means = dict(zip(shown.axes["origin"], shown.values[:, 0], strict=True))
    return means, flow.reshape(-1, flow.shape[-1]).mean(axis=0)


def choose_snow(database: Database, basin: str, cells: list[int]) -> None:
    """Let some cells of each member read as snow."""
    with database.transaction() as session:
        version = versions.newest(session).id
        chosen = snow_cells.SnowCells(
            version_id=version,
            basin_id=basin,
            product="synthetic_snow",
            cells={"0": cells, "1": cells},
            training_first=day("1999-10-01"),
            training_last=day("2001-09-30"),
            training_r=0.9,
            test_first=day("2001-10-01"),
            test_last=day("2003-09-30"),
            test_r=0.9,
            bias_pct=0.0,
            evaluated_at=CLOCK.wall(),
        )
        snow_cells.replace(session, [chosen])


@pytest.mark.parametrize("weather", ["observed", "climatology"])
def test_the_parts_add_up_to_the_discharge(trained_store: Database, weather: str) -> None:
    choose_snow(trained_store, BASINS[0], [1, 3])
    run = one_run(trained_store, horizon=20, weather=weather)
    for basin in BASINS:
        parts, discharge = origin(trained_store, run, basin)
        np.testing.assert_allclose(parts["stored"] + parts["yet_to_fall"], discharge, rtol=2e-6)
        assert parts["yet_to_fall"][-1] > 0
        assert set(parts) == {"stored", "yet_to_fall"} | ({"snow", "other"} if basin == BASINS[0] else set())
    parts, _ = origin(trained_store, run, BASINS[0])
    np.testing.assert_allclose(parts["snow"] + parts["other"], parts["stored"], rtol=2e-6)


def test_which_cells_read_as_snow_changes_the_parts_and_not_the_discharge(trained_store: Database) -> None:
    stored, flows = [], []
    for cells in ([1, 3], [0, 1, 2, 3, 4]):
        choose_snow(trained_store, BASINS[0], cells)
        parts, discharge = origin(trained_store, one_run(trained_store, horizon=20), BASINS[0])
        stored.append(parts)
        flows.append(discharge)
    assert np.array_equal(flows[0], flows[1])
    assert (stored[0]["other"] > 0).all()
    assert np.array_equal(stored[1]["snow"], stored[1]["stored"])
    assert not stored[1]["other"].any()
    np.testing.assert_allclose(stored[0]["stored"], stored[1]["stored"], rtol=2e-6)


def test_no_more_of_the_stored_water_flows_out_than_there_was(trained_store: Database) -> None:
    run = one_run(trained_store, horizon=40)
    with trained_store.reading() as session:
        cells = runs.series_of(session, run.id, BASINS[1])["cells_at_t0"].values
    parts, _ = origin(trained_store, run, BASINS[1])
    assert 0 < parts["stored"].sum() < cells.sum(axis=1).mean()


def test_a_day_without_rain_brings_water_that_was_stored_alone(trained_store: Database) -> None:
    run = one_run(trained_store, horizon=40)
    with trained_store.reading() as session:
        rain = runs.series_of(session, run.id, BASINS[0])["precipitation"].values
    parts, discharge = origin(trained_store, run, BASINS[0])
    dry = int(np.flatnonzero(rain)[0])
    assert not parts["yet_to_fall"][:dry].any()
    np.testing.assert_allclose(parts["stored"][:dry], discharge[:dry], rtol=2e-6)
    assert parts["yet_to_fall"][dry] > 0
