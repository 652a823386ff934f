"""Downloads from a real server that cuts, ignores, lies and fails."""

import fcntl
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tenacity import wait_none

from hydrology.errors import InvalidInput
from ingestion import download
from ingestion.download import DownloadError, fetch

CONTENT = bytes(range(256)) * 4096
CHECKSUM = sha256(CONTENT).hexdigest()
OTHER = CONTENT[::-1]

Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempts are the same, only without a pause between them."""
    monkeypatch.setattr(download._transfer.retry, "wait", wait_none())


@dataclass
class Server:
    """A server that gives one answer a request, the last one again and again, and keeps the requests' headers."""

    port: int = 0
    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)

    def url(self, path: str = "/data/set.zip", user: str = "") -> str:
        return f"http://{user}127.0.0.1:{self.port}{path}"


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(dict(self.headers.items()) | {"path": self.path})
            answer = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = running.server_port
    thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    running.shutdown()
    thread.join()
    running.server_close()


def whole(content: bytes = CONTENT, etag: str | None = '"v1"', sent: int | None = None) -> Answer:
    """200 with all of the content; the connection is closed after `sent` bytes of it."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        if etag is not None:
            request.send_header("ETag", etag)
        request.end_headers()
        request.wfile.write(content[:sent])

    return answer


def rest(content: bytes = CONTENT, etag: str = '"v1"', shift: int = 0) -> Answer:
    """206 from where the request asks, as long as its If-Range still holds."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        if request.headers["If-Range"] != etag:
            whole(content, etag)(request)
            return
        start = int(request.headers["Range"].removeprefix("bytes=").removesuffix("-")) + shift
        request.send_response(206)
        request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        request.send_header("Content-Length", str(len(content) - start))
        request.send_header("ETag", etag)
        request.end_headers()
        request.wfile.write(content[start:])

    return answer


def status(code: int, **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_put_in_place_whole(server: Server, tmp_path: Path) -> None:
    server.answers = [whole()]
    told: list[tuple[int, int | None]] = []
    folder = tmp_path / "new" / "folder"
    path = fetch(server.url(), folder, sha256=CHECKSUM.upper(), on_progress=lambda *now: told.append(now))
    assert path == folder / "set.zip"
    assert path.read_bytes() == CONTENT
    assert names(folder) == ["set.zip"]
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert told == sorted(told)


def test_a_cut_transfer_is_resumed(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(sent=300_000), rest()]
    path = fetch(server.url(), tmp_path)
    assert path.read_bytes() == CONTENT
    assert [request.get("Range") for request in server.requests] == [None, "bytes=300000-"]
    assert server.requests[1]["If-Range"] == '"v1"'
    assert names(tmp_path) == ["set.zip"]


def test_the_next_call_resumes_what_the_last_one_left(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(sent=300_000), status(404)]
    with pytest.raises(DownloadError, match="404"):
        fetch(server.url(), tmp_path)
    assert names(tmp_path) == ["set.zip.part", "set.zip.part.etag"]
    server.answers = [rest()]
    assert fetch(server.url(), tmp_path, sha256=CHECKSUM).read_bytes() == CONTENT
    assert server.requests[-1]["Range"] == "bytes=300000-"


def test_a_file_that_changed_is_fetched_from_its_beginning(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(sent=300_000), rest(OTHER, '"v2"')]
    assert fetch(server.url(), tmp_path).read_bytes() == OTHER


@pytest.mark.parametrize("second", [whole(), rest(shift=1), rest(shift=-1), status(416), status(500)])
def test_a_server_that_does_not_resume_is_asked_from_the_beginning(
    server: Server, tmp_path: Path, second: Answer
) -> None:
    server.answers = [whole(sent=300_000), second, whole()]
    assert fetch(server.url(), tmp_path).read_bytes() == CONTENT


def test_a_part_of_another_file_than_asked_is_not_taken(server: Server, tmp_path: Path) -> None:
    def careless(request: BaseHTTPRequestHandler) -> None:
        request.headers.replace_header("If-Range", '"v2"')
        rest(OTHER, '"v2"')(request)

    server.answers = [whole(sent=300_000), careless, whole(OTHER, '"v2"')]
    assert fetch(server.url(), tmp_path).read_bytes() == OTHER


@pytest.mark.parametrize("etag", [None, 'W/"v1"'])
def test_without_a_strong_etag_nothing_is_resumed(server: Server, tmp_path: Path, etag: str | None) -> None:
    server.answers = [whole(sent=300_000, etag=etag), whole()]
    assert fetch(server.url(), tmp_path).read_bytes() == CONTENT
    assert "Range" not in server.requests[1]


def test_wrong_bytes_are_discarded(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(OTHER)]
    with pytest.raises(DownloadError, match="not " + CHECKSUM):
        fetch(server.url(), tmp_path, sha256=CHECKSUM)
    assert names(tmp_path) == []


def test_wrong_bytes_do_not_replace_what_is_there(server: Server, tmp_path: Path) -> None:
    (tmp_path / "set.zip").write_bytes(b"old")
    server.answers = [whole(OTHER)]
    with pytest.raises(DownloadError):
        fetch(server.url(), tmp_path, sha256=CHECKSUM)
    assert (tmp_path / "set.zip").read_bytes() == b"old"


def test_a_right_file_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "set.zip").write_bytes(CONTENT)
    assert fetch(server.url(), tmp_path, sha256=CHECKSUM) == tmp_path / "set.zip"
    assert server.requests == []


