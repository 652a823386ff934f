"""Shipped ensembles: a folder for each beside this file, in the format of `form`."""

from pathlib import Path

SHELF = Path(__file__).parent
DEFAULT = "mclstm-maurer-447"  # installed by default
