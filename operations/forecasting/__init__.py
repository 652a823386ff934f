"""Forecasts: plan, simulation, ledger, calibration, what-if."""
