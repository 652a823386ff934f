"""Builds the files of the pages and measures the pages."""
