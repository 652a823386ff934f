"""Downloads from a real server that cuts, ignores, lies and fails."""

import fcntl
import logging
import os
import re
import time
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tenacity import wait_none

from hydrology.base.errors import InvalidInput
from ingestion import download
from ingestion.client import Pace
from ingestion.download import DownloadError, Limits, fetch
from tests.ingestion.servers import Answer, Server, dribbled, rest, serving, status, whole

CONTENT = bytes(range(256)) * 4096
CHECKSUM = sha256(CONTENT).hexdigest()
OTHER = CONTENT[::-1]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempts are the same, only without a pause between them."""
    monkeypatch.setattr(download._fetch_part.retry, "wait", wait_none())


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        yield state


def fetched(server: Server, folder: Path, url: str | None = None, sha256: str | None = None) -> Path:
    """Fetch from a server on this machine, which the settings allow."""
    return fetch(url or server.url(), folder, sha256=sha256, allowed=[server.host])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_put_in_place_whole(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT)]
    shown: list[tuple[int, int | None]] = []
    folder = tmp_path / "new" / "folder"
    path = fetch(
        server.url(),
        folder,
        sha256=CHECKSUM.upper(),
        allowed=[server.host],
        on_progress=lambda *now: shown.append(now),
    )
    assert path == folder / "set.zip"
    assert path.read_bytes() == CONTENT
    assert names(folder) == ["set.zip"]
    assert shown[-1] == (len(CONTENT), len(CONTENT))
    assert shown == sorted(shown)


def test_a_cut_transfer_is_resumed(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT, sent=300_000), rest(CONTENT)]
    path = fetched(server, tmp_path)
    assert path.read_bytes() == CONTENT
    assert [request.get("Range") for request in server.requests] == [None, "bytes=300000-"]
    assert server.requests[1]["If-Range"] == '"v1"'
    assert names(tmp_path) == ["set.zip"]


def test_the_next_call_resumes_what_the_last_one_left(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT, sent=300_000), status(404)]
    with pytest.raises(DownloadError, match="404"):
        fetched(server, tmp_path)
    assert names(tmp_path) == ["set.zip.part", "set.zip.part.etag"]
    server.answers = [rest(CONTENT)]
    assert fetched(server, tmp_path, sha256=CHECKSUM).read_bytes() == CONTENT
    assert server.requests[-1]["Range"] == "bytes=300000-"


def test_a_file_that_changed_is_fetched_from_its_beginning(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT, sent=300_000), rest(OTHER, '"v2"')]
    assert fetched(server, tmp_path).read_bytes() == OTHER


@pytest.mark.parametrize(
    "second", [whole(CONTENT), rest(CONTENT, shift=1), rest(CONTENT, shift=-1), status(416), status(500)]
)
def test_a_server_that_does_not_resume_is_asked_from_the_beginning(
    server: Server, tmp_path: Path, second: Answer
) -> None:
    server.answers = [whole(CONTENT, sent=300_000), second, whole(CONTENT)]
    assert fetched(server, tmp_path).read_bytes() == CONTENT


def test_a_part_of_another_file_than_asked_is_not_taken(server: Server, tmp_path: Path) -> None:
    def careless(request: BaseHTTPRequestHandler) -> None:
        request.headers.replace_header("If-Range", '"v2"')
        rest(OTHER, '"v2"')(request)

    server.answers = [whole(CONTENT, sent=300_000), careless, whole(OTHER, '"v2"')]
    assert fetched(server, tmp_path).read_bytes() == OTHER


@pytest.mark.parametrize("etag", [None, 'W/"v1"', '"\xff"'])
def test_without_a_strong_etag_nothing_is_resumed(server: Server, tmp_path: Path, etag: str | None) -> None:
    server.answers = [whole(CONTENT, sent=300_000, etag=etag), whole(CONTENT)]
    assert fetched(server, tmp_path).read_bytes() == CONTENT
    assert "Range" not in server.requests[1]


def test_wrong_bytes_are_discarded(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(OTHER)]
    with pytest.raises(DownloadError, match="not " + CHECKSUM):
        fetched(server, tmp_path, sha256=CHECKSUM)
    assert names(tmp_path) == []


def test_wrong_bytes_do_not_replace_what_is_there(server: Server, tmp_path: Path) -> None:
    (tmp_path / "set.zip").write_bytes(b"old")
    server.answers = [whole(OTHER)]
    with pytest.raises(DownloadError):
        fetched(server, tmp_path, sha256=CHECKSUM)
    assert (tmp_path / "set.zip").read_bytes() == b"old"


def test_a_right_file_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "set.zip").write_bytes(CONTENT)
    assert fetched(server, tmp_path, sha256=CHECKSUM) == tmp_path / "set.zip"
    assert server.requests == []


@pytest.mark.parametrize("checksum", [None, CHECKSUM])
def test_another_file_of_the_name_is_replaced(server: Server, tmp_path: Path, checksum: str | None) -> None:
    (tmp_path / "set.zip").write_bytes(OTHER)
    server.answers = [whole(CONTENT)]
    assert fetched(server, tmp_path, sha256=checksum).read_bytes() == CONTENT


def test_a_passing_failure_is_tried_again(server: Server, tmp_path: Path) -> None:
    server.answers = [status(503), whole(CONTENT)]
    assert fetched(server, tmp_path).read_bytes() == CONTENT


def test_a_lasting_failure_ends(server: Server, tmp_path: Path) -> None:
    server.answers = [status(503)]
    with pytest.raises(DownloadError, match="503 in each of 6 attempts"):
        fetched(server, tmp_path)
    assert len(server.requests) == 6
    assert names(tmp_path) == []


@pytest.mark.parametrize("code", [401, 404, 410])
def test_a_refusal_is_not_tried_again(server: Server, tmp_path: Path, code: int) -> None:
    server.answers = [status(code)]
    with pytest.raises(DownloadError, match=f"answers {code}"):
        fetched(server, tmp_path)
    assert len(server.requests) == 1
    assert names(tmp_path) == []


def test_a_server_that_is_not_there(server: Server, tmp_path: Path) -> None:
    server.port = 9  # discard: nobody listens
    with pytest.raises(DownloadError, match="ConnectError"):
        fetched(server, tmp_path)


def test_a_compressed_transfer_is_refused(server: Server, tmp_path: Path) -> None:
    server.answers = [status(200, Content_Encoding="gzip")]
    with pytest.raises(DownloadError, match="compressed"):
        fetched(server, tmp_path)
    assert server.requests[0]["Accept-Encoding"] == "identity"


def test_a_file_that_is_being_fetched_is_left_alone(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT)]
    part = tmp_path / "set.zip.part"
    with part.open("wb") as other:
        other.write(b"half")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(DownloadError, match="being fetched already"):
            fetched(server, tmp_path)
    assert part.read_bytes() == b"half"
    assert server.requests == []


def test_a_redirection_is_followed_to_http_alone(server: Server, tmp_path: Path) -> None:
    server.answers = [status(302, Location="/elsewhere"), whole(CONTENT)]
    assert fetched(server, tmp_path) == tmp_path / "set.zip"
    server.answers = [status(302, Location="ftp://127.0.0.1/set.zip")]
    with pytest.raises(DownloadError, match="neither http nor https"):
        fetched(server, tmp_path)
    server.answers = [status(302, Location="/data/set.zip")]
    with pytest.raises(DownloadError, match="more than 5 times"):
        fetched(server, tmp_path)


@pytest.mark.parametrize("code", [404, 503])
def test_a_query_is_sent_but_not_reported(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    server.answers = [status(code)]
    with caplog.at_level(logging.INFO), pytest.raises(DownloadError) as caught:
        fetched(server, tmp_path, server.url("/set.zip?token=hush"))
    assert server.url("/set.zip") in str(caught.value)
    assert server.requests[0]["path"] == "/set.zip?token=hush"
    assert "hush" not in str(caught.value)
    assert "hush" not in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "ftp://me:secret@host/a.zip",
        "file:///etc/secret",
        "me:secret@host/a.zip",
        "http://me:secret@host:x/",
        "https://me:secret@host/a.zip",
        "https://secret@host/a.zip",
        "secret",
    ],
)
def test_an_address_that_is_not_http_or_holds_a_password_is_refused_without_quoting_it(
    tmp_path: Path, url: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        fetch(url, tmp_path)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("path", ["", "/", "/data/", "/..", "/a/%2e%2e", "/a%2f..%2fb", "/a%5cb", "/a%00b"])
def test_an_address_without_a_file_name_is_refused(server: Server, tmp_path: Path, path: str) -> None:
    server.answers = [whole(CONTENT)]
    with pytest.raises(InvalidInput, match="no file name"):
        fetched(server, tmp_path, server.url(path))
    assert names(tmp_path) == []


def test_an_invalid_checksum_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="SHA-256"):
        fetched(server, tmp_path, sha256="abc")


def test_a_file_and_its_folder_are_readable_by_nobody_else(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT)]
    mask = os.umask(0)
    try:
        path = fetched(server, tmp_path / "downloads")
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_link_in_place_of_the_part_is_not_written_through(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT)]
    (tmp_path / "elsewhere").write_bytes(b"old")
    (tmp_path / "set.zip.part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        fetched(server, tmp_path)
    assert (tmp_path / "elsewhere").read_bytes() == b"old"


@pytest.mark.parametrize("stated", [True, False])
def test_more_than_a_download_may_have_is_not_stored(server: Server, tmp_path: Path, stated: bool) -> None:
    def flood(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("ETag", '"v1"')
        request.end_headers()
        while True:
            request.wfile.write(CONTENT)

    server.answers = [whole(CONTENT) if stated else flood]
    with pytest.raises(DownloadError, match="more than the 300000 bytes"):
        fetch(server.url(), tmp_path, allowed=[server.host], limits=Limits(size=300_000))
    assert names(tmp_path) == []
    assert len(server.requests) == 1


def test_the_disk_is_not_filled(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT)]
    with pytest.raises(DownloadError, match="room for"):
        fetch(server.url(), tmp_path, allowed=[server.host], limits=Limits(spare=2**60))
    assert names(tmp_path) == []


@pytest.mark.parametrize("part", ["headers", "body"])
@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (Limits(seconds=0.5), "longer than 0.5 seconds"),
        (Limits(pace=Pace(slowest=1000, window=0.5)), "fewer than 1000 bytes a second"),
    ],
    ids=["deadline", "pace"],
)
def test_a_server_that_dribbles_ends_at_the_limit(
    server: Server, tmp_path: Path, part: str, limits: Limits, sentence: str
) -> None:
    server.answers = [dribbled(part)]
    with pytest.raises(DownloadError, match=re.escape(sentence)):
        fetch(server.url(), tmp_path, allowed=[server.host], limits=limits)
    assert len(server.requests) == 1


def test_a_slow_but_steady_server_may_take_its_time(server: Server, tmp_path: Path) -> None:
    def send_slowly(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(CONTENT)))
        request.end_headers()
        for start in range(0, len(CONTENT), 2**17):
            request.wfile.write(CONTENT[start : start + 2**17])
            request.wfile.flush()
            time.sleep(0.05)

    server.answers = [send_slowly]
    limits = Limits(pace=Pace(slowest=1000, window=0.1))
    assert fetch(server.url(), tmp_path, allowed=[server.host], limits=limits).read_bytes() == CONTENT


def test_a_file_name_that_no_folder_takes_is_refused(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(CONTENT)]
    with pytest.raises(InvalidInput, match="more than 200 bytes"):
        fetched(server, tmp_path, server.url("/" + "x" * 201))
