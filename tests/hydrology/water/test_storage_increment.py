"""Water that is added to some cells, or taken from them, is there or gone, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.errors import InvalidInput
from hydrology.water.storage import Cells, incremented

cells_of_water = st.lists(st.floats(0.0625, 500, width=32), min_size=3, max_size=64)


@given(cells_of_water, st.floats(-1, 10), st.data())
def test_an_increment_is_shared_in_proportion_to_the_storage_of_cells(
    water: list[float], share: float, data: st.DataObject
) -> None:
    cells = np.array(water, np.float32)
    chosen = data.draw(st.sets(st.integers(0, len(cells) - 1), min_size=1).map(sorted))
    held = float(cells[chosen].sum(dtype=np.float64))
    amount = share * held
    after = incremented(cells, chosen, amount)
    assert after.dtype == np.float32
    assert (after >= 0).all()
    assert after[chosen].sum(dtype=np.float64) == pytest.approx(held + amount, rel=1e-6, abs=1e-6 * held)
    np.testing.assert_allclose(after[chosen] * held, cells[chosen] * (held + amount), rtol=1e-5, atol=1e-4 * held)
    others = np.setdiff1d(np.arange(len(cells)), chosen)
    assert np.array_equal(after[others], cells[others])


def test_all_stored_water_can_be_removed() -> None:
    cells = np.array([3, 0.1, 0.2, 0.7], np.float32)
    amount = -float(cells[1:].sum(dtype=np.float64))
    assert incremented(cells, [1, 2, 3], amount).tolist() == [3, 0, 0, 0]


def test_no_increment_changes_no_bit() -> None:
    cells = np.random.default_rng(0).gamma(1, 20, 64).astype(np.float32)
    assert np.array_equal(incremented(cells, range(64), 0.0), cells)


@pytest.mark.parametrize(
    ("cells", "amount", "sentence"),
    [
        (np.array([5, 1, 2], np.float32), -3.5, "hold 3 mm, less than the 3.5 mm"),
        (np.array([5, 0, 0], np.float32), 1.0, "hold no water"),
    ],
)
def test_an_increment_that_cannot_be_shared_is_refused(cells: Cells, amount: float, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        incremented(cells, [1, 2], amount)
