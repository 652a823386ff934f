from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrology.base.calendar import Days, Period
from hydrology.base.errors import InvalidInput
from hydrology.scores.scores import pearson_r
from hydrology.snow.snow17 import Parameters, Snow17State, bare_ground, snow17

Array = npt.NDArray[np.float64]


def winters(seed: int, basins: int = 3) -> tuple[Array, Array, Days]:
    days = Period.parse("1999-10-01..2001-09-30").days
    rng = np.random.default_rng(seed)
    season = -np.cos(2 * np.pi * (np.arange(len(days)) - 105) / 365)[:, np.newaxis]
    temperature = 5 + 12 * season + rng.normal(0, 4, (len(days), basins))
    return rng.gamma(0.3, 9, temperature.shape), temperature, days


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0, 2), st.floats(0, 0.3), st.floats(0, 1))
def test_water_is_neither_created_nor_lost_on_any_day(seed: int, pxtemp: float, plwhc: float, daygm: float) -> None:
    p, t, days = winters(seed)
    run = snow17(p, t, days, elevation=1500, parameters=Parameters(pxtemp=pxtemp, plwhc=plwhc, daygm=daygm))
    balance = (p - run.rain_plus_melt).cumsum(axis=0) - run.swe
    assert np.abs(balance).max() <= 1e-12 * p.sum(axis=0).max()
    assert (run.swe >= 0).all()
    assert (run.rain_plus_melt >= 0).all()


def test_snow_gathers_in_winter_and_is_gone_in_summer() -> None:
    p, t, days = winters(1)
    run = snow17(p, t, days, elevation=1500)
    months = days.astype("datetime64[M]").astype(int) % 12 + 1
    assert run.swe[months == 2].mean() > 50
    assert run.swe[months == 8].max() == 0


@pytest.mark.parametrize("cut", [1, 100, 365, 700])
def test_a_run_may_be_cut_anywhere_and_resumed_to_the_same_bits(cut: int) -> None:
    p, t, days = winters(2)
    whole = snow17(p, t, days, elevation=1500)
    first = snow17(p[:cut], t[:cut], days[:cut], elevation=1500)
    rest = snow17(p[cut:], t[cut:], days[cut:], elevation=1500, state=first.state)
    assert np.array_equal(np.concatenate([first.swe, rest.swe]), whole.swe)
    assert np.array_equal(np.concatenate([first.rain_plus_melt, rest.rain_plus_melt]), whole.rain_plus_melt)
    assert np.array_equal(rest.state.deficit, whole.state.deficit)


def test_a_basin_runs_alike_alone_and_among_others() -> None:
    p, t, days = winters(3)
    elevation = np.array([200.0, 1500, 3000])
    together = snow17(p, t, days, elevation=elevation)
    alone = snow17(p[:, 1], t[:, 1], days, elevation=1500)
    assert alone.swe == pytest.approx(together.swe[:, 1], rel=1e-12, abs=1e-12)


def one_day(
    p: float, t: float, state: Snow17State | None = None, on: str = "2000-03-20", **parameters: float
) -> tuple[float, Snow17State]:
    run = snow17(
        [p], [t], np.array([on], "datetime64[D]"), elevation=0, state=state, parameters=Parameters(**parameters)
    )
    return float(run.rain_plus_melt[0]), run.state


def pack(ice: float, deficit: float = 0.0, liquid: float = 0.0) -> Snow17State:
    return Snow17State(*(np.array(value) for value in (ice, liquid, deficit, 0.0)))


def test_rain_passes_bare_ground_and_snow_stays() -> None:
    assert one_day(8, 12.0)[0] == 8
    outflow, state = one_day(8, -3.0, nmf=0.0)
    assert outflow == 0
    assert state.swe == 8
    assert state.deficit == pytest.approx(3 * 8 / 160)


def test_the_snow_catch_factor_corrects_snow_alone() -> None:
    assert one_day(10, -3.0, scf=1.2)[1].swe == 12
    assert one_day(10, 5.0, scf=1.2)[0] == 10


def test_melt_in_dry_weather_follows_the_melt_factor_of_the_season() -> None:
    # 20 March is a day before the sine's zero: nearly the mean of both factors; four steps of six hours.
    outflow, _ = one_day(0, 5.0, pack(100), mfmax=1.0, mfmin=0.5, plwhc=0.0)
    assert outflow == pytest.approx(4 * 5 * 0.75, rel=0.01)
    june, _ = one_day(0, 5.0, pack(100), on="2000-06-20", mfmax=1.0, mfmin=0.5, plwhc=0.0)
    assert june == pytest.approx(4 * 5 * 1.0, rel=1e-3)


def test_rain_on_snow_melts_by_the_energy_balance_of_the_paper() -> None:
    t, rain, uadj = 4.0, 20.0, 0.04
    saturated = 2.7489e8 * np.exp(-4278.63 / (t + 242.792))
    melt = (
        6.12e-10 * 24 * ((t + 273) ** 4 - 273**4)
        + 0.0125 * rain * t
        + 8.5 * uadj * 4 * (0.9 * saturated - 6.11 + 0.00057 * 33.86 * 29.9 * t)
    )
    assert one_day(rain, t, pack(500), plwhc=0.0, uadj=uadj)[0] == pytest.approx(rain + melt, rel=1e-12)


def test_a_cold_pack_freezes_water_before_it_lets_any_out() -> None:
    outflow, state = one_day(3, 2.0, pack(100, deficit=20), mfmax=0.01, mfmin=0.01)
    assert outflow == 0
    assert state.ice == pytest.approx(103, abs=0.2)
    assert 0 < state.deficit < 20


def test_a_ripening_pack_holds_its_share_of_water_and_releases_the_rest() -> None:
    outflow, state = one_day(5, 2.0, pack(100), mfmax=0.01, mfmin=0.01, plwhc=0.03)
    assert state.liquid == pytest.approx(0.03 * state.ice)
    assert outflow == pytest.approx(105 - state.swe)


def test_a_pack_never_melts_more_than_it_holds() -> None:
    outflow, state = one_day(0, 30.0, pack(5, liquid=0.1))
    assert outflow == pytest.approx(5.1)
    assert state == bare_ground()


@pytest.mark.parametrize(("p", "t"), [(np.nan, 1.0), (1.0, np.nan), (-1.0, 1.0)])
def test_missing_or_negative_weather_is_refused(p: float, t: float) -> None:
    with pytest.raises(InvalidInput, match="before the first missing day"):
        one_day(p, t)


def test_shapes_that_differ_are_refused() -> None:
    p, t, days = winters(0)
    with pytest.raises(InvalidInput, match="of one length"):
        snow17(p, t[:-1], days, elevation=0)


def test_it_follows_the_weather_services_own_run_of_a_snowy_basin(camels: Path) -> None:
    """Uncalibrated, against the calibrated Snow-17 of 06409000 (mean 1900 m) from the same weather."""
    path = camels / "model_output/flow_timeseries/daymet/10/06409000_05_model_output.txt"
    table = np.loadtxt(path, skiprows=1)
    days = np.array([f"{int(y)}-{int(m):02d}-{int(d):02d}" for y, m, d in table[:, :3]], "datetime64[D]")
    swe, precipitation, temperature = table[:, 4], table[:, 5], table[:, 7]
    run = snow17(precipitation, temperature, days, elevation=1900)
    r = pearson_r(run.swe, swe).value
    assert r is not None
    assert r > 0.9
