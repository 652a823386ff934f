"""The OpenAPI document, which takes seconds to build."""

from functools import cache
from typing import Any

from app.main import create_app
from runtime.settings import Settings


@cache
def document() -> dict[str, Any]:
    """Return the document of a service with plain settings, to be read only."""
    return create_app(Settings()).openapi()


def paths() -> dict[str, Any]:
    """Return its operations by path and method."""
    found: dict[str, Any] = document()["paths"]
    return found
