"""Resolves a source's locations.

A permitted path as it is, a URL by downloading it."""

import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag

from hydrology.base.digests import short_name
from hydrology.base.errors import InvalidInput
from ingestion.download import Progress, fetch
from ingestion.reading import Files
from jobspec.addresses import HostPort

DOWNLOAD_DAYS = 7
"""Retention of a download that was interrupted, or whose data could not be ingested."""


@dataclass(frozen=True, slots=True)
class Intake:
    """The locations that a source may be read from.

    Attributes:
        downloads: the folder for downloads, each in its own subfolder.
        hosts: hosts with their ports that may have a private address.
        roots: the folders that paths must be in; None: any, as for the command line.
        on_progress: called with the bytes fetched and the total (None: the server does not state it).
        on_file: called with the name of each file before it is read.
    """

    downloads: Path
    hosts: Collection[HostPort]
    roots: tuple[Path, ...] | None
    on_progress: Progress
    on_file: Callable[[str], None]

    @contextmanager
    def of(self, places: Sequence[str]) -> Iterator[tuple[list[Path], Files]]:
        """Yield the paths of locations and the files that may be read.

        Delete downloads at the end.

        A URL may end in `#sha256=` and 64 hexadecimal digits, the checksum of the download. If the block raises, the
        downloads are retained for some days, so that those with a checksum are not fetched again.

        Raises:
            InvalidInput: a URL or its fragment cannot be used.
            DownloadError: it cannot be fetched.
        """
        self._remove_old_downloads()
        downloads = {place: self._fetched(place) for place in places if "://" in place}
        roots = None if self.roots is None else (*self.roots, *downloads.values())
        yield [downloads.get(place, Path(place)) for place in places], Files(roots, self.on_file)
        for path in downloads.values():
            shutil.rmtree(path.parent)

    def _fetched(self, place: str) -> Path:
        url, fragment = urldefrag(place)
        algorithm, _, checksum = fragment.partition("=")
        if fragment and (algorithm != "sha256" or len(checksum) != 64):
            raise InvalidInput(f"#{fragment} is not a checksum: end the URL with #sha256= and 64 hexadecimal digits.")
        folder = self.downloads / short_name(url.encode("utf-8", "surrogatepass"))
        return fetch(url, folder, sha256=checksum or None, allowed=self.hosts, on_progress=self.on_progress)

    def _remove_old_downloads(self) -> None:
        oldest = time.time() - DOWNLOAD_DAYS * 86_400
        for folder in self.downloads.glob("*/"):
            if all(path.stat().st_mtime < oldest for path in (folder, *folder.iterdir())):
                shutil.rmtree(folder)
