"""Hydrological computations with numpy alone: days, units, scores, snow, the water ledger."""
