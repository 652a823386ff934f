"""Forecasts of a season by the weather of other years: flow, and the volumes of spring."""
