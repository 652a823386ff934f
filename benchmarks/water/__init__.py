"""Benchmarks of the simulated water: closure, exactness, origin and age, against known truth."""
