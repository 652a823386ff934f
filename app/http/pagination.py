"""Pages of lists: where one starts, how long it is, and the address of the next."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request, Response

from app.http.dependencies import query_parameters
from jobspec.fields import form
from records.database import ids

Row = TypeVar("Row")

LARGEST_NUMBER = 2**31 - 1
IdCursor = Annotated[
    str | None,
    Query(
        description="Start after this id: the last one of the page before.",
        pattern=form(ids.FORM, "an id of 22 digits and letters from a to f"),
    ),
]
NumberCursor = Annotated[
    int | None, Query(description="Start after this number: the last one of the page before.", ge=0, le=LARGEST_NUMBER)
]
PageLimit = Annotated[int, Query(description="Maximum number of entries a page.", ge=1, le=1000)]


class Page:
    """The requested page of a list.

    Args:
        after: the entry of the page before that this one starts after; None for the first page.
        limit: maximum number of entries.
    """

    def __init__(self, request: Request, response: Response, after: Any, limit: int) -> None:
        self.after, self.limit = after, limit
        self._request, self._response = request, response

    @property
    def sought(self) -> int:
        """The number of rows to read: one more than the page has shows that another follows."""
        return self.limit + 1

    def cut(self, rows: Sequence[Row], cursor: Callable[[Any], object] | None = None) -> tuple[list[Row], str | None]:
        """Return the page's rows, and the next page's address, also a `Link`; `cursor` is by default the row's id."""
        shown = list(rows[: self.limit])
        if len(rows) <= self.limit:
            return shown, None
        last: Any = shown[-1]
        names = query_parameters(self._request.scope["route"].dependant)
        asked: dict[str, Any] = {name: self._request.query_params.getlist(name) for name in names if name != "after"}
        asked |= {"limit": self.limit, "after": last.id if cursor is None else cursor(last)}
        query = urlencode(asked, doseq=True)
        address = f"{self._request.scope['path']}?{query}"
        self._response.headers["Link"] = f'<{address}>; rel="next"'
        return shown, address


def paged(cursor: Any) -> Any:
    """Return a dependency for the requested page, by the type of its cursor."""

    async def page(
        request: Request,
        response: Response,
        after: cursor = None,
        limit: PageLimit = 100,
    ) -> Page:
        return Page(request, response, after, limit)

    return Depends(page)


IdPage = Annotated[Page, paged(IdCursor)]
NumberPage = Annotated[Page, paged(NumberCursor)]
