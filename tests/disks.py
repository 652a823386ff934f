"""Small disks, and full ones."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a small disk on a new folder."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("making a small disk takes an administrator")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def filled(folder: Path, room: int = 0) -> Iterator[None]:
    """Fill a disk but for some bytes."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(bytes(2**16))
        file.truncate(file.tell() - room)
    yield
    filler.unlink()
