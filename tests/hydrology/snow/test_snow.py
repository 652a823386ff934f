import numpy as np
import numpy.typing as npt
import pytest

from hydrology.base.errors import InvalidInput
from hydrology.scores.scores import pearson_r
from hydrology.snow.snow import BARE_MM, BARE_WEIGHT, MIN_R, SnowProducts, choose_cells, snow_skill

Array = npt.NDArray[np.float64]
TRASH = (0,)


def a_network(seed: int = 0, days: int = 1000) -> tuple[Array, Array]:
    """Cells of which 3 and 5 share the snow, 0 (the trash) holds a copy of it, and the rest do other things."""
    rng = np.random.default_rng(seed)
    snow = np.maximum(100 * np.sin(2 * np.pi * np.arange(days) / 365), 0)
    share = rng.uniform(0.2, 0.8, days)
    storage = rng.gamma(2, 20, (days, 8))
    storage[:, 3], storage[:, 5], storage[:, 0] = share * snow, (1 - share) * snow, snow
    return storage, snow


def test_it_finds_the_cells_whose_sum_is_the_snow() -> None:
    storage, snow = a_network()
    choice = choose_cells(SnowProducts.of(storage, snow), max_cells=6, trash_cells=TRASH)
    assert sorted(choice.cells) == [3, 5]
    assert choice.r.value == pytest.approx(1)


def test_the_trash_cell_is_never_chosen_however_near_it_is() -> None:
    storage, snow = a_network()
    moved = np.roll(storage, 1, axis=1)  # what the trash cell held is in cell 1
    assert choose_cells(SnowProducts.of(moved, snow), max_cells=1, trash_cells=TRASH).cells == (1,)
    assert choose_cells(SnowProducts.of(storage, snow), max_cells=1).cells == (0,)
    assert 0 not in choose_cells(SnowProducts.of(storage, snow), max_cells=8, trash_cells=TRASH).cells


def squared_error(storage: Array, cells: list[int], snow: Array) -> float:
    weights = np.where(snow < BARE_MM, BARE_WEIGHT, 1)
    return float(np.sum(weights * np.square(storage[:, cells].sum(axis=1) - snow)))


def correlation(storage: Array, cells: list[int], snow: Array) -> float:
    return pearson_r(storage[:, cells].sum(axis=1), snow).value or 0.0


@pytest.mark.parametrize("seed", range(5))
def test_every_chosen_cell_rises_with_the_snow_and_fits_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    storage = rng.gamma(1, 10, (300, 10))
    snow = storage @ rng.uniform(0, 1, 10) + rng.normal(0, 5, 300)
    choice = choose_cells(SnowProducts.of(storage, snow), max_cells=10, trash_cells=TRASH)
    assert len(choice.cells) >= 2
    assert choice.r.value == pytest.approx(correlation(storage, list(choice.cells), snow))
    for count in range(len(choice.cells) + 1):
        before = list(choice.cells[:count])
        better = {
            k: squared_error(storage, [*before, k], snow)
            for k in set(range(1, 10)) - set(before)
            if correlation(storage, [k], snow) > MIN_R
            and squared_error(storage, [*before, k], snow) < squared_error(storage, before, snow)
        }
        if count == len(choice.cells):
            assert not better
        else:
            assert choice.cells[count] == min(better, key=better.__getitem__)


def test_a_cell_that_only_fills_up_the_amount_is_left_out() -> None:
    storage, snow = a_network()
    storage[:, 5] = 0.3 * snow.mean()  # always as full: nearer in mm, no snow
    assert choose_cells(SnowProducts.of(storage, snow), max_cells=6, trash_cells=TRASH).cells == (3,)


def test_no_more_cells_than_the_maximum_are_chosen() -> None:
    storage, snow = a_network()
    assert len(choose_cells(SnowProducts.of(storage, snow), max_cells=1, trash_cells=TRASH).cells) == 1


def test_days_without_reference_are_left_out() -> None:
    storage, snow = a_network()
    gappy = np.where(np.arange(1000) % 3 == 0, np.nan, snow)
    known = ~np.isnan(gappy)
    products = (SnowProducts.of(storage, gappy), SnowProducts.of(storage[known], snow[known]))
    one, other = (choose_cells(of, max_cells=6, trash_cells=TRASH) for of in products)
    assert one == other


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (np.zeros(1000), "no snow to follow"),
        (np.full(1000, np.nan), "known on 0 days"),
        (-a_network()[0][:, 1:].sum(axis=1), "No cell rises and falls"),
        (a_network()[1] / 1000, "No cell rises and falls with the reference snow at its size"),
    ],
)
def test_without_reference_snow_no_cell_is_chosen_and_the_reason_is_given(reference: Array, reason: str) -> None:
    storage, _ = a_network()
    choice = choose_cells(SnowProducts.of(storage, reference), max_cells=4, trash_cells=TRASH)
    assert (choice.cells, choice.r.value) == ((), None)
    assert reason in str(choice.r.reason)


