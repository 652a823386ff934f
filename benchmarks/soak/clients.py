"""Clients that read and post all the while, and every answer that they got."""

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any

import httpx2

from benchmarks.service.running import Service
from benchmarks.soak.requests import READ, Post, post

READERS = 2
READ_EVERY, POST_EVERY = 0.25, 3.0  # seconds
MAX_QUEUED = 5  # jobs: what posts waits while there are more
QUEUED = "/v1/jobs?status=queued"


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a request.

    Attributes:
        route: the request, as it is counted.
        started, ended: when it was sent, and when its answer was there or had failed to come.
        status: of the answer; None where none came.
    """

    route: str
    started: float
    ended: float
    status: int | None

    @property
    def in_words(self) -> str:
        """The class of its status: `2xx`, or `none`."""
        return "none" if self.status is None else f"{self.status // 100}xx"

    @property
    def is_failure(self) -> bool:
        """Whether no answer came, or one that reports a fault of the service."""
        return self.status is None or self.status >= 500


class Clients:
    """Readers, and one client that posts; what it posts it sends again under the same key until it is answered.

    Args:
        names: what stands for the names in the addresses.

    Attributes:
        answers: all.
        accepted: what each accepted job was, by its id.
    """

    def __init__(self, service: Service, names: Mapping[str, str], seed: int) -> None:
        self._service, self._names = service, names
        self._ended = threading.Event()
        readers = (self._reader(random.Random(seed + number)) for number in range(READERS))
        acts = [*((read, READ_EVERY) for read in readers), (self._poster(), POST_EVERY)]
        self._threads = [threading.Thread(target=self._again, args=act, daemon=True) for act in acts]
        self.answers: list[Answer] = []
        self.accepted: dict[str, str] = {}

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _again(self, act: Callable[[httpx2.Client], None], seconds: float) -> None:
        with self._service.client() as client:
            while not self._ended.wait(seconds):
                act(client)

    def _reader(self, chance: random.Random) -> Callable[[httpx2.Client], None]:
        addresses: list[str] = []

        def read(client: httpx2.Client) -> None:
            if not addresses:
                addresses.extend(chance.sample(READ, len(READ)))
            address = addresses.pop()
            self._ask(client, f"GET {address}", "GET", address.format_map(self._names))

        return read

    def _poster(self) -> Callable[[httpx2.Client], None]:
        numbers = count()
        unanswered: list[Post] = []

        def send(client: httpx2.Client) -> None:
            queued = self._ask(client, f"GET {QUEUED}", "GET", QUEUED)
            if queued is not None and queued.is_success and len(queued.json()["jobs"]) > MAX_QUEUED:
                return
            if not unanswered:
                unanswered.append(post(next(numbers)))
            (asked,) = unanswered
            headers = {"Idempotency-Key": asked.key}
            response = self._ask(client, f"POST {asked.what}", "POST", asked.path, json=asked.body, headers=headers)
            if response is None or response.is_server_error:
                return
            unanswered.clear()
            if response.is_success:
                self.accepted[response.json()["id"]] = asked.what

        return send

    def _ask(self, client: httpx2.Client, route: str, method: str, path: str, **sent: Any) -> httpx2.Response | None:
        started = monotonic()
        try:
            response = client.request(method, path, **sent)
        except httpx2.TransportError:
            response = None
        status = None if response is None else response.status_code
        self.answers.append(Answer(route, started, monotonic(), status))
        return response
