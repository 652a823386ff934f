"""Resolves a source's locations: a permitted path as it is, a URL by downloading it."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag

from hydrology.base.digests import short_name
from hydrology.base.errors import InvalidInput
from ingestion.client import http_address, shown
from ingestion.download import DownloadError, Progress, fetch
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
    """

    downloads: Path
    hosts: Collection[HostPort]
    roots: tuple[Path, ...] | None
    on_progress: Progress
    on_file: Callable[[str], None]

    @contextmanager
    def of(self, places: Sequence[str]) -> Iterator[tuple[list[Path], Files]]:
        """Yield the paths of locations and the files that may be read; delete downloads at the end.

        A URL may end in `#sha256=` and 64 hexadecimal digits, the checksum of the download. If the block raises, the
        downloads are retained for some days, so that those with a checksum are not fetched again. A download that
        another process reads is refused.
        """
        self._remove_old_downloads()
        with ExitStack() as stack:
            urls = {place: _parsed(place) for place in places if "://" in place}
            for folder, url in {self._folder(url): url for url, _ in urls.values()}.items():
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not stack.enter_context(_alone(folder)):
                    address = shown(http_address(url))
                    raise DownloadError(f"{address} is being read by another job: wait for that to end.")
            downloads = {place: self._fetched(url, checksum) for place, (url, checksum) in urls.items()}
            roots = None if self.roots is None else (*self.roots, *downloads.values())
            yield [downloads.get(place, Path(place)) for place in places], Files(roots, self.on_file)
            for url, _ in urls.values():
                shutil.rmtree(self._folder(url), ignore_errors=True)

    def _folder(self, url: str) -> Path:
        return self.downloads / short_name(url.encode("utf-8", "surrogatepass"))

    def _fetched(self, url: str, checksum: str | None) -> Path:
        return fetch(url, self._folder(url), sha256=checksum, allowed=self.hosts, on_progress=self.on_progress)

    def _remove_old_downloads(self) -> None:
        oldest = time.time() - DOWNLOAD_DAYS * 86_400
        for folder in self.downloads.glob("*/"):
            with _alone(folder) as mine, suppress(FileNotFoundError):
                if mine and all(path.stat().st_mtime < oldest for path in (folder, *folder.iterdir())):
                    shutil.rmtree(folder)


def _parsed(place: str) -> tuple[str, str | None]:
    url, fragment = urldefrag(place)
    algorithm, _, checksum = fragment.partition("=")
    if fragment and (algorithm != "sha256" or len(checksum) != 64):
        raise InvalidInput(f"#{fragment} is not a checksum: end the URL with #sha256= and 64 hexadecimal digits.")
    http_address(url)
    return url, checksum or None


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Reserve a folder of downloads for this use alone; give False where another has it, or has removed it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another process may have removed the folder since it was opened here.
            mine = os.path.samestat(os.fstat(descriptor), folder.stat())
        except (BlockingIOError, FileNotFoundError):
            mine = False
        yield mine
    finally:
        os.close(descriptor)
