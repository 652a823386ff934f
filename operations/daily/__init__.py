"""The daily cycle and its replay on an archive."""
