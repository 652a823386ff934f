"""Fetch a file over HTTP: resumed where it was cut, verified, and put in place whole or not at all."""

import fcntl
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

import httpx2
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

from hydrology.errors import InvalidInput, Problem

# The client logs whole URLs, and a query may carry a secret.
logging.getLogger("httpx2").setLevel(logging.WARNING)

Progress = Callable[[int, int | None], None]

_ATTEMPTS = 6
_TIMEOUT = httpx2.Timeout(60, connect=10)


class DownloadError(Problem):
    """A file could not be fetched. The text names the address, without its secrets, and the cause."""

    kind = "download-failed"
    exit_code = 4


class _PassingError(DownloadError):
    """A failure that another attempt may mend."""


def fetch(url: str, folder: Path, *, sha256: str | None = None, on_progress: Progress | None = None) -> Path:
    """Fetch a file into a folder under the last part of the URL's path, and return where it lies.

    The bytes go to `<name>.part`. A cut transfer is resumed, in this call or the next, where the server has a
    strong ETag and still the same file; otherwise it begins again. Only a whole, verified file takes the
    name. With a checksum a file that is already there and right is not fetched again.

    Args:
        url: http or https; a user and password in it are sent in a header.
        folder: made if it is not there.
        sha256: the checksum that the file must have, in hexadecimal.
        on_progress: called with the bytes that are here and the bytes there will be (None: not told).

    Raises:
        InvalidInput: the URL or the checksum cannot be used.
        DownloadError: the server refuses, keeps failing, or sends other bytes than the checksum's.
    """
    address = _address(url)
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InvalidInput(f"{sha256!r} is not a SHA-256 checksum: give 64 hexadecimal digits.")
    target = folder / _file_name(address)
    if sha256 is not None and target.is_file() and _digest(target) == sha256.lower():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = _Part(target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.etag"))
    with part.held(shown(address)) as file:
        _transfer(address, part, file, on_progress or _no_progress)
        if sha256 is not None and (found := _digest(part.path)) != sha256.lower():
            part.discard()
            raise DownloadError(
                f"{shown(address)} has the SHA-256 {found}, not {sha256.lower()}: the file was discarded; "
                "check the address and the checksum."
            )
        os.fsync(file.fileno())
        part.etag.unlink(missing_ok=True)
        part.path.replace(target)
    _sync_folder(folder)
    return target


def shown(address: httpx2.URL) -> str:
    """Return an address as people may see it: without user, password, query and fragment."""
    return str(address.copy_with(username=None, password=None, query=None, fragment=None))


@dataclass(frozen=True, slots=True)
class _Part:
    """The unfinished file, and the ETag of what it is a part of."""

    path: Path
    etag: Path

    @contextmanager
    def held(self, name: str) -> Iterator[BinaryIO]:
        """Open the part for this process alone; leave none that is empty."""
        with self.path.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Its last holder may have given the part its final name since it was opened here.
                mine = os.path.samestat(os.fstat(file.fileno()), self.path.stat())
            except (BlockingIOError, FileNotFoundError):
                mine = False
            if not mine:
                raise DownloadError(f"{name} is being fetched already: wait for that to end.")
            try:
                yield file
            finally:
                if self.path.exists() and not self.path.stat().st_size:
                    self.discard()

    def validator(self) -> str | None:
        """Return the strong ETag that a resumed transfer must still have, or None to begin again."""
        if not self.path.stat().st_size or not self.etag.is_file():
            return None
        return self.etag.read_text(encoding="utf-8")

    def begin(self, file: BinaryIO, etag: str | None) -> None:
        """Empty the part, and keep the ETag if it is one to resume by."""
        self.etag.unlink(missing_ok=True)
        file.truncate(0)
        if etag is not None and etag.startswith('"'):
            self.etag.write_text(etag, encoding="utf-8")

    def discard(self) -> None:
        """Remove what is there."""
        self.path.unlink(missing_ok=True)
        self.etag.unlink(missing_ok=True)


@retry(
    retry=retry_if_exception_type(_PassingError),
    stop=stop_after_attempt(_ATTEMPTS),
    wait=wait_exponential(multiplier=1, max=30),
    reraise=True,
)
def _transfer(address: httpx2.URL, part: _Part, file: BinaryIO, on_progress: Progress) -> None:
    # A compressed transfer would have other lengths and ranges than the file.
    headers = {"Accept-Encoding": "identity"}
    validator = part.validator()
    if validator is not None:
        headers |= {"Range": f"bytes={part.path.stat().st_size}-", "If-Range": validator}
    try:
        with (
            httpx2.Client(timeout=_TIMEOUT, follow_redirects=True) as client,
            client.stream("GET", address, headers=headers) as response,
        ):
            _receive(response, shown(address), part, file, on_progress)
    except httpx2.UnsupportedProtocol as error:
        raise DownloadError(f"{shown(address)} leads to an address that is neither http nor https.") from error
    except httpx2.TooManyRedirects as error:
        raise DownloadError(f"{shown(address)} leads from one address to the next without end.") from error
    except httpx2.TransportError as error:
        raise _PassingError(
            f"{shown(address)} could not be fetched ({type(error).__name__}) in {_ATTEMPTS} attempts: "
            "check the network and start again, what is here is kept."
        ) from error


def _receive(response: httpx2.Response, name: str, part: _Part, file: BinaryIO, on_progress: Progress) -> None:
    _check_status(response, name, part, file)
    total: int | None
    if response.status_code == HTTPStatus.PARTIAL_CONTENT:
        total = _resumed_total(response, name, part, file)
    else:
        part.begin(file, response.headers.get("ETag"))
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isdigit() else None
    done = part.path.stat().st_size
    try:
        for chunk in response.iter_raw():
            file.write(chunk)
            done += len(chunk)
            on_progress(done, total)
    finally:
        file.flush()
    if total is not None and done != total:
        if done > total:
            part.begin(file, None)
        raise _PassingError(f"{name} ended after {done} of {total} bytes in each of {_ATTEMPTS} attempts: try later.")


def _check_status(response: httpx2.Response, name: str, part: _Part, file: BinaryIO) -> None:
    status = response.status_code
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        part.begin(file, None)
        raise _PassingError(f"{name} cannot be resumed: start again.")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise _PassingError(f"{name}: the server answers {status} in each of {_ATTEMPTS} attempts: try later.")
    if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        raise DownloadError(f"{name}: the server answers {status}: check the address and your access.")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise DownloadError(f"{name}: the server sends the file compressed, unasked: fetch it by other means.")


def _resumed_total(response: httpx2.Response, name: str, part: _Part, file: BinaryIO) -> int:
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
    same = response.headers.get("ETag") == part.validator()
    if found is None or not same or int(found[1]) != part.path.stat().st_size:
        part.begin(file, None)
        raise _PassingError(f"{name}: the server sends another range or file than asked: start again.")
    return int(found[2])


def _address(url: str) -> httpx2.URL:
    try:
        address = httpx2.URL(url)
    except httpx2.InvalidURL:
        # Neither the text nor the parser's words are repeated: a password may be in them.
        raise InvalidInput("The address is not a URL: give http://… or https://….") from None
    if address.scheme not in ("http", "https") or not address.host:
        raise InvalidInput("The address is neither http nor https: give http://… or https://….")
    return address


def _file_name(address: httpx2.URL) -> str:
    name = unquote(address.raw_path.partition(b"?")[0].decode("ascii").rpartition("/")[2])
    if name in ("", ".", "..") or not name.isprintable() or "/" in name or "\\" in name:
        raise InvalidInput(f"{shown(address)} ends in no file name: give the address of one file.")
    return name


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _no_progress(_done: int, _total: int | None) -> None:
    pass
