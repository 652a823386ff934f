"""Benchmarks of forecasts of real basins: uncertainty, assimilation, a season."""
