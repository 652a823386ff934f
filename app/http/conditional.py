"""Conditional GET: entity tags and cache lifetimes."""

from importlib import metadata
from typing import Annotated, Any

from fastapi import Depends, Header, Response

from hydrology.base.digests import fingerprint

CODE_VERSION = metadata.version("freshet")

FOR_EVER = "public, max-age=31536000, immutable"
SHORTLY = "public, max-age=60"
PRIVATE = "private, max-age=60"
ASK_FIRST = "private, no-cache"
ASK_ALWAYS = "public, no-cache"
NO_STORE = "no-store"
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


def cached(cache_control: str) -> Any:
    """Return a dependency that sets the Cache-Control header of an answer without an entity tag."""

    async def set_header(response: Response) -> None:
        response.headers["Cache-Control"] = cache_control

    return Depends(set_header)
