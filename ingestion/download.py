"""Downloads a file over HTTP: resumable, verified, and stored atomically."""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

import httpx2
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

from hydrology.base.digests import file_sha256
from hydrology.base.errors import InvalidInput, Problem
from ingestion.client import (
    USUAL_PACE,
    AddressProblem,
    Deadline,
    Pace,
    UnknownHost,
    get,
    http_address,
    public_client,
    shown,
)
from jobspec.addresses import HostPort

Progress = Callable[[int, int | None], None]

_ATTEMPTS = 6
_MAX_NAME = 200  # file systems allow 255 bytes, and `.part.etag` is added


class DownloadError(Problem):
    """A file could not be fetched. The text gives the address, without its secrets, and the cause."""

    kind = "download-failed"
    exit_code = 4


class _PassingError(DownloadError):
    """A failure that a retry may resolve."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one download.

    Attributes:
        size: bytes of the file. The largest published archive read here, Caravan's, has some 25 GiB.
        seconds: for all attempts together. The bytes received stay, and the next download resumes from them.
        spare: bytes that stay free on the disk, for the records beside it.
    """

    size: int = 64 * 2**30
    seconds: float = 2 * 3600
    spare: int = 2**30
    pace: Pace = USUAL_PACE


_USUAL_LIMITS = Limits()


def fetch(
    url: str,
    folder: Path,
    *,
    sha256: str | None = None,
    allowed: Collection[HostPort] = (),
    limits: Limits = _USUAL_LIMITS,
    on_progress: Progress = lambda _done, _total: None,
) -> Path:
    """Fetch a file into a folder, named by the last part of the URL's path; return its path.

    The bytes go to `<name>.part`. An interrupted transfer is resumed, in this call or the next, where the server has a
    strong ETag and still the same file; otherwise it starts again. Only a complete, verified file gets the name. With a
    checksum, an existing file that matches is not fetched again. No other user can read the file.

    Args:
        allowed: hosts with their ports that need no public address.
        on_progress: called with the bytes received and the total (None: the server does not state it).
    """
    address = http_address(url)
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InvalidInput(f"{sha256!r} is not a SHA-256 checksum: give 64 hexadecimal digits.")
    target = folder / _file_name(address)
    if sha256 is not None and target.is_file() and file_sha256(target) == sha256.lower():
        return target
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _held(target.with_name(f"{target.name}.part"), address, on_progress) as part:
        part.max_bytes = min(limits.size, max(0, shutil.disk_usage(folder).free + part.size - limits.spare))
        _fetch_part(part, Deadline(limits.seconds), allowed, limits.pace)
        if sha256 is not None and (digest := file_sha256(part.path)) != sha256.lower():
            part.discard()
            raise DownloadError(
                f"{part.name} has the SHA-256 {digest}, not {sha256.lower()}: the file was discarded; "
                "check the address and the checksum."
            )
        os.fsync(part.file.fileno())
        part.etag.unlink(missing_ok=True)
        part.path.replace(target)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return target


@dataclass(slots=True)
class _Part:
    """A download's unfinished file, and beside it the ETag of the whole."""

    path: Path
    file: BinaryIO
    address: httpx2.URL
    on_progress: Progress
    max_bytes: int = 0

    @property
    def name(self) -> str:
        return shown(self.address)

    @property
    def etag(self) -> Path:
        return self.path.with_name(f"{self.path.name}.etag")

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def validator(self) -> str | None:
        """Return the strong ETag for resuming, or None to start again."""
        return self.etag.read_text(encoding="utf-8") if self.size and self.etag.is_file() else None

    def begin(self, etag: str | None = None) -> None:
        """Empty the part, and store the ETag if it allows resuming."""
        self.etag.unlink(missing_ok=True)
        self.file.truncate(0)
        if etag is not None and etag.startswith('"') and etag.isascii():
            self.etag.write_text(etag, encoding="utf-8")

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self.etag.unlink(missing_ok=True)

    def check_size(self, size: int) -> None:
        if size > self.max_bytes:
            self.begin()
            raise DownloadError(
                f"{self.name} has more than the {self.max_bytes} bytes that a download may have, or that the disk "
                "has room for: fetch it by other means and ingest the file."
            )


