"""What pages load: style, scripts and plots that this package ships. An address names the content by its digest, so
that a browser may keep it for ever."""

import hashlib
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from app.http.conditional import FOR_EVER

FOLDER = Path(__file__).parent / "static"
PATH = "/static"


class ImmutableFiles(StaticFiles):
    """The files, to be kept for ever under the address of their content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file's answer."""
        response = await super().get_response(path, scope)
        if scope["query_string"] == f"v={digest(path)}".encode():
            response.headers["Cache-Control"] = FOR_EVER
        return response


def files() -> ImmutableFiles:
    """Return the application that serves them."""
    return ImmutableFiles(directory=FOLDER)


@cache
def digest(name: str) -> str:
    """Return the beginning of a file's fingerprint."""
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()[:12]


def address(name: str) -> str:
    """Return the address of a file, below that of the service."""
    return f"{PATH}/{name}?v={digest(name)}"
