"""Reruns that attribute changes and errors of forecasts to their causes."""
