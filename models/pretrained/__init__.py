"""Trained ensembles that come with Freshet: a folder each beside this file, in the form that `form` tells."""

from pathlib import Path

SHELF = Path(__file__).parent
DEFAULT = "mclstm-maurer-447"  # is installed where none is named
