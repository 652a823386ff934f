"""Answers in file formats of the field: one module for each format, each writing the same table.

The library of a format is loaded with the first answer in it, never at the start of the service.
"""
