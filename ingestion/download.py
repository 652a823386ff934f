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
from ingestion.addresses import AddressProblem, UnknownHost
from ingestion.client import USUAL_PACE, Deadline, Pace, get, http_address, public_client, shown
from jobspec.addresses import HostPort

Progress = Callable[[int, int | None], None]

_ATTEMPTS = 6
_MAX_NAME = 200  # file systems allow 255 bytes, and `.part.etag` is added


class DownloadError(Problem):
    """A file could not be fetched.

    The text gives the address, without its secrets, and the cause."""

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
        pace: the minimum speed of the transfer.
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
    on_progress: Progress | None = None,
) -> Path:
    """Fetch a file into a folder, named by the last part of the URL's path; return its path.

    The bytes go to `<name>.part`. An interrupted transfer is resumed, in this call or the next, where the server has a
    strong ETag and still the same file; otherwise it starts again. Only a complete, verified file gets the name. With a
    checksum, an existing file that matches is not fetched again. No other user can read the file.

    Args:
        url: http or https, without a user and password.
        folder: created if missing.
        sha256: the checksum that the file must have, in hexadecimal.
        allowed: hosts with their ports that need no public address.
        limits: of the download.
        on_progress: called with the bytes received and the total (None: the server does not state it).

    Raises:
        InvalidInput: the URL or the checksum cannot be used.
        DownloadError: the host is not public; the server refuses, fails repeatedly, sends too much or takes too long;
            or the file has another checksum.
    """
    address = http_address(url)
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InvalidInput(f"{sha256!r} is not a SHA-256 checksum: give 64 hexadecimal digits.")
    target = folder / _file_name(address)
    if sha256 is not None and target.is_file() and file_sha256(target) == sha256.lower():
        return target
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = _Part(target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.etag"))
    with part.held(shown(address)) as file:
        room = max(0, shutil.disk_usage(folder).free + part.size - limits.spare)
        transfer = _Transfer(address, part, file, min(limits.size, room), on_progress or _no_progress)
        _fetch_part(transfer, Deadline(limits.seconds), allowed, limits.pace)
        if sha256 is not None and (digest := file_sha256(part.path)) != sha256.lower():
            part.discard()
            raise DownloadError(
                f"{shown(address)} has the SHA-256 {digest}, not {sha256.lower()}: the file was discarded; "
                "check the address and the checksum."
            )
        os.fsync(file.fileno())
        part.etag.unlink(missing_ok=True)
        part.path.replace(target)
    _sync_folder(folder)
    return target


@dataclass(frozen=True, slots=True)
class _Part:
    """The unfinished file, and the ETag of the file that it is a part of."""

    path: Path
    etag: Path

    @property
    def size(self) -> int:
        """Number of bytes received."""
        return self.path.stat().st_size

    @contextmanager
    def held(self, name: str) -> Iterator[BinaryIO]:
        """Open the part for this process exclusively.

        Remove it if it stays empty."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Another process may have renamed the part to its final name since it was opened here.
                mine = os.path.samestat(os.fstat(file.fileno()), self.path.stat())
            except (BlockingIOError, FileNotFoundError):
                mine = False
            if not mine:
                raise DownloadError(f"{name} is being fetched already: wait for that to end.")
            try:
                yield file
            finally:
                if self.path.exists() and not self.size:
                    self.discard()

    def validator(self) -> str | None:
        """Return the strong ETag for resuming, or None to start again."""
        if not self.size or not self.etag.is_file():
            return None
        return self.etag.read_text(encoding="utf-8")

    def begin(self, file: BinaryIO, etag: str | None) -> None:
        """Empty the part, and store the ETag if it allows resuming."""
        self.etag.unlink(missing_ok=True)
        file.truncate(0)
        if etag is not None and etag.startswith('"') and etag.isascii():
            self.etag.write_text(etag, encoding="utf-8")

    def discard(self) -> None:
        """Remove the part and its ETag."""
        self.path.unlink(missing_ok=True)
        self.etag.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Transfer:
    """The source, destination and size limit of a transfer."""

    address: httpx2.URL
    part: _Part
    file: BinaryIO
    max_bytes: int
    on_progress: Progress

    @property
    def name(self) -> str:
        """The address for display."""
        return shown(self.address)


@retry(
    retry=retry_if_exception_type(_PassingError),
    stop=stop_after_attempt(_ATTEMPTS),
    wait=wait_exponential(multiplier=1, max=30),
    reraise=True,
)
def _fetch_part(transfer: _Transfer, deadline: Deadline, allowed: Collection[HostPort], pace: Pace) -> None:
    validator = transfer.part.validator()
    headers = {} if validator is None else {"Range": f"bytes={transfer.part.size}-", "If-Range": validator}
    try:
        with public_client(deadline, allowed, pace) as client, get(client, transfer.address, headers) as response:
            _receive(response, transfer)
    except UnknownHost as problem:
        raise _PassingError(f"{transfer.name} could not be fetched. {problem}") from problem
    except AddressProblem as problem:
        raise DownloadError(f"{transfer.name} could not be fetched. {problem}") from problem
    except httpx2.TransportError as error:
        raise _PassingError(
            f"{transfer.name} could not be fetched ({type(error).__name__}) in {_ATTEMPTS} attempts: "
            "check the network and start again, the part received is retained."
        ) from error


def _receive(response: httpx2.Response, transfer: _Transfer) -> None:
    _check_status(response, transfer)
    part, file = transfer.part, transfer.file
    total: int | None
    if response.status_code == HTTPStatus.PARTIAL_CONTENT:
        total = _resumed_total(response, transfer)
    else:
        part.begin(file, response.headers.get("ETag"))
        length = response.headers.get("Content-Length", "")
        total = int(length) if re.fullmatch("[0-9]{1,18}", length) else None
    received = part.size
    _check_size(transfer, total or 0)
    try:
        for chunk in response.iter_raw():
            received += len(chunk)
            _check_size(transfer, received)
            file.write(chunk)
            transfer.on_progress(received, total)
    finally:
        file.flush()
    if total is not None and received != total:
        if received > total:
            part.begin(file, None)
        raise _PassingError(
            f"{transfer.name} ended after {received} of {total} bytes in each of {_ATTEMPTS} attempts: try later."
        )


def _check_size(transfer: _Transfer, size: int) -> None:
    if size > transfer.max_bytes:
        transfer.part.begin(transfer.file, None)
        raise DownloadError(
            f"{transfer.name} has more than the {transfer.max_bytes} bytes that a download may have, or that the disk "
            "has room for: fetch it by other means and ingest the file."
        )


def _check_status(response: httpx2.Response, transfer: _Transfer) -> None:
    name, status = transfer.name, response.status_code
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        transfer.part.begin(transfer.file, None)
        raise _PassingError(f"{name} cannot be resumed: start again.")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise _PassingError(f"{name}: the server answers {status} in each of {_ATTEMPTS} attempts: try later.")
    if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        raise DownloadError(f"{name}: the server answers {status}: check the address and your access.")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise DownloadError(f"{name}: the server sends the file compressed, unasked: fetch it by other means.")


def _resumed_total(response: httpx2.Response, transfer: _Transfer) -> int:
    part = transfer.part
    stated = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]+/([0-9]{1,18})", response.headers.get("Content-Range", ""))
    is_same_file = response.headers.get("ETag") == part.validator()
    if stated is None or not is_same_file or int(stated[1]) != part.size:
        part.begin(transfer.file, None)
        raise _PassingError(f"{transfer.name}: the server sends another range or file than asked: start again.")
    return int(stated[2])


def _file_name(address: httpx2.URL) -> str:
    name = unquote(address.raw_path.partition(b"?")[0].decode("ascii").rpartition("/")[2])
    if name in ("", ".", "..") or not name.isprintable() or "/" in name or "\\" in name:
        raise InvalidInput(f"{shown(address)} ends in no file name: give the address of one file.")
    if len(name.encode()) > _MAX_NAME:
        raise InvalidInput(f"The file name in the address has more than {_MAX_NAME} bytes: give another address.")
    return name


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _no_progress(_done: int, _total: int | None) -> None:
    pass
