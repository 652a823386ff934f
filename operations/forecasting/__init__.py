"""Forecasts: plan, states, simulation, ledger, calibration, what-if."""
