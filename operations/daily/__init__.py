"""The daily cycle, its replay on an archive, and the way to the first live forecast."""
