"""The archive of forecasts: one Zarr store that grows by whole issues while it is read, and tables for TEEHR."""
