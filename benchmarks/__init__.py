"""Measurements: `python -m benchmarks NAME --json`. Each compares with a named peer in the same run."""