def test_skill_on_other_years_is_correlation_and_bias() -> None:
    storage, snow = a_network(seed=1)
    skill = snow_skill(storage[:, [3, 5]].sum(axis=1), snow / 0.75)
    assert skill.r.value == pytest.approx(1)
    assert skill.bias_percent.value == pytest.approx(-25)


def test_the_scores_of_a_mean_of_members_follow_from_the_products_of_all_cells() -> None:
    storage, snow = a_network(seed=2)
    other = a_network(seed=3)[0]
    shares = np.zeros(16)
    shares[[3, 5, 8 + 3]] = 0.5
    products = SnowProducts.of(np.hstack([storage, other]), snow)
    judged, in_brief = products.skill(shares), products.for_scores().skill(shares)
    for score, brief in ((judged.r, in_brief.r), (judged.bias_percent, in_brief.bias_percent)):
        assert brief.value == pytest.approx(score.value, abs=1e-4)
    assert in_brief.bare_mm == judged.bare_mm
    mean = (storage[:, [3, 5]].sum(axis=1) + other[:, 3]) / 2
    assert judged.r.value == pytest.approx(pearson_r(mean, snow).value)
    assert judged.bias_percent.value == pytest.approx(100 * (mean.mean() / snow.mean() - 1))
    assert judged.bare_mm.value == pytest.approx(mean[snow < BARE_MM].mean())
    assert judged.bare_mm.n == (snow < BARE_MM).sum()


def test_a_reference_that_always_has_snow_gives_no_score_of_bare_ground() -> None:
    storage, snow = a_network()
    skill = snow_skill(storage[:, 3], snow + BARE_MM)
    assert skill.r.value is not None
    assert (skill.bare_mm.value, str(skill.bare_mm.reason)) == (None, "The reference has snow on every day.")


def test_a_cell_that_stays_full_in_summer_gives_way_to_one_that_empties() -> None:
    snow = a_network()[1]
    bare = snow < BARE_MM
    lasting, empties = np.where(bare, 8.0, snow), np.where(bare, 0.0, 0.9 * snow)
    storage = np.column_stack([np.zeros_like(snow), lasting, empties])
    assert squared_error(storage, [2], snow) < squared_error(storage, [1], snow)
    assert choose_cells(SnowProducts.of(storage, snow), max_cells=1, trash_cells=TRASH).cells == (2,)


def test_cells_are_chosen_over_basins_by_their_days_together() -> None:
    here, there = a_network(seed=1), a_network(seed=2, days=700)
    together = SnowProducts.of(*here) + SnowProducts.of(*there)
    at_once = SnowProducts.of(np.concatenate([here[0], there[0]]), np.concatenate([here[1], there[1]]))
    chosen, expected = (choose_cells(products, max_cells=6, trash_cells=TRASH) for products in (together, at_once))
    assert sorted(chosen.cells) == [3, 5]
    assert chosen.cells == expected.cells
    assert chosen.r.value == pytest.approx(expected.r.value)
    assert chosen.r.n == 1700


def test_a_constant_sum_has_no_correlation() -> None:
    _, snow = a_network()
    skill = snow_skill(np.full_like(snow, 3.3), snow)
    assert skill.r.value is None
    assert "constant" in str(skill.r.reason)
    assert skill.bare_mm.value == pytest.approx(3.3)


@pytest.mark.parametrize(("share", "level", "reason"), [(0.0, 1.0, "No cells"), (1.0, 0.0, "no snow to follow")])
def test_undefined_skill_has_a_reason(share: float, level: float, reason: str) -> None:
    storage, snow = a_network()
    skill = SnowProducts.of(storage, snow * level).skill(np.full(8, share))
    assert skill.r.value is skill.bias_percent.value is skill.bare_mm.value is None
    for score in (skill.r, skill.bias_percent, skill.bare_mm):
        assert reason in str(score.reason)


def test_arrays_that_do_not_fit_are_refused() -> None:
    storage, snow = a_network()
    with pytest.raises(InvalidInput, match=r"\(days, cells\)"):
        SnowProducts.of(storage, snow[:-1])
    with pytest.raises(InvalidInput, match="at least 1"):
        choose_cells(SnowProducts.of(storage, snow), max_cells=0, trash_cells=TRASH)
    storage[5, 5] = np.nan
    with pytest.raises(InvalidInput, match="not finite"):
        SnowProducts.of(storage, snow)
