"""Shipped ensembles: a folder for each beside this file, in the format of `form`."""

from pathlib import Path

SHELF = Path(__file__).parent
DEFAULT = "mclstm-maurer-447"
"""Installed where none is named, unless there is weather for all parts of `COMBINED`."""
COMBINED = "freshet-us"
"""The most skilful combination."""
MEANS = {"maurer_daymet": ("maurer_extended", "daymet")}
"""The products that shipped ensembles take and that are the mean of others: of which."""
