"""The folders of a run; nothing is read or written outside them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hydrology.base.errors import InvalidInput
from ingestion.reading import Files


@dataclass(frozen=True, slots=True)
class FewsLocations:
    """The folders in which a run may read and write.

    Attributes:
        work: the `workDir`, to which other paths of a run file are relative.
        roots: the `workDir` and the run file's folder, with links resolved.
    """

    work: Path
    roots: Sequence[Path]

    @classmethod
    def of(cls, run_file: Path, work: str | None) -> "FewsLocations":
        """Return the folders of a run file, which may name a `workDir`.

        Raises:
            InvalidInput: the `workDir` is not a folder, or is the root of the file system.
        """
        beside = run_file.resolve().parent
        folder = beside if work is None else Path(os.path.realpath(beside / work))
        if not folder.is_dir() or folder == Path(folder.anchor):
            raise InvalidInput(
                f"{run_file}: its workDir is not a folder of this machine, or is its root: name the module's folder."
            )
        return cls(folder, (folder, beside))

    def path(self, written: str, element: str) -> Path:
        """Resolve a path of the run file, with its links.

        Raises:
            InvalidInput: it lies outside the folders.
        """
        try:
            path = Path(os.path.realpath(self.work / written))
        except ValueError:  # a NUL
            raise InvalidInput(f"{element} is not a path: name a file.") from None
        if not any(path.is_relative_to(root) and path != root for root in self.roots):
            raise InvalidInput(
                f"{element} lies outside workDir ({self.work}) and the folder of the run file ({self.roots[1]}): "
                "move the file below one of them."
            )
        return path

    def read(self, path: Path) -> bytes:
        """Return the content of a file.

        Raises:
            SourceError: it cannot be read, is not a regular file, or is larger than any data file.
        """
        return Files(tuple(self.roots)).read(path)[1]
