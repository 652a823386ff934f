"""Simulated feed services: a local server that answers as USGS, NWIS, Open-Meteo and Daymet do."""
