"""Folders and files that their owner alone can read, whatever the umask."""

import os
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
OTHERS = 0o077


def make_folder(path: Path) -> None:
    """Make a folder and those above it, each where it is missing. One that is there stays as it is."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER, exist_ok=True)


def opener(path: str, flags: int) -> int:
    """Open a file for `open`, made for its owner alone where it is missing."""
    return os.open(path, flags, FILE)


def make_file(path: Path) -> None:
    """Make an empty file where it is missing."""
    os.close(opener(str(path), os.O_CREAT | os.O_RDWR))


def is_open_to_others(path: Path) -> bool:
    """Whether others than its owner may read, write or enter a file or folder. One that is missing is not."""
    return path.exists() and bool(path.stat().st_mode & OTHERS)
