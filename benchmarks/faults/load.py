"""Reading and posting all the while, and the account of it."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count

import httpx2
from sqlalchemy import select

from benchmarks.service.running import Service
from benchmarks.service.store import BASINS, FIRST_T0
from benchmarks.speed.country import SyntheticCountry
from benchmarks.speed.warm_forecast import SPIN_UP
from hydrology.base.calendar import Day
from records.database.engine import Database
from records.jobs import jobs
from records.runs.run_types import RUNS

READ_EVERY, POST_EVERY, ASK_EVERY = 0.2, 3.0, 0.3  # seconds

_numbers = count()


class Load:
    """Clients of a service.

    Args:
        basin: whose forecasts are read.
        first_t0: forecasts start on this day and those after it.

    Attributes:
        accepted: when each job was accepted, by its id.
        reads, reads_failed: answers, and those that did not come or reported a fault of the service.
        codes: degradations that the service reported.
    """

    def __init__(
        self, service: Service, basin: str = SyntheticCountry(BASINS).basins()[0], first_t0: Day = FIRST_T0
    ) -> None:
        self._service, self._basin, self._first_t0 = service, basin, first_t0
        self._database = Database(service.database_url)
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._again, args=each, daemon=True)
            for each in ((self._read, READ_EVERY), (self._post, POST_EVERY), (self._ask, ASK_EVERY))
        ]
        self.accepted: dict[str, float] = {}
        self.reads = self.reads_failed = 0
        self.codes: set[str] = set()

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Post and read no more, and wait until what was posted has ended."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def until_back(self, over_at: float, usual: set[str], patience: float) -> float:
        """Return the seconds from an instant until the service has recovered and done all jobs posted by then.

        Args:
            usual: the codes of degradations that do not count.

        Raises:
            SystemExit: it takes longer than `patience`.
        """
        while True:
            posted = dict(self.accepted)
            awaited = [job for job, at in posted.items() if at <= over_at]
            later = [job for job, at in posted.items() if at > over_at][:1]
            is_done = later and all(self._has_ended(job) for job in awaited + later)
            if is_done and self._service.is_mended(usual):
                return time.monotonic() - over_at
            if time.monotonic() - over_at > patience:
                raise SystemExit(f"It is not back after {patience:g} seconds: {awaited + later}.")
            time.sleep(0.1)

    def account(self) -> tuple[int, int]:
        """Return how many of the accepted jobs were lost, and how many left more than one run."""
        end = time.monotonic() + 60
        while not all(self._has_ended(job) for job in self.accepted) and time.monotonic() < end:
            time.sleep(0.2)
        with self._database.reading() as session:
            statuses = Counter(jobs.get(session, job).status for job in self.accepted)
            keys = session.scalars(select(RUNS.c.request_key)).all()
        runs = Counter(key for key in keys if key in self.accepted)
        self._database.close()
        return len(self.accepted) - statuses["succeeded"], sum(number > 1 for number in runs.values())

    def _has_ended(self, job: str) -> bool:
        with self._database.reading() as session:
            return jobs.get(session, job).status in jobs.ENDED

    def _again(self, act: Callable[[httpx2.Client], None], seconds: float) -> None:
        with self._service.client() as client:
            while not self._ended.wait(seconds):
                act(client)

    def _read(self, client: httpx2.Client) -> None:
        self.reads += 1
        try:
            answer = client.get(f"/v1/basins/{self._basin}/forecasts/latest")
            self.reads_failed += answer.is_server_error
        except httpx2.TransportError:
            self.reads_failed += 1

    def _post(self, client: httpx2.Client) -> None:
        number = next(_numbers)
        t0 = self._first_t0 + number % SPIN_UP
        body = {"kind": "forecast", "params": {"t0": str(t0), "horizon": 2 + number // SPIN_UP % 8}}
        try:
            answer = client.post("/v1/jobs", json=body, headers={"Idempotency-Key": f"drill-{number}"})
        except httpx2.TransportError:
            return  # whether it was stored is not known: it is not counted
        if not answer.is_server_error:
            answer.raise_for_status()
            self.accepted[answer.json()["id"]] = time.monotonic()

    def _ask(self, client: httpx2.Client) -> None:
        try:
            answer = client.get("/v1/status")
        except httpx2.TransportError:
            self.codes.add("(no answer)")
            return
        if answer.is_success:
            self.codes |= {each["code"] for each in answer.json()["degraded"]}
        else:
            self.codes.add(f"({answer.status_code})")
