"""A receiver of webhooks on this machine: it records requests, and answers as configured."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LATE = -1
"""An answer that comes after the sender has hung up."""
Answers = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Received:
    """A request, and the status that it was answered with."""

    headers: dict[str, str]
    body: bytes
    answer: int


@dataclass
class Receiver:
    """A server that records requests.

    Attributes:
        answers: gives the status of each answer, or LATE.
        hung_up: seconds after which a sender is known to have hung up.
    """

    answers: Answers = lambda: 204
    hung_up: float = 2.0
    port: int = 0
    requests: list[Received] = field(default_factory=list)

    @property
    def host(self) -> tuple[str, int]:
        """The host and port, as a setting allows them."""
        return "127.0.0.1", self.port

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/hook"


@contextmanager
def receiving(receiver: Receiver) -> Iterator[Receiver]:
    """Run a receiver until the block ends."""
    lock, closing = threading.Lock(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                answer = receiver.answers()
                receiver.requests.append(Received(dict(self.headers.items()), body, answer))
            if answer == LATE:
                closing.wait(receiver.hung_up)
            self.send_response(200 if answer == LATE else answer)
            if 300 <= answer < 400:
                self.send_header("Location", f"{receiver.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            pass

    class Listener(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # a sender that has hung up

    listener = Listener(("127.0.0.1", receiver.port), Handler)
    receiver.port = listener.server_port
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        closing.set()
        listener.shutdown()
        thread.join()
        listener.server_close()
