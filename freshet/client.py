"""A client of the API: post a job, watch it, read forecasts."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import httpx2

from hydrology.errors import DataProblem, Problem

ENDED = ("succeeded", "failed", "cancelled")
SECONDS_BETWEEN_LOOKS = 0.3


class ServiceError(Problem):
    """The service refused a request or does not answer. The text is the service's own."""

    kind = "service-error"
    exit_code = 5


class Client:
    """Talks to one service.

    Args:
        address: such as http://127.0.0.1:8000.
        token: of a key; without one only reading is possible.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx2.Client(base_url=address, headers=headers, timeout=30, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def ready(self) -> bool:
        """Return whether the service can answer."""
        try:
            return self._http.get("/health/ready").status_code == 200
        except httpx2.TransportError:
            return False

    def post_job(self, kind: str, params: dict[str, Any]) -> dict[str, Any]:
        """Post a job and return it.

        Raises:
            ServiceError: the service refused it.
        """
        return self._json("POST", "/v1/jobs", json={"kind": kind, "params": params})

    def watch(self, job: str, on_look: Callable[[dict[str, Any]], None] = lambda _job: None) -> dict[str, Any]:
        """Wait until a job has ended, and return it.

        Args:
            on_look: gets the job as it stands, now and then.

        Raises:
            DataProblem: it failed or was cancelled; the sentence is the job's.
        """
        while True:
            found = self._json("GET", f"/v1/jobs/{job}")
            on_look(found)
            if found["status"] in ENDED:
                break
            time.sleep(SECONDS_BETWEEN_LOOKS)
        if found["status"] != "succeeded":
            said = (found.get("problem") or {}).get("detail", "somebody asked for it.")
            raise DataProblem(f"Job {job} {found['status']}: {said}")
        return found

    def parts(self, job: str) -> list[dict[str, Any]]:
        """Return the jobs that a job is made of."""
        found: list[dict[str, Any]] = self._json("GET", "/v1/jobs", params={"parent": job})["jobs"]
        return found

    def latest_forecasts(self, basins: Sequence[str], units: str = "m3/s") -> dict[str, Any]:
        """Return the latest forecasts of some basins in one answer."""
        return self._json("GET", "/v1/forecasts", params={"basins": ",".join(basins), "units": units})

    def get(self, path: str, **params: str) -> dict[str, Any]:
        """Return what lies at a path."""
        return self._json("GET", path, params=params)

    def _json(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        try:
            answer = self._http.request(method, path, **content)
        except httpx2.TransportError as error:
            raise ServiceError(f"The service at {self._http.base_url} does not answer ({error}).") from error
        body: dict[str, Any] = answer.json()
        if answer.status_code >= 400:
            raise ServiceError(f"The service refused {method} {path}: {body.get('detail', answer.status_code)}")
        return body
