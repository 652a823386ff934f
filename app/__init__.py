"""The HTTP API: reads from records, converts units only, never loads torch, and xarray only to write NetCDF."""
