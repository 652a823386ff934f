"""The HTTP API: reads from records, converts units only, and loads neither torch nor xarray."""
