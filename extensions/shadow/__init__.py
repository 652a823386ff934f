"""Shadow mode: basins and versions that are operated and not public, until gates are met and a person agrees."""
