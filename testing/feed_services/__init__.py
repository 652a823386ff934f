"""Simulated feed services: a local server that answers as USGS, Open-Meteo and Daymet do."""
