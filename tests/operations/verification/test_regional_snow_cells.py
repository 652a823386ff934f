"""Snow without a stored reference: cells chosen over other basins, and Snow-17 beside them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import delete

from extensions.shipping.attachments import write_snow
from extensions.shipping.export import export
from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period, day, days_between
from hydrology.base.reasons import Reason
from hydrology.climatology.normals import normal_means
from hydrology.snow.against_normal import SnowEstimate
from hydrology.snow.snow import RegionalSnow, SnowBand
from hydrology.snow.snow17 import snow17
from jobspec.jobs.forecasting import ForecastParams
from models.forcing import mean_temperature
from models.pretrained import attachments as shipped_snow
from models.pretrained.form import DamagedEnsemble, read
from operations.basin_data.dataset import BasinForcing, load_forcing
from operations.forecasting.forecast import forecast
from operations.forecasting.normals import DAYS, snow17_at
from operations.training.pretrained import install
from operations.verification.evaluate import evaluate
from operations.verification.regional_snow_cells import MIN_BASINS, RegionalChoice, store_regional_snow
from operations.verification.simulated_levels import compute
from operations.verification.snow_cells import Reference
from operations.versions.load_networks import LoadedVersion, load_version
from records.basins import basins
from records.database.engine import Database
from records.forecasts.volumes_and_recessions import SNOW_SHARE
from records.runs import run_types, runs
from records.runs.run_summary import KnownSkill, RunSnow
from records.runs.runs import RunRequest
from records.series import series
from records.simulations import simulated_series, snow_cells
from records.simulations.simulated_series import SimulatedWater
from records.simulations.snow_cells import SNOW_CELLS, SnowMapping, mapping, mappings
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.work import work_of

RECORD = Period.parse("2000-10-01..2005-09-30")
TEST = Period.parse("2004-10-01..2005-09-30")
T0 = day("2004-03-10")
SNOW = {"0": [1, 3], "1": [2]}


@pytest.fixture
def loaded(trained_store: Database) -> LoadedVersion:
    """A version of two members, fitted to 2001-10-01..2003-09-30."""
    with trained_store.reading() as session:
        return load_version(session, versions.newest(session).id)


def take_in(
    choice: RegionalChoice,
    basin: int,
    share: float = 0.6,
    summer: float = 0.0,
    cells: Mapping[str, list[int]] | None = None,
) -> None:
    """Let a basin choose whose snow is in some cells, those of SNOW unless given, beside others that hold anything."""
    rng = np.random.default_rng(basin)
    swe = np.maximum(100 * np.cos(2 * np.pi * np.arange(len(RECORD)) / 365.25) + 10 * rng.normal(), 0)
    storage = rng.gamma(2, 10, (2, len(RECORD), 5))
    for of_member, chosen in zip(storage, (cells or SNOW).values(), strict=True):
        of_member[:, chosen] = (swe[:, np.newaxis] + summer) / len(chosen)
    choice.add(share, Reference(f"B-{basin}", RECORD, "uaz", swe.astype(np.float32)), storage)


def test_the_cells_that_follow_the_snow_of_many_basins_are_the_regional_mapping(loaded: LoadedVersion) -> None:
    choice = RegionalChoice(loaded, TEST)
    for basin in range(MIN_BASINS + 2):
        take_in(choice, basin, share=0.6 if basin % 2 else 0.2, summer=2.0)
    chosen = choice.mapping()
    assert chosen is not None
    assert {label: sorted(cells) for label, cells in chosen.cells.items()} == SNOW
    assert (chosen.products, chosen.basins, chosen.test) == (("uaz",), MIN_BASINS + 2, str(TEST))
    assert chosen.training == "2001-10-01..2003-09-30"
    assert [(band.frac_snow, band.basins) for band in chosen.bands] == [(0.5, 6), (0.1, 6)]
    for band in chosen.bands:
        assert band.r == pytest.approx(1)
        assert band.bare_mm == pytest.approx(2.0, abs=0.01)


def test_a_basin_is_judged_by_the_cells_that_others_have_chosen(loaded: LoadedVersion) -> None:
    choice = RegionalChoice(loaded, TEST)
    for basin in range(MIN_BASINS):
        take_in(choice, basin)
    take_in(choice, MIN_BASINS, share=0.05, cells={"0": [4], "1": [4]})
    chosen = choice.mapping()
    assert chosen is not None
    like_most, unlike = chosen.bands
    assert like_most.r > 0.99
    assert unlike.frac_snow == 0.0
    assert unlike.r < 0.5


def test_too_few_basins_with_snow_choose_nothing(loaded: LoadedVersion) -> None:
    choice = RegionalChoice(loaded, TEST)
    for basin in range(MIN_BASINS - 1):
        take_in(choice, basin)
    flat = Reference("B-flat", RECORD, "uaz", np.zeros(len(RECORD), np.float32))
    choice.add(0.0, flat, np.ones((2, len(RECORD), 5)))
    assert choice.mapping() is None


def test_days_that_were_fitted_judge_nothing(loaded: LoadedVersion) -> None:
    choice = RegionalChoice(loaded, Period.parse("2002-01-01..2002-12-31"))
    for basin in range(MIN_BASINS):
        take_in(choice, basin)
    chosen = choice.mapping()
    assert chosen is not None
    assert (chosen.bands, chosen.test) == ((), None)


REGIONAL = RegionalSnow(
    products=("uaz",),
    cells=SNOW,
    basins=200,
    training="2001-10-01..2003-09-30",
    test=str(TEST),
    bands=(SnowBand(frac_snow=0.5, basins=40, r=0.95, bias_pct=-3.0, bare_mm=7.0),),
)


def test_a_mapping_of_fewer_basins_takes_the_place_of_none(trained_store: Database, loaded: LoadedVersion) -> None:
    choice = RegionalChoice(loaded, TEST)
    for basin in range(MIN_BASINS):
        take_in(choice, basin)
    version = loaded.version.id
    with trained_store.transaction() as session:
        store_regional_snow(session, CLOCK, choice)
        assert snow_cells.regional_cells(session, version) == choice.mapping()
        snow_cells.replace_regional(session, version, REGIONAL, CLOCK.wall())
        store_regional_snow(session, CLOCK, choice)
        assert snow_cells.regional_cells(session, version) == REGIONAL


def give(database: Database, basin: str, share: float) -> str:
    """Store the regional mapping of the version, and the share of snow in the precipitation of a basin."""
    with database.transaction() as session:
        version = versions.newest(session).id
        snow_cells.replace_regional(session, version, REGIONAL, CLOCK.wall())
        trained_store = basins.get(session, basin)
        basins.upsert(session, replace(trained_store, attributes={**trained_store.attributes, SNOW_SHARE: share}))
    return version


def test_a_basin_without_a_reference_reads_snow_by_the_regional_mapping(trained_store: Database) -> None:
    version = give(trained_store, BASINS[0], share=0.7)
    (run,) = forecast(work_of(trained_store, CLOCK), RunRequest(ForecastParams(basins=[BASINS[0]], t0=T0, horizon=3)))
    with trained_store.reading() as session:
        shown = runs.basin_of(session, run.id, BASINS[0]).summary
        arrays = runs.series_of(session, run.id, BASINS[0])
    held = arrays["cells_at_t0"].values
    at_t0 = np.array([held[0][SNOW["0"]].sum(), held[1][SNOW["1"]].sum()])
    assert isinstance(shown.snow, RunSnow)
    assert shown.snow.mapping == "regional"
    assert shown.snow.mean_mm == pytest.approx(at_t0.mean())
    assert [shown.snow.p05_mm, shown.snow.p95_mm] == pytest.approx(np.quantile(at_t0, [0.05, 0.95]).tolist())
    expected = KnownSkill(
        version=version, products=("uaz",), period=str(TEST), basins=40, r=0.95, bias_pct=-3.0, bare_mm=7.0
    )
    assert shown.snow.skill == expected
    assert isinstance(shown.snow.snow17_mm, float)
    spread = np.quantile(arrays["snow"].values, run_types.SPREAD_LEVELS, axis=0)
    np.testing.assert_allclose(arrays[run_types.SNOW_SPREAD].values, spread, rtol=1e-5)


def test_a_snow_share_that_was_not_judged_has_no_skill_and_gives_the_reason(trained_store: Database) -> None:
    version = give(trained_store, BASINS[0], share=0.2)
    with trained_store.reading() as session:
        chosen = mapping(session, version, BASINS[0])
        assert isinstance(chosen, SnowMapping)
        assert chosen.skill == absent(Reason.TOO_LITTLE_SNOW_TO_SCORE)


def test_a_basin_with_a_reference_reads_snow_by_its_own_cells_or_none(trained_store: Database) -> None:
    version = give(trained_store, BASINS[2], share=0.7)
    evaluate(work_of(trained_store, CLOCK), version, TEST, BASINS)
    with trained_store.reading() as session:
        own = {cells.basin_id: cells for cells in snow_cells.own_cells(session, version)}
        for basin, cells in own.items():
            chosen = mapping(session, version, basin)
            if isinstance(chosen, Absent):
                assert chosen == cells.reason
            else:
                assert (chosen.kind, chosen.cells) == ("basin", cells.cells)
    with trained_store.transaction() as session:
        session.execute(delete(SNOW_CELLS))
        chosen = mapping(session, version, BASINS[2])
        assert isinstance(chosen, SnowMapping)
        assert chosen.kind == "regional"


def test_snow_17_gives_its_opinion_of_the_basins_own_weather(trained_store: Database, loaded: LoadedVersion) -> None:
    with trained_store.reading() as session:
        here = {basin: basins.get(session, basin) for basin in BASINS}
        forcings = {basin: load_forcing(session, basin, loaded.config) for basin in BASINS}
        days = Period(T0 - DAYS + 1, T0)
        values = {
            name: series.read(session, BASINS[2], "synthetic", name, days) for name in ("precipitation", "tmax", "tmin")
        }
    usable = {name: forcing for name, forcing in forcings.items() if not isinstance(forcing, Absent)}
    weather = {name: daily.values for name, daily in values.items() if daily is not None}
    alone = snow17(
        weather["precipitation"],
        (weather["tmax"].astype(float) + weather["tmin"]) / 2,
        days.days,
        elevation=here[BASINS[2]].attributes["elev_mean"],
    )
    opinions = snow17_at(T0, here, usable, loaded.config.inputs)
    assert opinions.keys() == set(BASINS)
    estimates = {name: of for name, of in opinions.items() if not isinstance(of, Absent)}
    assert estimates[BASINS[2]].mm == pytest.approx(float(alone.state.swe))
    assert estimates[BASINS[2]].mm != estimates[BASINS[0]].mm
    assert estimates[BASINS[2]].normal_mm is None  # the record has too few years
    flat = {BASINS[0]: replace(here[BASINS[0]], attributes={})}
    assert "mean elevation" in str(snow17_at(T0, flat, usable, loaded.config.inputs)[BASINS[0]])
    early = snow17_at(day("2001-10-01"), here, usable, loaded.config.inputs)
    assert "730 days until T0" in str(early[BASINS[0]])


def test_the_normal_of_snow_17_is_that_of_other_years(trained_store: Database, loaded: LoadedVersion) -> None:
    with trained_store.reading() as session:
        here = {BASINS[2]: basins.get(session, BASINS[2])}
        forcing = load_forcing(session, BASINS[2], loaded.config)
    assert isinstance(forcing, BasinForcing)
    year = forcing.forcing.over(Period.parse("2002-08-01..2003-07-31"))
    times = np.linspace(0.5, 1.5, 14)
    long = replace(
        year,
        first=day("1991-08-01"),
        mass=np.concatenate([share * year.mass for share in times], axis=1),
        auxiliary=np.concatenate([year.auxiliary] * len(times), axis=1),
    )
    t0 = day("2003-02-10")
    opinions = snow17_at(t0, here, {BASINS[2]: replace(forcing, forcing=long)}, loaded.config.inputs)
    weather = mean_temperature(long, loaded.config.inputs)[0]
    swe = snow17(long.mass[0], weather, long.period.days, elevation=here[BASINS[2]].attributes["elev_mean"]).swe
    known = Period(long.first + DAYS, long.period.last)  # the days that have two years of weather before them
    (normal,) = normal_means(swe[DAYS:], known, np.array([t0]))
    estimate = opinions[BASINS[2]]
    assert isinstance(estimate, SnowEstimate)
    assert estimate.mm == pytest.approx(swe[days_between(long.first, t0)])
    assert estimate.normal_mm == pytest.approx(normal, rel=0.05)  # the calendar drifts by a day in four years
    assert estimate.normal_mm != pytest.approx(estimate.mm, rel=0.1)


def test_an_evaluation_simulates_the_past_again_by_the_cells_that_it_chose(trained_store: Database) -> None:
    with trained_store.reading() as session:
        version = versions.newest(session).id
    compute(work_of(trained_store, CLOCK), version, BASINS[:2])
    evaluate(work_of(trained_store, CLOCK), version, TEST, BASINS)
    with trained_store.reading() as session:
        chosen = mappings(session, version, BASINS)
        snow = simulated_series.snow_of_basins(session, version, chosen)
    cells, simulated = chosen[BASINS[1]], snow[BASINS[1]]
    assert isinstance(cells, SnowMapping)
    assert isinstance(simulated, SimulatedWater)
    assert simulated.cells == cells.cells
    assert isinstance(snow[BASINS[2]], Absent)  # its past was not simulated


def test_a_shipped_ensemble_comes_with_its_regional_mapping(trained_store: Database, tmp_path: Path) -> None:
    folder = tmp_path / "ensemble"
    with trained_store.reading() as session:
        version = versions.newest(session).id
    export(trained_store, version, folder)
    (folder / "README.md").write_text("A small one.")
    write_snow(read(folder), REGIONAL)
    installed = install(work_of(trained_store, CLOCK), read(folder))
    with trained_store.reading() as session:
        assert snow_cells.regional_cells(session, installed.version_id) == REGIONAL
    other = install(work_of(trained_store, CLOCK), read(folder), product="another")
    with trained_store.reading() as session:
        assert snow_cells.regional_cells(session, other.version_id) is None
    text = (folder / shipped_snow.SNOW_FILE).read_text()
    (folder / shipped_snow.SNOW_FILE).write_text(text.replace(read(folder).content, "0" * 64))
    with pytest.raises(DamagedEnsemble, match="not of the ensemble beside it"):
        shipped_snow.read_snow(read(folder))
    (folder / shipped_snow.SNOW_FILE).write_text("{")
    with pytest.raises(DamagedEnsemble, match="cannot be used"):
        shipped_snow.read_snow(read(folder))
