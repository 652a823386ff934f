"""Conditional GET: entity tags and cache lifetimes."""

from importlib import metadata
from typing import Annotated, Any, TypeVar

from fastapi import Header, Response

from app.http.base_schema import Model
from hydrology.base.digests import fingerprint

CODE_VERSION = metadata.version("freshet")

Content = TypeVar("Content", bound=Model)

FOR_EVER = "public, max-age=31536000, immutable"
SHORTLY = "public, max-age=60"
PRIVATE = "private, max-age=60"
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The copy that you hold is still the same."}}

IfNoneMatch = Annotated[
    str | None, Header(description="The ETag of a copy that you hold; the answer is 304 where it is still the same.")
]


def entity_tag(*parts: Any) -> str:
    """Return the strong entity tag of a representation determined by JSON values and this code."""
    return f'"{fingerprint([CODE_VERSION, *parts])[:32]}"'


def holds(if_none_match: str | None, tag: str) -> bool:
    """Return whether the client holds the representation of a tag [RFC 9110, section 13.1.2]."""
    held = [one.strip().removeprefix("W/") for one in (if_none_match or "").split(",")]
    return tag in held or "*" in held


def not_modified(response: Response, tag: str, wanted: str, if_none_match: str | None) -> Response | None:
    """Set ETag and Cache-Control; return a 304 if the client holds the tag, else None."""
    headers = {"ETag": tag, "Cache-Control": wanted}
    if holds(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return None


def tagged(
    content: Content, response: Response, if_none_match: str | None, wanted: str = SHORTLY
) -> Content | Response:
    """Return an answer with the entity tag of its content, or a 304."""
    tag = entity_tag(content.model_dump(mode="json"))
    return not_modified(response, tag, wanted, if_none_match) or content
