"""How processes of Python are started: they run the installed Freshet, and never code of the working folder.

Without `-P` the working folder comes first where Python looks for modules, so that a folder `models/` or `records/` in
it would be run in place of Freshet's.
"""

import multiprocessing
import os
import sys
from multiprocessing.context import SpawnContext


def command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module in a process of its own."""
    return [sys.executable, "-P", "-m", module, *arguments]


def spawn_context() -> SpawnContext:
    """Return the way to spawn processes for functions; from now on, those of this process are as safe as `command`.

    `multiprocessing` passes no option to its processes but those of this one, so it is told by the environment.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    return multiprocessing.get_context("spawn")
