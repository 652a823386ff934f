"""What the methods of all resources share: requests, answers as their types, pages."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.jobs.schemas import Job
from freshet.client.connection import Connection
from freshet.client.problems import ServiceError

Body = Mapping[str, Any]
"""The fields of a request as the API documents them."""
Answer = TypeVar("Answer", bound=BaseModel)
CSV = "text/csv"


class Resource:
    """Methods for a part of the API, on a connection that they share."""

    _connection: Connection

    def _read(self, answer: type[Answer], path: str, **params: Any) -> Answer:
        """Return the answer of a path; days and instants among the parameters are written in ISO 8601."""
        return parsed(answer, self._connection.get(path, _written(params)))

    def _send(self, answer: type[Answer], method: str, path: str, body: Body | None = None, **request: Any) -> Answer:
        """Send a request once, with a body in JSON if there is one, and return the answer."""
        content = {} if body is None else {"json": dict(body)}
        return parsed(answer, self._connection.send(method, path, **content, **request))

    def _upload(self, path: str, content: bytes, media_type: str, **params: Any) -> Job:
        """Post a file, once, and return the job that takes it in."""
        headers = {"Content-Type": media_type}
        sent = self._connection.send("POST", path, content=content, headers=headers, params=_written(params))
        return parsed(Job, sent)

    def _delete(self, path: str, **request: Any) -> None:
        self._connection.send("DELETE", path, **request)

    def _items(self, page: type[BaseModel], path: str, items: str, **params: Any) -> Iterator[Any]:
        """Yield the entries of a list, page after page.

        Args:
            items: the field of a page that holds them.

        Raises:
            ServiceError: pagination leads back to a page already read.
        """
        seen: set[str] = set()
        found: Any = self._read(page, path, **params)
        yield from getattr(found, items)
        while (following := getattr(found, "next", None)) is not None:
            if following in seen:
                raise ServiceError(
                    f"The pages of {path} lead back to a page already read: report this to the operator of the service."
                )
            seen.add(following)
            found = self._read(page, following)
            yield from getattr(found, items)


def parsed(answer: type[Answer], content: bytes) -> Answer:
    """Return an answer as its type.

    Raises:
        ServiceError: it is none.
    """
    try:
        return answer.model_validate_json(content, extra="ignore")
    except ValidationError:
        raise no_answer(answer.__name__) from None


def no_answer(what: str) -> ServiceError:
    """Return the error of an answer that this version does not know."""
    return ServiceError(f"The answer is not {what} as this version of Freshet knows it: use the service's version.")


def _written(params: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in params.items() if value is not None}
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in given.items()}
