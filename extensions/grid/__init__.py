"""Weather on grids (NetCDF, Zarr, GRIB2), as means of basins by the parts of cells that lie within their outlines."""
