"""What training minimises."""

import torch
from torch import Tensor

NSE_EPSILON = 0.1  # mm/day, keeps basins of little flow from ruling the loss


def nse_star(simulated: Tensor, observed: Tensor, sd: Tensor, expectile: float = 0.5) -> Tensor:
    """Return the basin-averaged Nash-Sutcliffe loss NSE* [K19]: mean of (q_sim - q_obs)^2 / (s_b + 0.1)^2.

    What it asks for is the mean of what may be observed. An expectile above 0.5 [Newey and Powell 1987] asks for a
    little more, most where the network is least sure: errors of too little count for more.

    Args:
        simulated: (T, B) in mm/day.
        observed: (T, B) in mm/day, NaN where missing.
        sd: (B,), s_b, the standard deviation of the basin's discharge in the training period, in mm/day.
        expectile: the share of the weight that errors of too little get; 0.5 is NSE*.

    Returns:
        a scalar over the days with an observation.
    """
    known = ~torch.isnan(observed)
    # The missing are replaced before they meet the simulation: a NaN masked afterwards still back-propagates.
    error = torch.where(known, simulated - torch.nan_to_num(observed), 0.0) / (sd + NSE_EPSILON)
    weight = 1 + (1 - 2 * expectile) * error.sign()  # 2 expectile where too low, 2 - 2 expectile where too high
    return (weight * error.square()).sum() / known.sum()
