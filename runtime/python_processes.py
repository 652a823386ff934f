"""Starts Python processes that run the installed Freshet, never code of the working folder.

Without `-P` Python searches the working folder for modules first, so a folder `models/` or `records/` in
it would run in place of Freshet's.
"""

import multiprocessing
import os
import sys
from multiprocessing.context import SpawnContext


def command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module in its own process."""
    return [sys.executable, "-P", "-m", module, *arguments]


def spawn_context() -> SpawnContext:
    """Return a context that spawns processes safely.

    From now on all spawns of this process are as safe as `command`.

    `multiprocessing` passes only this process's own options to its children, so the environment carries the setting.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    return multiprocessing.get_context("spawn")
