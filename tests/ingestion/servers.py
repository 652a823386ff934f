"""A small web server on this machine that gives the answers a test chooses."""

import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """A server that gives one answer a request, the last one again and again, and records the requests' headers."""

    address: str = "127.0.0.1"
    port: int = 0
    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)

    @property
    def host(self) -> tuple[str, int]:
        """The host and port, as a setting allows them."""
        return self.address, self.port

    def url(self, path: str = "/data/set.zip", host: str | None = None, scheme: str = "http") -> str:
        """Return the address of a path, of this host or under another name for it."""
        return f"{scheme}://{host or self.address}:{self.port}{path}"


@contextmanager
def serving(address: str = "127.0.0.1", port: int = 0, secured: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server until the block ends; with a context it speaks TLS."""
    state = Server(address)

    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            state.requests.append(dict(self.headers.items()) | {"path": self.path, "method": self.command})
            answer = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            answer(self)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the base looks for these names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            pass

    class Listener(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            pass  # a client that hangs up is what some tests are about

    listener = Listener((address, port), Handler)
    if secured is not None:
        listener.socket = secured.wrap_socket(listener.socket, server_side=True)
    state.port = listener.server_port
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    listener.shutdown()
    thread.join()
    listener.server_close()


def whole(content: bytes, etag: str | None = '"v1"', sent: int | None = None) -> Answer:
    """200 with all of the content; the connection is closed after `sent` bytes of it."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        if etag is not None:
            request.send_header("ETag", etag)
        request.end_headers()
        request.wfile.write(content[:sent])

    return answer


def rest(content: bytes, etag: str = '"v1"', shift: int = 0) -> Answer:
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


def dribbled(part: str) -> Answer:
    """A byte at a time without end, of the `headers` or of the `body`, always soon enough for a limit on silence."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        if part == "headers":
            request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        else:
            request.send_response(200)
            request.end_headers()
        while True:
            request.wfile.write(b"x")
            request.wfile.flush()
            time.sleep(0.01)

    return answer


def status(code: int, **headers: str) -> Answer:
    """An answer without a body; `_` in a header's name stands for `-`."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer
