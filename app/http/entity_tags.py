"""Entity tags of answers [RFC 9110, section 8.8.3]."""

from typing import Any

from hydrology.base.digests import fingerprint
from runtime.release import code_version


def entity_tag(*parts: Any) -> str:
    """Return the strong entity tag of a representation determined by JSON values and this code."""
    return f'"{fingerprint([code_version(), *parts])[:32]}"'


def holds(if_none_match: str | None, tag: str) -> bool:
    """Return whether the client holds the representation of a tag [RFC 9110, section 13.1.2]."""
    held = [one.strip().removeprefix("W/") for one in (if_none_match or "").split(",")]
    return tag in held or "*" in held
