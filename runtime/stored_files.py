"""Files that are written whole or not at all, and those that only their owner can read, whatever the umask."""

import errno
import os
from pathlib import Path
from tempfile import NamedTemporaryFile

_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS}
"""What a file system answers that has no hard links, such as exFAT and many network drives."""


def replace_file(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file, readable by every user unless another mode is given. A missing folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
        try:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
            Path(part.name).chmod(mode)
            Path(part.name).replace(path)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise


def move_to_free_name(draft: Path, path: Path) -> None:
    """Give a whole file another name in its file system, and never overwrite a file of that name.

    On a file system without hard links, readers find an empty file of that name for an instant.

    Raises:
        FileExistsError: there is a file of that name; the draft stays.
    """
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        _reserve_and_replace(draft, path)
    else:
        draft.unlink()


def _reserve_and_replace(draft: Path, path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        draft.replace(path)
    except BaseException:
        path.unlink()
        raise


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
