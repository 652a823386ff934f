"""Conditional GET: entity tags and what a cache may do with an answer."""

from typing import Annotated, Any

from fastapi import Header

from records.ids import fingerprint

FOR_EVER = "public, max-age=31536000, immutable"
SHORTLY = "public, max-age=60"

IfNoneMatch = Annotated[
    str | None, Header(description="The ETag of a copy that you hold; the answer is 304 where it is still the same.")
]


def entity_tag(*parts: Any) -> str:
    """Return the strong entity tag of a representation that follows from some JSON values alone."""
    return f'"{fingerprint(parts)[:32]}"'


def holds(if_none_match: str | None, tag: str) -> bool:
    """Whether the asker holds the representation of that tag [RFC 9110, section 13.1.2]."""
    held = [one.strip().removeprefix("W/") for one in (if_none_match or "").split(",")]
    return tag in held or "*" in held
