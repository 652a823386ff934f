"""Regions of operators: stored rules of basins, which keys, lists, alerts and limits are bound to."""
