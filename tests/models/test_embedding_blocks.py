"""The embedding of a day has the same bits however many days and basins are embedded with it."""

import pytest
import torch

from models.nets.layers import ROWS, Embedding


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("inputs", "values"), [(61, 16), (12, 5)])
def test_neighbours_and_days_change_no_bit(inputs: int, values: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    embedding, basins, days = Embedding(inputs, values).to(dtype), 70, 2 * ROWS // 70 + 3
    weather, static = torch.randn(days, basins, inputs - 7, dtype=dtype), torch.randn(basins, 7, dtype=dtype)
    with torch.inference_mode():
        whole = embedding(weather, static)
        assert torch.equal(embedding(weather[:, 5:6], static[5:6]), whole[:, 5:6])
        assert torch.equal(embedding(weather[4:5, 10:43], static[10:43]), whole[4:5, 10:43])
        many = embedding(weather.repeat(1, 10, 1), static.repeat(10, 1))  # more basins than a product has rows
        assert torch.equal(many[:, 3 * basins : 4 * basins], whole)
    torch.testing.assert_close(embedding(weather, static).detach(), whole)
