"""What every request passes through: limits, keys, caching, problems."""
