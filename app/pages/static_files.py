"""Static files of pages: styles, scripts and images. Addresses contain a digest, so browsers may cache them forever."""

from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from app.http.conditional import FOR_EVER
from hydrology.base.digests import short_name

FOLDER = Path(__file__).parent / "static"
PATH = "/static"


class ImmutableFiles(StaticFiles):
    """Static files that may be cached forever if the address contains their digest."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if scope["query_string"] == f"v={digest(path)}".encode():
            response.headers["Cache-Control"] = FOR_EVER
        return response


def files() -> ImmutableFiles:
    """Return the application that serves the static files."""
    return ImmutableFiles(directory=FOLDER)


@cache
def digest(name: str) -> str:
    """Return the first digits of a file's hash."""
    return short_name((FOLDER / name).read_bytes(), digits=12)


def address(name: str) -> str:
    """Return a file's address, relative to the service's."""
    return f"{PATH}/{name}?v={digest(name)}"
