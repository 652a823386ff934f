"""The client: answers of the API as they are documented there, each with its type."""

import json
from types import TracebackType
from typing import Any, Self

from freshet.client.adjustments import Adjustments
from freshet.client.archives import Archives
from freshet.client.basins import Basins
from freshet.client.connection import Connection
from freshet.client.forecasts import Forecasts
from freshet.client.jobs import Jobs
from freshet.client.models import Models
from freshet.client.receivers import Receivers
from freshet.client.resource import no_answer
from freshet.client.weather import Weather


class Client(Basins, Forecasts, Adjustments, Models, Weather, Archives, Receivers, Jobs):
    """Talks to one service. Unknown fields of a newer service's answers are ignored.

    Every method raises `Refused` where the service reports a problem, with its type, title and detail, and
    `ServiceError` where it does not answer. Reading requests are retried while the service is unavailable.

    Args:
        address: such as http://127.0.0.1:8000.
        key: of an operator or admin; without one only public data can be read.

    Raises:
        InvalidInput: the address cannot be used.
    """

    def __init__(self, address: str, key: str | None = None, on_behalf_of: str | None = None) -> None:
        self._connection = Connection(address, key, on_behalf_of)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; `with` does so, too."""
        self._connection.close()

    def ready(self) -> bool:
        """Return whether the service can answer."""
        return self._connection.is_up("/health/ready")

    def get(self, path: str, **params: Any) -> Any:
        """Return the JSON of any path that has no method here."""
        content = self._connection.get(path, params)
        try:
            return json.loads(content)
        except ValueError:
            raise no_answer(path) from None
