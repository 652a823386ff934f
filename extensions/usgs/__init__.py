"""Discharge, rating tables and descriptions of gauges of the U.S. Geological Survey."""