@pytest.mark.parametrize("checksum", [None, CHECKSUM])
def test_another_file_of_the_name_is_replaced(server: Server, tmp_path: Path, checksum: str | None) -> None:
    (tmp_path / "set.zip").write_bytes(OTHER)
    server.answers = [whole()]
    assert fetch(server.url(), tmp_path, sha256=checksum).read_bytes() == CONTENT


def test_a_passing_failure_is_tried_again(server: Server, tmp_path: Path) -> None:
    server.answers = [status(503), whole()]
    assert fetch(server.url(), tmp_path).read_bytes() == CONTENT


def test_a_lasting_failure_ends(server: Server, tmp_path: Path) -> None:
    server.answers = [status(503)]
    with pytest.raises(DownloadError, match="503 in each of 6 attempts"):
        fetch(server.url(), tmp_path)
    assert len(server.requests) == 6
    assert names(tmp_path) == []


@pytest.mark.parametrize("code", [401, 404, 410])
def test_a_refusal_is_not_tried_again(server: Server, tmp_path: Path, code: int) -> None:
    server.answers = [status(code)]
    with pytest.raises(DownloadError, match=f"answers {code}"):
        fetch(server.url(), tmp_path)
    assert len(server.requests) == 1
    assert names(tmp_path) == []


def test_a_server_that_is_not_there(server: Server, tmp_path: Path) -> None:
    server.port = 9  # discard: nobody listens
    with pytest.raises(DownloadError, match="ConnectError"):
        fetch(server.url(), tmp_path)


def test_a_compressed_transfer_is_refused(server: Server, tmp_path: Path) -> None:
    server.answers = [status(200, Content_Encoding="gzip")]
    with pytest.raises(DownloadError, match="compressed"):
        fetch(server.url(), tmp_path)
    assert server.requests[0]["Accept-Encoding"] == "identity"


def test_a_file_that_is_being_fetched_is_left_alone(server: Server, tmp_path: Path) -> None:
    server.answers = [whole()]
    part = tmp_path / "set.zip.part"
    with part.open("wb") as other:
        other.write(b"half")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(DownloadError, match="being fetched already"):
            fetch(server.url(), tmp_path)
    assert part.read_bytes() == b"half"
    assert server.requests == []


def test_a_redirection_is_followed_to_http_alone(server: Server, tmp_path: Path) -> None:
    server.answers = [status(302, Location="/elsewhere"), whole()]
    assert fetch(server.url(), tmp_path) == tmp_path / "set.zip"
    server.answers = [status(302, Location="ftp://127.0.0.1/set.zip")]
    with pytest.raises(DownloadError, match="neither http nor https"):
        fetch(server.url(), tmp_path)
    server.answers = [status(302, Location="/data/set.zip")]
    with pytest.raises(DownloadError, match="without end"):
        fetch(server.url(), tmp_path)


@pytest.mark.parametrize("code", [404, 503])
def test_secrets_of_the_address_are_sent_but_not_told(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    server.answers = [status(code)]
    with caplog.at_level(logging.INFO), pytest.raises(DownloadError) as caught:
        fetch(server.url("/set.zip?token=hush", "me:secret@"), tmp_path)
    assert f"http://127.0.0.1:{server.port}/set.zip" in str(caught.value)
    assert server.requests[0]["Authorization"].startswith("Basic ")
    assert server.requests[0]["path"] == "/set.zip?token=hush"
    for value in ("hush", "secret"):
        assert value not in str(caught.value)
        assert value not in caplog.text


@pytest.mark.parametrize(
    "url",
    ["ftp://me:secret@host/a.zip", "file:///etc/secret", "me:secret@host/a.zip", "http://me:secret@host:x/", "secret"],
)
def test_an_address_that_is_not_http_is_refused_untold(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        fetch(url, tmp_path)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("path", ["", "/", "/data/", "/..", "/a/%2e%2e", "/a%2f..%2fb", "/a%5cb", "/a%00b"])
def test_an_address_without_a_file_name_is_refused(server: Server, tmp_path: Path, path: str) -> None:
    server.answers = [whole()]
    with pytest.raises(InvalidInput, match="no file name"):
        fetch(server.url(path), tmp_path)
    assert names(tmp_path) == []


def test_a_checksum_that_is_none_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="SHA-256"):
        fetch(server.url(), tmp_path, sha256="abc")
