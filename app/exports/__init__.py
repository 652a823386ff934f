"""Answers in the formats of the field: a file a format, each of which writes the same description of a table.

A library that writes a format is loaded when the first answer in it is asked for, never as the service starts.
"""
