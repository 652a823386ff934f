"""Reads Caravan (Kratzert et al. 2023, doi:10.1038/s41597-023-01975-w). Folders and zips of CSV and NetCDF."""
