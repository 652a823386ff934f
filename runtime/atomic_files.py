"""Writes files atomically: a reader sees the old content or the new one, whole."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile


def replace_file(path: Path, content: bytes) -> None:
    """Write a file that every user may read. A missing folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
        try:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
            Path(part.name).chmod(0o644)
            Path(part.name).replace(path)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise
