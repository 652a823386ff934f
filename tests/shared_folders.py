"""Folders that several test processes need and that one of them fills."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from testing.country import write_country

CAMELS = "camels"


def filled_once(folder: Path, fill: Callable[[Path], object]) -> Path:
    """Return a folder that the first test process to ask for it has filled; the others wait for that one.

    A folder that depends on the content of a shared one lies within it, so that each source has results of its own.
    """
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.fstat(lock.fileno()).st_size:
            shutil.rmtree(folder, ignore_errors=True)  # where another process has failed to fill it
            folder.mkdir(0o700)  # like the data folder of a service
            fill(folder)
            lock.write("filled")
    return folder


def country_until(last_day: str, shared: Path) -> Path:
    """Return a folder with the files of three basins, from 2000-10-01 on."""
    folder = filled_once(shared / f"until-{last_day}", lambda folder: write_country(folder / CAMELS, last_day))
    return folder / CAMELS
