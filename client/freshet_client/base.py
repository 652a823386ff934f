"""What the generated methods share: answers as their types, and lists read page after page."""

from collections.abc import Iterator
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from freshet_client.connection import Connection, Request
from freshet_client.errors import ServiceError

Answer = TypeVar("Answer", bound=BaseModel)


class BaseClient:
    """Sends requests on a connection and reads the answers."""

    _connection: Connection

    def _content(self, request: Request) -> bytes:
        return self._connection.send(request)

    def _answer(self, model: type[Answer], request: Request) -> Answer:
        """Return an answer as its type; fields that this version does not know are ignored.

        Raises:
            ServiceError: it is another.
        """
        try:
            return model.model_validate_json(self._content(request), extra="ignore")
        except ValidationError:
            raise unknown_answer(model.__name__) from None

    def _items(self, page: type[BaseModel], items: str, request: Request) -> Iterator[Any]:
        """Yield the entries of a list, page after page.

        Args:
            items: the field of a page that holds them.

        Raises:
            ServiceError: pagination leads back to a page already read.
        """
        read: set[str] = set()
        current: Any = self._answer(page, request)
        yield from getattr(current, items)
        while (following := current.next) is not None:
            if following in read:
                raise ServiceError(
                    f"The pages of {request.path} lead back to a page already read: report this to the operator of the "
                    "service."
                )
            read.add(following)
            current = self._answer(page, Request("GET", following))
            yield from getattr(current, items)


def path_of(template: str, **ids: object) -> str:
    """Return the path of an operation with its identifiers, which may hold any character."""
    return template.format_map({name: quote(str(value), safe="") for name, value in ids.items()})


def unknown_answer(what: str) -> ServiceError:
    """Return the error of an answer that this version does not know."""
    return ServiceError(
        f"The answer is not {what} as this version of freshet-client knows it: use the service's version."
    )
