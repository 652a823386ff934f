"""Folders and files that only their owner can read, whatever the umask."""

import os
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
OTHERS = 0o077


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents. Leave existing ones as they are."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER, exist_ok=True)


def opener(path: str, flags: int) -> int:
    """Open a file for `open`. Create a missing one readable by its owner only."""
    return os.open(path, flags, FILE)


def make_file(path: Path) -> None:
    """Create an empty file if it is missing."""
    os.close(opener(str(path), os.O_CREAT | os.O_RDWR))


def is_open_to_others(path: Path) -> bool:
    """Return whether users other than the owner may access a path. False if it is missing."""
    return path.exists() and bool(path.stat().st_mode & OTHERS)
