"""The fields of a list's items that a request names with `fields=`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, get_args, get_origin

from fastapi import Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from app.http.base_schema import Model
from app.http.conditional import cached
from app.http.dependencies import IdCursor, Page, Row, paged
from app.http.problems import documented, refused
from app.http.shown import item_model
from hydrology.base.errors import Problem


class PartialPage(BaseModel):
    """A page whose items have only the fields that `fields=` names."""

    model_config = ConfigDict(extra="allow")

    next: str | None = Field(default=None, description="Where the next page is, if the list has pages.")


@dataclass(frozen=True, slots=True)
class FieldFilter:
    """Writes the pages of a list: all fields of each item, or those of `include`."""

    response: Response
    include: Mapping[str, Any] | None

    def body(self, page: Model) -> bytes:
        include: Any = self.include
        return page.model_dump_json(include=include, by_alias=True).encode()

    def of(self, page: Model) -> Response:
        return Response(self.body(page), media_type="application/json", headers=dict(self.response.headers))


class Listing:
    """The requested page of a list, with the requested fields of its entries."""

    def __init__(self, page: Page, fields: FieldFilter, answer: type[Model]) -> None:
        self.after, self.sought = page.after, page.sought
        self._page, self._fields, self._answer = page, fields, answer

    def of(
        self,
        rows: Sequence[Row],
        shown: Callable[[list[Row]], object],
        cursor: Callable[[Any], object] | None = None,
        **more: Any,
    ) -> Response:
        """Answer with the entries of rows, of which one more than the page has were read."""
        of_page, following = self._page.cut(rows, cursor)
        name, _ = items_of(self._answer)
        return self._fields.of(self._answer(**{name: shown(of_page)}, next=following, **more))


def listing(answer: type[Model], cursor: Any = IdCursor) -> Any:
    """Return a dependency for the requested page of a list, by the type of its cursor."""

    async def chosen(
        page: Annotated[Page, paged(cursor)], fields: Annotated[FieldFilter, fields_of(answer)]
    ) -> Listing:
        return Listing(page, fields, answer)

    return Depends(chosen)


def documented_list(page: type[Model], *problems: type[Problem], cache_control: str | None = None) -> dict[str, Any]:
    """Return the options of an operation that answers with a list: its schema, statuses and cache lifetime."""
    lifetime = {} if cache_control is None else {"dependencies": [cached(cache_control)]}
    return {"response_model": schema_of(page), "responses": documented(*problems), **lifetime}


def schema_of(page: type[Model]) -> Any:
    """Return the schema of a list's answer, with and without `fields=`."""
    return page | PartialPage


def fields_of(page: type[Model]) -> Any:
    """Return a dependency for the requested fields of a page's items."""
    name, item = items_of(page)
    known = list(item.model_fields)

    async def chosen(
        response: Response,
        fields: Annotated[
            list[str] | None,
            Query(
                description="Only these fields of each entry, separated by commas; by default all.",
                json_schema_extra={"anyOf": None, "type": "array", "items": {"type": "string", "enum": known}},
                examples=[known[:2]],
            ),
        ] = None,
    ) -> FieldFilter:
        if fields is None:
            return FieldFilter(response, None)
        asked = {part.strip() for text in fields for part in text.split(",")}
        for unknown in sorted(asked.difference(known)):
            near = get_close_matches(unknown, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise refused("fields", f"an entry has no field {unknown!r}: {hint}Use some of {', '.join(known)}.")
        return FieldFilter(response, {**dict.fromkeys(page.model_fields, True), name: {"__all__": asked}})

    return Depends(chosen)


def items_of(page: type[Model]) -> tuple[str, type[BaseModel]]:
    """Return the field of a page that holds its items, and their schema."""
    lists = {
        name: item_model(get_args(field.annotation)[0])
        for name, field in page.model_fields.items()
        if get_origin(field.annotation) is list
    }
    ((name, item),) = ((name, item) for name, item in lists.items() if item is not None)
    return name, item
