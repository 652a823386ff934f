"""Loss functions of training."""

import torch
from torch import Tensor

NSE_EPSILON = 0.1  # mm/day, limits the weight of basins with little flow


def nse_star(simulated: Tensor, observed: Tensor, sd: Tensor, expectile: float = 0.5) -> Tensor:
    """Return the basin-averaged Nash-Sutcliffe loss NSE* [K19]: the mean of `nse_of_days`, a scalar."""
    return nse_of_days(simulated, observed, sd, expectile).sum() / (~torch.isnan(observed)).sum()


def nse_of_days(simulated: Tensor, observed: Tensor, sd: Tensor, expectile: float = 0.5) -> Tensor:
    """Return (q_sim - q_obs)^2 / (s_b + 0.1)^2 of every day, 0 where nothing was observed (NaN).

    Its mean estimates the mean of the possible observations. An expectile above 0.5 [Newey and Powell 1987] estimates a
    little more, most where the network is least certain: errors of too little flow count for more; 0.5 is NSE*. Flows
    and `sd`, s_b of the basin's discharge in the training period, are in mm/day and broadcast.
    """
    known = ~torch.isnan(observed)
    # Missing observations are replaced first: a NaN masked afterwards still back-propagates.
    error = torch.where(known, simulated - torch.nan_to_num(observed), 0.0) / (sd + NSE_EPSILON)
    weight = 1 + (1 - 2 * expectile) * error.sign()  # 2 expectile where too low, 2 - 2 expectile where too high
    return weight * error.square()
