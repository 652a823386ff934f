"""What training minimises."""

import torch
from torch import Tensor

NSE_EPSILON = 0.1  # mm/day, keeps basins of little flow from ruling the loss


def nse_star(simulated: Tensor, observed: Tensor, sd: Tensor) -> Tensor:
    """Return the basin-averaged Nash-Sutcliffe loss NSE* [K19]: mean of (q_sim - q_obs)^2 / (s_b + 0.1)^2.

    Args:
        simulated: (T, B) in mm/day.
        observed: (T, B) in mm/day, NaN where missing.
        sd: (B,), s_b, the standard deviation of the basin's discharge in the training period, in mm/day.

    Returns:
        a scalar over the days with an observation.
    """
    known = ~torch.isnan(observed)
    # The missing are replaced before they meet the simulation: a NaN masked afterwards still back-propagates.
    error = torch.where(known, simulated - torch.nan_to_num(observed), 0.0) / (sd + NSE_EPSILON)
    return error.square().sum() / known.sum()
