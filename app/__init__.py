"""The HTTP face: reads from records, computes nothing but units, and loads neither torch nor xarray."""
