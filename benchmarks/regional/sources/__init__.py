"""Sources of data that the experiment derives from others."""
