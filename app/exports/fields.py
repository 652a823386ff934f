"""The fields of a list's items that a request names with `fields=`."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, get_args, get_origin

from fastapi import Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from app.http.base_schema import Model
from app.http.problems import refused
from app.http.shown import item_model


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
            raise refused("fields", _unknown(unknown, known))
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


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"an entry has no field {name!r}: {hint}Use some of {', '.join(known)}."
