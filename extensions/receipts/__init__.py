"""Receipts of runs: each computed again from its stored inputs, and compared bit by bit."""
