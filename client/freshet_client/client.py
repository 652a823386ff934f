"""The client of one service."""

import json
import time
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import httpx2

from freshet_client.connection import Connection, JobFailed, Request, unknown_answer
from freshet_client.models import Job
from freshet_client.operations import Operations

if TYPE_CHECKING:
    import xarray

ENDED = ("succeeded", "failed", "cancelled")
SECONDS_BETWEEN_LOOKS = 0.3


class Client(Operations):
    """Talks to one service. Unknown fields of a newer service's answers are ignored.

    Every method raises `Refused` where the service reports a problem, with its type, title and detail, and
    `ServiceError` where it does not answer. Reading requests are retried while the service is unavailable.

    Args:
        address: such as http://127.0.0.1:8000.
        key: of an operator or admin; without one only public data can be read.
        on_behalf_of: the address of the client that the requests are for, which a service that trusts this one counts.
        transport: of httpx2, such as one with certificates of your own.

    Raises:
        InvalidAddress: it is not an address, or it contains a user name or password.
    """

    def __init__(
        self,
        address: str,
        key: str | None = None,
        on_behalf_of: str | None = None,
        *,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._connection = Connection(address, key, on_behalf_of, transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; `with` does so, too."""
        self._connection.close()

    def is_ready(self) -> bool:
        """Return whether the service can answer, without waiting for it."""
        return self._connection.is_up("/health/ready")

    def get(self, path: str, **query: Any) -> Any:
        """Return the plain JSON of any path."""
        try:
            return json.loads(self._content(Request("GET", path, query)))
        except ValueError:
            raise unknown_answer(path) from None

    def wait_for_job(self, job: str, on_look: Callable[[Job], None] = lambda _job: None) -> Job:
        """Wait until a job has ended, and return it.

        Args:
            on_look: called with the job's current state at each look.

        Raises:
            JobFailed: it failed or was cancelled.
        """
        while (current := self.read_job(job)).status not in ENDED:
            on_look(current)
            time.sleep(SECONDS_BETWEEN_LOOKS)
        on_look(current)
        if current.status != "succeeded":
            raise JobFailed(current)
        return current

    def open_archive(self, name: str = "forecasts.zarr") -> "xarray.Dataset":
        """Return a store of the archive as a dataset, whose values are read when they are used."""
        import xarray

        from freshet_client.archive_store import ArchiveReader

        store = ArchiveReader(partial(self._read_from_store, name))
        dataset: xarray.Dataset = xarray.open_zarr(store, consolidated=True, zarr_format=3, chunks=None)
        return dataset

    def _read_from_store(self, name: str, path: str, byte_range: str | None) -> bytes:
        return self.read_archive_file(f"{name}/{path}", range=byte_range)