@contextmanager
def _held(path: Path, address: httpx2.URL, on_progress: Progress) -> Iterator[_Part]:
    """Open a part for this process exclusively. Remove it if it stays empty."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another process may have renamed the part to its final name since it was opened here.
            mine = os.path.samestat(os.fstat(file.fileno()), path.stat())
        except (BlockingIOError, FileNotFoundError):
            mine = False
        if not mine:
            raise DownloadError(f"{shown(address)} is being fetched already: wait for that to end.")
        part = _Part(path, file, address, on_progress)
        try:
            yield part
        finally:
            if path.exists() and not part.size:
                part.discard()


@retry(
    retry=retry_if_exception_type(_PassingError),
    stop=stop_after_attempt(_ATTEMPTS),
    wait=wait_exponential(multiplier=1, max=30),
    reraise=True,
)
def _fetch_part(part: _Part, deadline: Deadline, allowed: Collection[HostPort], pace: Pace) -> None:
    validator = part.validator()
    headers = {} if validator is None else {"Range": f"bytes={part.size}-", "If-Range": validator}
    try:
        with public_client(deadline, allowed, pace) as client, get(client, part.address, headers) as response:
            _check_status(response, part)
            _receive(response, part)
    except AddressProblem as problem:
        error = _PassingError if isinstance(problem, UnknownHost) else DownloadError
        raise error(f"{part.name} could not be fetched. {problem}") from problem
    except httpx2.TransportError as error:
        raise _PassingError(
            f"{part.name} could not be fetched ({type(error).__name__}) in {_ATTEMPTS} attempts: "
            "check the network and start again, the part received is retained."
        ) from error


def _receive(response: httpx2.Response, part: _Part) -> None:
    total: int | None
    if response.status_code == HTTPStatus.PARTIAL_CONTENT:
        total = _resumed_total(response, part)
    else:
        part.begin(response.headers.get("ETag"))
        length = response.headers.get("Content-Length", "")
        total = int(length) if re.fullmatch("[0-9]{1,18}", length) else None
    received = part.size
    part.check_size(total or 0)
    try:
        for chunk in response.iter_raw():
            received += len(chunk)
            part.check_size(received)
            part.file.write(chunk)
            part.on_progress(received, total)
    finally:
        part.file.flush()
    if total is not None and received != total:
        if received > total:
            part.begin()
        raise _PassingError(
            f"{part.name} ended after {received} of {total} bytes in each of {_ATTEMPTS} attempts. Ingest again later."
        )


def _check_status(response: httpx2.Response, part: _Part) -> None:
    name, status = part.name, response.status_code
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        part.begin()
        raise _PassingError(f"{name} cannot be resumed: start again.")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise _PassingError(f"{name}: the server answers {status} in each of {_ATTEMPTS} attempts. Ingest again later.")
    if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        raise DownloadError(f"{name}: the server answers {status}: check the address and your access.")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise DownloadError(f"{name}: the server sends the file compressed, unasked: fetch it by other means.")


def _resumed_total(response: httpx2.Response, part: _Part) -> int:
    stated = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]+/([0-9]{1,18})", response.headers.get("Content-Range", ""))
    is_same_file = response.headers.get("ETag") == part.validator()
    if stated is None or not is_same_file or int(stated[1]) != part.size:
        part.begin()
        raise _PassingError(f"{part.name}: the server sends another range or file than asked: start again.")
    return int(stated[2])


def _file_name(address: httpx2.URL) -> str:
    name = unquote(address.raw_path.partition(b"?")[0].decode("ascii").rpartition("/")[2])
    if name in ("", ".", "..") or not name.isprintable() or "/" in name or "\\" in name:
        raise InvalidInput(f"{shown(address)} ends in no file name: give the address of one file.")
    if len(name.encode()) > _MAX_NAME:
        raise InvalidInput(f"The file name in the address has more than {_MAX_NAME} bytes: give another address.")
    return name
