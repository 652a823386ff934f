"""Forecasts that mix several weather models."""
