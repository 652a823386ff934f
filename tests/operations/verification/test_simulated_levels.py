"""The levels of a version's own climatology are those of its simulation, whatever was observed."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import delete

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from hydrology.extremes.levels import of_record
from hydrology.water.storage import SPIN_UP_DAYS
from hydrology.weather.climate import extraterrestrial_radiation, potential_evapotranspiration
from models.pretrained.signature_errors import shipped_signature_errors
from operations.basin_data.dataset import load_forcing
from operations.verification import simulated_levels as computing
from operations.verification.simulated_levels import compute
from operations.versions.load_networks import load_version
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.database.stored import table_of
from records.series.year_rows import SERIES
from records.simulations import simulated_series, snow_cells
from records.simulations.simulated_series import ModelLevels
from records.simulations.snow_cells import mapping
from records.versions import versions
from records.versions.version_properties import Pretrained
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.records.simulations.test_simulated_levels import CELLS

BASIN = BASINS[1]


def stored_of(database: Database, basin: str = BASIN) -> ModelLevels | None:
    with database.reading() as session:
        return simulated_series.get(session, versions.newest(session).id, basin)


def test_they_are_those_of_the_members_mean_without_the_days_on_which_the_store_fills(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        version = versions.newest(session)
        session.execute(delete(SERIES).filter_by(variable="discharge"))  # none of what was observed
    (done,) = compute(work_of(trained_store, CLOCK))
    assert (done.version_id, done.basins, done.left_out) == (version.id, BASINS, {})
    with trained_store.reading() as session:
        loaded = load_version(session, version.id)
        forcing = load_forcing(session, BASIN, loaded.config)
        area = basins.get(session, BASIN).areas[version.area_products[0]]
    assert not isinstance(forcing, Absent)
    outputs, _ = loaded.ensemble.simulate(forcing.forcing, None, ("discharge",))
    days = Period(forcing.period.first + SPIN_UP_DAYS, forcing.period.last)
    flow = outputs["discharge"].mean(axis=0, dtype=float)[0, SPIN_UP_DAYS:] * area / 86_400_000
    levels = stored_of(trained_store)
    assert levels is not None
    assert (levels.first_day, levels.last_day) == (days.first, days.last)
    assert (levels.area_m2, levels.attributes_assumed) == (area, [])
    assert levels.signatures is not None
    assert levels.signatures.simulated["mean"] == pytest.approx(flow.mean() / area * 86_400_000)
    assert (levels.signatures.estimates, levels.signatures.tested_in) == ({}, None)
    expected = of_record(flow, days.days)
    assert [statistic.years for statistic in levels.statistics] == [statistic.years for statistic in expected]
    reasons = {str(named.level.reason) for statistic in levels.statistics for named in statistic.levels}
    assert reasons == {f"Years with enough days: {years}. A level needs 10." for years in (3, 4)}


def test_signatures_of_a_shipped_ensemble_are_estimated_by_its_errors(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        version = versions.newest(session)
        shipped = Pretrained(name="freshet-us", content="a", trained_on="synthetic", twin=None)
        properties = replace(version.properties, pretrained=shipped)
        session.execute(versions.VERSIONS.update().filter_by(id=version.id).values(properties=properties))
    compute(work_of(trained_store, CLOCK))
    levels, errors = stored_of(trained_store), shipped_signature_errors()["freshet-us"]
    assert levels is not None
    assert levels.signatures is not None
    assert levels.signatures.tested_in == errors.basins == 400
    assert levels.signatures.estimates == errors.estimates(levels.signatures.simulated)
    assert levels.signatures.estimates["mean"].low < levels.signatures.simulated["mean"]


def test_the_members_mean_water_of_the_same_days_is_stored(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        version = versions.newest(session)
        loaded = load_version(session, version.id)
        snow = replace(CELLS, version_id=version.id, basin_id=BASIN, cells={"0": [1, 3], "1": [0]})
        snow_cells.replace(session, [snow])
    compute(work_of(trained_store, CLOCK))
    with trained_store.reading() as session:
        forcing = load_forcing(session, BASIN, loaded.config)
        storage = simulated_series.storage_of(session, version.id, BASIN)
        of_snow = simulated_series.snow_of(session, version.id, BASIN, mapping(session, version.id, BASIN))
        assert list(simulated_series.of_basins(session, version.id, BASINS, "snow")) == [BASIN]
    assert not isinstance(forcing, Absent)
    assert not isinstance(storage, Absent)
    assert not isinstance(of_snow, Absent)
    outputs, _ = loaded.ensemble.simulate(forcing.forcing, None, ("storage",))
    cells = outputs["storage"][:, 0, SPIN_UP_DAYS:]
    assert storage.period == of_snow.period == Period(forcing.period.first + SPIN_UP_DAYS, forcing.period.last)
    np.testing.assert_allclose(storage.values, cells.sum(axis=-1).mean(axis=0), rtol=1e-5)
    expected = (cells[0][:, [1, 3]].sum(axis=-1) + cells[1][:, 0]) / 2
    np.testing.assert_allclose(of_snow.values, expected, rtol=1e-5)


def test_the_yearly_loss_of_each_member_is_stored_beside_potential_evapotranspiration(trained_store: Database) -> None:
    compute(work_of(trained_store, CLOCK))
    with trained_store.reading() as session:
        version = versions.newest(session)
        loaded = load_version(session, version.id)
        forcing = load_forcing(session, BASIN, loaded.config)
        latitude = basins.get(session, BASIN).latitude
        known = simulated_series.loss_of(session, version.id, BASIN)
    assert not isinstance(forcing, Absent)
    assert not isinstance(known, Absent)
    assert latitude is not None
    days, loss = known
    assert days == Period(forcing.period.first + SPIN_UP_DAYS, forcing.period.last)
    outputs, _ = loaded.ensemble.simulate(forcing.forcing, None, ("loss",))
    expected = 365.25 * outputs["loss"][:, 0, SPIN_UP_DAYS:].mean(axis=-1, dtype=float)
    assert list(loss.members.values()) == pytest.approx(expected.tolist())
    assert loss.mean == pytest.approx(expected.mean())
    names = loaded.config.inputs.auxiliary
    tmax, tmin = (forcing.forcing.over(days).auxiliary[0, :, names.index(name)] for name in ("tmax", "tmin"))
    radiation = extraterrestrial_radiation(days.days, latitude)[:, 0]
    pet = 365.25 * potential_evapotranspiration((tmax.astype(float) + tmin) / 2, radiation).mean()
    assert loss.pet == pytest.approx(pet)
    assert loss.exceeding == [label for label, lost in loss.members.items() if lost > pet]


def test_without_a_latitude_what_could_evaporate_is_not_known(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        session.execute(table_of(Basin).update().values(latitude=None))
    compute(work_of(trained_store, CLOCK))
    with trained_store.reading() as session:
        known = simulated_series.loss_of(session, versions.newest(session).id, BASIN)
    assert not isinstance(known, Absent)
    assert isinstance(known[1].pet, Absent)
    assert "latitude" in str(known[1].pet)
    assert known[1].exceeding == []


def test_with_enough_years_they_are_flows(trained_store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    # The country has five years: a day of them stands for one, so that there are extremes enough.
    def of_many(flow: np.ndarray, days: np.ndarray) -> object:
        return of_record(np.repeat(flow, 20), days[0] + np.arange(20 * len(flow)))

    monkeypatch.setattr(computing, "of_record", of_many)
    compute(work_of(trained_store, CLOCK), basins=[BASIN])
    levels = stored_of(trained_store)
    assert levels is not None
    floods = [named.level for named in levels.statistics[1].levels]
    values = [level.value for level in floods]
    assert all(value is not None for value in values)
    assert values == sorted(values)  # type: ignore[type-var]
    assert stored_of(trained_store, BASINS[0]) is None


def test_a_basin_without_weather_is_left_out_and_none_at_all_is_a_problem(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        session.execute(delete(SERIES).filter_by(basin_id=BASIN, variable="precipitation"))
    (done,) = compute(work_of(trained_store, CLOCK))
    assert done.basins == (BASINS[0], BASINS[2])
    assert "has no precipitation" in str(done.left_out[BASIN])
    with pytest.raises(DataProblem, match="No basin can be simulated"):
        compute(work_of(trained_store, CLOCK), basins=[BASIN])


def test_computed_again_they_are_the_same(trained_store: Database) -> None:
    compute(work_of(trained_store, CLOCK))
    before = stored_of(trained_store)
    compute(work_of(trained_store, CLOCK))
    after = stored_of(trained_store)
    assert before is not None
    assert after is not None
    assert after.statistics == before.statistics
