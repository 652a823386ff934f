"""Water divided by tags, as a run begins."""

import torch
from torch import Tensor

from models.contract import Inputs

ROUNDED_MM = 1e-3  # after a storm, a cell may hold the rounding error of hundreds of mm


def check_tags(inputs: Inputs, water: Tensor, tagged: Tensor) -> Tensor:
    """Return the tag of each day's precipitation, (T,).

    Args:
        water, tagged: of the cells, (B, K) and (B, K, G) in mm.

    Raises:
        ValueError: the days have no tag, or the tags do not sum to the cells' water.
    """
    if inputs.tag is None:
        raise ValueError("Water that falls needs a tag where that in the cells has one: give Inputs.tag")
    if not torch.allclose(tagged.sum(-1), water, atol=ROUNDED_MM, equal_nan=True):
        raise ValueError("The tags do not add up to the water in the cells: give all of it a tag")
    return inputs.tag
