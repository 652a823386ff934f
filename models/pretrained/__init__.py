"""Shipped ensembles: a folder for each beside this file, in the format of `form`."""

from pathlib import Path

SHELF = Path(__file__).parent
DEFAULT = "mclstm-maurer-447"
"""Installed where none is named, unless there is weather for all parts of `COMBINED`."""
COMBINED = "freshet-us"
"""The most skilful combination."""
