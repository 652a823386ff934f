"""Water divided by tags, as a run begins."""

import torch
from torch import Tensor

from models.inputs import Inputs

ROUNDED_MM = 1e-3  # after a storm, a cell may hold the rounding error of hundreds of mm


def check_tags(inputs: Inputs, water: Tensor, tagged: Tensor) -> Tensor:
    """Return the tag of each day's precipitation, (T,), for water (B, K) that is tagged (B, K, G), in mm.

    Raises:
        ValueError: a day has no tag or an unknown one, or the tags do not sum to the cells' water.
    """
    if inputs.tag is None:
        raise ValueError("Water that falls needs a tag where that in the cells has one: give Inputs.tag")
    days, tags = len(inputs.mass), tagged.shape[-1]
    if inputs.tag.shape != (days,) or inputs.tag.min() < 0 or inputs.tag.max() >= tags:
        raise ValueError(f"Each of the {days} days needs one of the {tags} tags, from 0: give Inputs.tag so")
    if tagged.shape[:-1] != water.shape or tagged.dtype != water.dtype:
        raise ValueError(
            f"The tagged water has the shape {tuple(tagged.shape)} and {tagged.dtype}, the water in the cells "
            f"{tuple(water.shape)} and {water.dtype}: divide this among the tags, the last axis"
        )
    if not torch.allclose(tagged.sum(-1), water, atol=ROUNDED_MM, equal_nan=True):
        raise ValueError("The tags do not add up to the water in the cells: give all of it a tag")
    return inputs.tag
