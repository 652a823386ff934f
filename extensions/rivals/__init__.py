"""Rivals: other models and services, judged beside the own forecasts on the same days by the same code."""
