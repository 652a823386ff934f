"""Where a source is read from, a permitted path or a download, and by which process.

A separate process reads it where a file may crash a C library, so that this ends only that process.
"""

import fcntl
import os
import shutil
import signal
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self
from urllib.parse import urldefrag

from hydrology.base.digests import short_name
from hydrology.base.errors import DataProblem, InvalidInput, Problem
from ingestion.base import BasinData, Files, SourceError
from ingestion.client import http_address, shown
from ingestion.download import DownloadError, Progress, fetch
from jobspec.addresses import HostPort
from runtime.child_processes import end_with_parent, exit_in_words, leave_signals_to_parent, limit, spawn_context

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


MAX_DEATHS = 2  # per basin: the machine may be at fault the first time
PATIENCE = 600.0  # seconds per file: a library may hang on a damaged one

_MEND = "get it from its publisher again, or leave it out"


class IsolatedReader:
    """An object whose methods run in another process, which is restarted after it dies.

    Args:
        make: creates the object in that process, with the keyword `files`; it must be picklable.
        roots: the folders that files must be in (`ingestion.base.Files`).
        patience: seconds that the process may take for one file before it is killed.
    """

    def __init__(self, make: Callable[..., Any], roots: tuple[Path, ...] | None, patience: float = PATIENCE) -> None:
        self._make, self._roots, self._patience = make, roots, patience
        self._reader: _Reader | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._reader is not None:
            self._reader.end()

    def ask(self, method: str, *arguments: str) -> Any:
        """Return a method's result; refuse a file on which the process died or hung twice."""
        for _ in range(MAX_DEATHS):
            self._reader = self._reader or _Reader(self._make, self._roots)
            try:
                return self._reader.ask(self._patience, method, *arguments)
            except TimeoutError:
                endless = self._reader.file or "The source"
                self._reader.kill()
                self._reader = None
                cause = f"the process that read it did not end within {self._patience:g} seconds, and was killed"
                raise SourceError(endless, cause, _MEND) from None
            except EOFError:
                file, how = self._reader.file, exit_in_words(self._reader.end())
                self._reader = None
        where = file or "The source"
        raise SourceError(where, f"the process that read it {how}, twice", _MEND)


class IsolatedSource(IsolatedReader):
    """A source whose basins are read by another process."""

    def basins(self) -> list[str]:
        """Return the basins of the source; raises the errors of creating it."""
        basins: list[str] = self.ask("basins")
        return basins

    def read(self, basin: str) -> BasinData:
        """Return a basin's data."""
        data: BasinData = self.ask("read", basin)
        return data


class _Reader:
    """A process that holds the object; `file` is the one that it started to read last."""

    def __init__(self, make: Callable[..., Any], roots: tuple[Path, ...] | None) -> None:
        self.file: str | None = None
        spawned = spawn_context()
        self._connection, there = spawned.Pipe()
        self._process = spawned.Process(target=_serve, args=(there, make, roots), daemon=True)
        self._process.start()
        there.close()

    def ask(self, patience: float, method: str, *arguments: str) -> Any:
        """Call a method of the object, and return its result."""
        try:
            self._connection.send((method, arguments))
        except BrokenPipeError:
            raise EOFError from None
        while True:
            # Starting the process and listing an archive may take long.
            if not self._connection.poll(None if self.file is None else patience):
                raise TimeoutError
            what, content = self._connection.recv()
            match what:
                case "file":
                    self.file = content
                case "problem":
                    problem = Problem(content[2])
                    problem.kind, problem.exit_code = content[:2]
                    raise problem
                case _:
                    return content

    def kill(self) -> None:
        self._process.kill()
        self.end()

    def end(self) -> int:
        self._connection.close()
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode


def _serve(connection: Connection, make: Callable[..., Any], roots: tuple[Path, ...] | None) -> None:
    end_with_parent()
    leave_signals_to_parent(signal.SIGINT)
    limit()
    files = Files(roots, lambda name: connection.send(("file", name)))
    source: Any = None
    with closing(connection):
        while True:
            try:
                method, arguments = connection.recv()
            except EOFError:  # the command has finished or died
                return
            try:
                source = source or make(files=files)
                connection.send(("done", getattr(source, method)(*arguments)))
            except Problem as problem:
                connection.send(("problem", (problem.kind, problem.exit_code, str(problem))))
            except OSError as error:
                sentence = f"{error.filename or 'A file'} cannot be used: {error.strerror or error}."
                connection.send(("problem", (DataProblem.kind, DataProblem.exit_code, sentence)))
