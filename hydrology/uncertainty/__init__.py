"""Error models: fit, quantiles, sample paths, exceedance probability."""
